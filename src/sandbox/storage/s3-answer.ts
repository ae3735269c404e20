// This file makes the storage's answer to a refused request, with the XML that S3 sends.

import { randomBytes } from 'node:crypto'
import { type Answer, Refusal } from '../http/answer.ts'
import { ERRORS, type S3Error } from './s3-errors.ts'

/** s3Answer makes the answer to a request that is refused with `error`. `shape` changes the XML of the answer. */
export function s3Answer(error: S3Error, shape = (xml: string) => xml): Answer {
  return {
    status: ERRORS[error.code][0],
    headers: {
      ...{ 'x-store-request-id': newRequestId(), 'content-type': 'application/xml' },
      ...error.headers,
    },
    body: Buffer.from(shape(s3Xml(error))),
    code: error.code,
  }
}

/** refuseAsS3 throws a Refusal with the answer of S3. */
export function refuseAsS3(error: S3Error): never {
  throw new Refusal(s3Answer(error))
}

function s3Xml(error: S3Error): string {
  const details = Object.entries(error.details ?? {})
    .map(([name, value]) => `<${name}>${escapeXml(value)}</${name}>`)
    .join('')
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${error.code}</Code>` +
    `<Message>${escapeXml(error.message ?? ERRORS[error.code][1])}</Message>${details}` +
    `<RequestId>${newRequestId()}</RequestId><HostId>${randomBytes(24).toString('base64')}</HostId></Error>`
  )
}

export function newRequestId(): string {
  return randomBytes(8).toString('hex').toUpperCase()
}

export function escapeXml(text: string): string {
  return text.replace(/[&<>"\r]/g, (c) => `&#${c.charCodeAt(0)};`)
}
