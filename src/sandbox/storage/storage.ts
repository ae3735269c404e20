// The storage stores the files of POST forms in one bucket, and answers as S3 does. It refuses requests that carry
// headers of the service. It knows nothing of faults.

import { unescape as decoded } from 'node:querystring'
import { isDiskFull } from '../disk-full.ts'
import type { Answer } from '../http/answer.ts'
import type { Exchange } from '../http/exchange.ts'
import { BUCKET, type FormIssuer } from '../service/form-issuer.ts'
import { type AcceptedForm, checkForm } from './form-check.ts'
import { boundaryOf, type Part, readParts } from './multipart-parser.ts'
import type { IncomingObject, ObjectStore } from './object-store.ts'
import { escapeXml, newRequestId, refuseAsS3 } from './s3-answer.ts'

/** LARGEST_HEAD is the most bytes that S3 accepts before the file's first byte. */
const LARGEST_HEAD = 20 * 1024

/** UploadWatch is called at each step of an upload. It can hold the upload by a promise, or end it by an error. */
export interface UploadWatch {
  /** onForm is called when the form is accepted. By Content-Length, a file of `expected` bytes follows. */
  onForm(form: AcceptedForm, expected: number): void
  /** onFile is called when `bytes` bytes of the file have come, the last `fresh` of them since the call before. */
  onFile(bytes: number, fresh: number): Promise<void>
  /** onEnd is called when the whole form has come. If it returns an answer, the storage sends it and stores nothing. */
  onEnd(): Promise<Answer | null>
  /** onStore decides whether the object is stored: it calls `commit`, or does not. */
  onStore(commit: () => Promise<void>): Promise<void>
}

interface StorageSettings {
  /** now returns wall-clock ms. */
  now: () => number
  /** servicePrefix is the beginning of the names of the service's headers, in lower case. */
  servicePrefix: string
}

/** Storage carries a request out, and returns the answer to send, or null if it has already sent the answer. */
export type Storage = (exchange: Exchange, watch: UploadWatch) => Promise<Answer | null>

/** createStorage makes a storage that accepts the forms of `issuer` and keeps the objects in `store`. */
export function createStorage(
  issuer: FormIssuer,
  store: ObjectStore,
  settings: StorageSettings,
): Storage {
  return async (exchange, watch) => {
    try {
      checkAddress(exchange)
      const { method } = exchange.entry
      if (method === 'GET' || method === 'HEAD') return await sendObject(exchange)
      return await receive(exchange, watch)
    } catch (error) {
      if (isDiskFull(error)) refuseAsS3({ code: 'InsufficientStorage' })
      throw error
    }
  }

  async function receive(exchange: Exchange, watch: UploadWatch): Promise<Answer> {
    const { boundary, bodyBytes } = readHead(exchange)
    const parts = readParts(piecesOf(exchange), boundary)
    const { fields, file } = await readFields(parts)
    const form = checkForm({ fields, filename: file.filename }, issuer, settings.now())
    exchange.update({ key: form.key, account: issuer.accountOf(form.key), fileBytes: 0 })
    const expected = bodyBytes - file.offset - `\r\n--${boundary}--\r\n`.length
    watch.onForm(form, expected)
    await using incoming = await store.receive()
    const bytes = await takeFile(exchange, { file, form, expected }, { incoming, watch })
    for await (const { name } of parts) {
      if (isFile(name)) refuseAsS3({ code: 'IncorrectNumberOfFilesInPostRequest' })
    }
    const replaced = await watch.onEnd()
    if (replaced !== null) return replaced
    if (bytes < form.minBytes) {
      const details = { ProposedSize: String(bytes), MinSizeAllowed: String(form.minBytes) }
      refuseAsS3({ code: 'EntityTooSmall', details })
    }
    const { account } = exchange.entry
    const digest = incoming.digest()
    await watch.onStore(async () => {
      exchange.checkRun()
      await incoming.commit({ key: form.key, account, receivedAt: settings.now(), ...digest })
      exchange.update({ stored: true })
    })
    const status = ['200', '201'].includes(form.successStatus) ? Number(form.successStatus) : 204
    return storedAnswer({ ...objectAt(exchange, form.key), etag: `"${digest.md5}"`, status })
  }

  /** checkAddress refuses a request that carries a header of the service, or is not for the bucket. */
  function checkAddress({ request, path }: Exchange): void {
    const foreign = Object.keys(request.headers).find((name) =>
      name.startsWith(settings.servicePrefix),
    )
    if (foreign !== undefined) {
      const message = `a storage request must not carry the service's header ${foreign}`
      refuseAsS3({ code: 'InvalidRequest', message })
    }
    const [, named = ''] = path.split('/')
    if (named !== BUCKET) refuseAsS3({ code: 'NoSuchBucket', details: { BucketName: named } })
  }

  /** sendObject answers GET and HEAD with an object. It asks for no credentials. */
  async function sendObject(exchange: Exchange): Promise<null> {
    const [, , ...segments] = exchange.path.split('/')
    if (segments.length === 0) refuseAsS3({ code: 'MethodNotAllowed', headers: { allow: 'POST' } })
    const key = segments.map((segment) => decoded(segment)).join('/')
    const object = store.find(key) ?? refuseAsS3({ code: 'NoSuchKey', details: { Key: key } })
    exchange.update({ key, account: object.account })
    const headers = {
      ...{ 'x-store-request-id': newRequestId(), 'content-type': 'application/xml' },
      ...{ etag: `"${object.md5}"`, 'content-length': String(object.bytes) },
      'last-modified': new Date(object.receivedAt).toUTCString(),
    }
    await exchange.answerFile(200, headers, object.path)
    return null
  }
}

/** objectAt returns the key of an object, and its address as the client called it. */
export const objectAt = (exchange: Exchange, key: string) => ({
  key,
  location: `${exchange.origin}/${BUCKET}/${key}`,
})

interface StoredAnswer {
  key: string
  location: string
  /** etag is the value of the header ETag. Null sends no such header. */
  etag: string | null
  status: number
}

/** storedAnswer makes the answer to an upload. Only an answer with the status 201 has XML in its body. */
export function storedAnswer({ location, etag, status, ...object }: StoredAnswer): Answer {
  const isXml = status === 201
  return {
    status,
    headers: {
      ...{ 'x-store-request-id': newRequestId(), location },
      ...(etag !== null && { etag }),
      ...(isXml && { 'content-type': 'application/xml' }),
    },
    body: Buffer.from(isXml ? storedXml({ ...object, location, etag }) : ''),
    code: null,
  }
}

export const storedXml = ({ location, key, etag }: Omit<StoredAnswer, 'status'>) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<PostResponse><Location>${escapeXml(location)}</Location>` +
  `<Bucket>${BUCKET}</Bucket><Key>${escapeXml(key)}</Key>` +
  `<ETag>${escapeXml(etag ?? '')}</ETag></PostResponse>`

/** readHead refuses a request whose head is wrong, and returns the boundary and the length of the body. */
function readHead(exchange: Exchange): { boundary: string; bodyBytes: number } {
  const { request, path } = exchange
  if (request.method !== 'POST') {
    const allow = path.split('/').length > 2 ? 'GET, HEAD' : 'POST'
    refuseAsS3({ code: 'MethodNotAllowed', headers: { allow } })
  }
  const type = exchange.header('content-type') ?? ''
  if (!/^multipart\/form-data\b/i.test(type)) {
    const Condition = 'Bucket POST must be of the enclosure-type multipart/form-data'
    refuseAsS3({ code: 'PreconditionFailed', details: { Condition } })
  }
  const boundary = boundaryOf(type) ?? refuseAsS3({ code: 'MalformedPOSTRequest' })
  const length = exchange.header('content-length') ?? refuseAsS3({ code: 'MissingContentLength' })
  return { boundary, bodyBytes: Number(length) }
}

const isFile = (name: string) => name.toLowerCase() === 'file'

/** piecesOf yields the body as it arrives. It refuses a body that ends early, or has too many bytes before the file. */
async function* piecesOf(exchange: Exchange): AsyncGenerator<Buffer, void> {
  const { entry } = exchange
  for await (const piece of exchange.pieces()) {
    yield piece
    if (entry.fileBytes === null && entry.bytes > LARGEST_HEAD) refuseLongHead()
  }
  if (exchange.bodyEnd === 'idle') refuseAsS3({ code: 'RequestTimeout' })
  if (exchange.bodyEnd === 'short') refuseAsS3({ code: 'IncompleteBody' })
}

/** readFields returns the fields, with lower-case names, and the part of the file. It refuses a form without file. */
async function readFields(parts: AsyncGenerator<Part, void>) {
  const fields = new Map<string, string>()
  for (;;) {
    const { value: part } = await parts.next()
    if (!part) {
      const message = 'POST requires exactly one file upload per request.'
      const details = { ArgumentName: 'file', ArgumentValue: '0' }
      return refuseAsS3({ code: 'InvalidArgument', message, details })
    }
    if (part.offset > LARGEST_HEAD) refuseLongHead()
    if (isFile(part.name)) return { fields, file: part }
    const name = part.name.toLowerCase()
    if (fields.has(name)) {
      const message = `Bucket POST must contain exactly one field named '${name}'.`
      refuseAsS3({ code: 'InvalidArgument', message, details: { ArgumentName: name } })
    }
    fields.set(name, Buffer.concat(await Array.fromAsync(part.value)).toString('utf8'))
  }
}

/** takeFile writes the file into `incoming` and returns its size in bytes. It refuses a file that is too large. */
async function takeFile(
  exchange: Exchange,
  { file, form, expected }: { file: Part; form: AcceptedForm; expected: number },
  { incoming, watch }: { incoming: IncomingObject; watch: UploadWatch },
): Promise<number> {
  let bytes = 0
  await watch.onFile(bytes, 0)
  for await (const piece of file.value) {
    await incoming.write(piece)
    bytes += piece.length
    exchange.update({ fileBytes: bytes })
    if (bytes > form.maxBytes) {
      const details = { ProposedSize: String(expected), MaxSizeAllowed: String(form.maxBytes) }
      refuseAsS3({ code: 'EntityTooLarge', details })
    }
    await watch.onFile(bytes, piece.length)
  }
  return bytes
}

function refuseLongHead(): never {
  return refuseAsS3({ code: 'MaxPostPreDataLengthExceededError' })
}
