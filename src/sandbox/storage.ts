// The storage's side of the sandbox: takes POST forms into one bucket and answers as S3 answers,
// success and error alike. Refuses the service's headers loudly.

import {
  type Answer,
  answer,
  answerEarly,
  answerRaw,
  cut,
  type Exchange,
  header,
  passGate,
  silence,
  subjectOf,
} from './exchange.ts'
import { rawBytes, replacedAnswer, s3Answer } from './fault-answers.ts'
import type { StorageFault } from './fault-types.ts'
import type { FaultBook } from './faults.ts'
import { checkForm } from './form-check.ts'
import type { FormIssuer } from './form-issuer.ts'
import { boundaryOf } from './multipart-parser.ts'
import type { ObjectStore } from './object-store.ts'
import { type Received, Reception } from './reception.ts'
import { escapeXml, requestId, type S3Error } from './s3-errors.ts'
import type { StorageKeys } from './storage-keys.ts'

export interface StorageParts {
  bucket: string
  keys: StorageKeys
  issuer: FormIssuer
  store: ObjectStore
  faults: FaultBook
  /** Header prefix of the service, in lower case. */
  servicePrefix: string
}

type SuccessTwist = Extract<StorageFault, { kind: 'success' }>

export class Storage {
  readonly #parts: StorageParts

  constructor(parts: StorageParts) {
    this.#parts = parts
  }

  readonly handle = async (exchange: Exchange): Promise<void> => {
    const { entry, journal, clock, request } = exchange
    const { faults, bucket, keys, store, issuer } = this.#parts
    journal.update(entry, { route: 'store' })
    const url = `http://${header(exchange, 'host')}${request.url}`
    const plan = faults.plan('storage', 'headers', subjectOf(exchange))
    journal.update(entry, { faults: plan.kinds })
    const drop = plan.get('drop')
    if (drop !== undefined) return cut(exchange, drop.how)
    await passGate(exchange, plan.gate('headers'))
    const early = replacedAnswer(plan, clock.now(), url)
    if (early !== null) {
      return answerEarly(exchange, dated(early.answer, exchange), early.ending ?? 'drain')
    }

    const head = this.#readHead(exchange)
    if ('code' in head) return this.#refuse(exchange, head)
    const reception = new Reception(exchange, head.boundary, head.bodyBytes, {
      faults,
      store,
      url,
      accountOf: (key) => issuer.accountOf(key),
      judge: (fields, filename) => checkForm(fields, filename, bucket, keys, clock.now()),
    })
    return this.#conclude(exchange, await reception.run())
  }

  /** What S3 refuses by the request's head alone. */
  #readHead(exchange: Exchange): { boundary: string; bodyBytes: number } | S3Error {
    const { request } = exchange
    const foreign = Object.keys(request.headers).find((name) =>
      name.startsWith(this.#parts.servicePrefix),
    )
    if (foreign !== undefined) {
      const message = `a storage request must not carry the service's header ${foreign}`
      return { code: 'InvalidRequest', message }
    }
    const [, bucket = ''] = (request.url ?? '').split(/[/?]/)
    if (bucket !== this.#parts.bucket) {
      return { code: 'NoSuchBucket', details: { BucketName: bucket } }
    }
    if (request.method !== 'POST') return { code: 'MethodNotAllowed' }
    const type = header(exchange, 'content-type') ?? ''
    if (!/^multipart\/form-data\b/i.test(type)) {
      const details = {
        Condition: 'Bucket POST must be of the enclosure-type multipart/form-data',
      }
      return { code: 'PreconditionFailed', details }
    }
    const boundary = boundaryOf(type)
    if (boundary === null) return { code: 'MalformedPOSTRequest' }
    const length = header(exchange, 'content-length')
    if (length === null) return { code: 'MissingContentLength' }
    return { boundary, bodyBytes: Number(length) }
  }

  async #conclude(exchange: Exchange, received: Received): Promise<void> {
    switch (received.kind) {
      case 'refused':
        return this.#refuse(exchange, received.error)
      case 'gone':
        return
      case 'cut':
        return cut(exchange, received.how)
      case 'replaced': {
        const { point, ending } = received.replaced
        if (point === 'end') {
          await passGate(exchange, received.plan.gate('end'))
          await passGate(exchange, received.plan.gate('answer'))
        }
        const what = dated(received.replaced.answer, exchange)
        // At the end the request is read: the answer may take its shape from the plan, and the connection lives on.
        if (point === 'end' && ending === null) return answer(exchange, what, received.plan)
        return answerEarly(exchange, what, ending ?? 'drain')
      }
      case 'file':
        return this.#accept(exchange, received)
      default:
        return received satisfies never
    }
  }

  async #accept(
    exchange: Exchange,
    { form, incoming, plan }: Extract<Received, { kind: 'file' }>,
  ): Promise<void> {
    const { entry, journal, clock } = exchange
    const { store } = this.#parts
    const [lost, twist, raw] = [plan.get('lose-answer'), plan.get('success'), plan.get('raw')]
    const stored = lost?.stored ?? twist?.stored ?? true
    await passGate(exchange, plan.gate('end'))
    const facts = { key: form.key, account: entry.account, receivedAt: clock.now() }
    const { md5 } = stored ? await store.commit(incoming, facts) : await incoming.discard()
    journal.update(entry, { stored })
    await passGate(exchange, plan.gate('answer'))
    if (raw !== undefined) return answerRaw(exchange, rawBytes(raw))
    if (lost?.how === 'silence') return silence(exchange)
    if (lost !== undefined) return cut(exchange, lost.how)
    const what = dated(this.#success(exchange, form, md5, twist), exchange)
    return twist?.body === 'cut' ? answerEarly(exchange, what, 'cut') : answer(exchange, what, plan)
  }

  #success(
    exchange: Exchange,
    form: { key: string; successStatus: string },
    md5: string,
    twist: SuccessTwist | undefined,
  ): Answer {
    const named = ['200', '201'].includes(form.successStatus) ? Number(form.successStatus) : 204
    const status = twist?.status ?? named
    const etag = etagOf(md5, twist?.etag)
    const location = `http://${header(exchange, 'host')}/${this.#parts.bucket}/${form.key}`
    const body = twist?.body ?? (status === 201 ? 'xml' : 'none')
    const xml =
      `<?xml version="1.0" encoding="UTF-8"?>\n<PostResponse><Location>${escapeXml(location)}</Location>` +
      `<Bucket>${this.#parts.bucket}</Bucket><Key>${escapeXml(form.key)}</Key>` +
      `<ETag>${escapeXml(etag ?? '')}</ETag></PostResponse>`
    return {
      status,
      headers: {
        'x-store-request-id': requestId(),
        location,
        ...(etag === null ? {} : { etag }),
        ...(twist?.checksum === 'wrong' ? { 'x-store-checksum-crc64nvme': 'AAAAAAAAAAA=' } : {}),
        ...(body === 'none'
          ? {}
          : { 'content-type': body === 'html' ? 'text/html' : 'application/xml' }),
      },
      body: Buffer.from(
        {
          none: '',
          xml,
          cut: xml,
          truncated: xml.slice(0, xml.length >> 1),
          html: '<!doctype html><html><title>Log in</title><form></form></html>',
        }[body],
      ),
      code: null,
    }
  }

  #refuse(exchange: Exchange, error: S3Error): Promise<void> {
    return answerEarly(exchange, dated(s3Answer(error), exchange), 'drain')
  }
}

function dated(what: Answer, { clock }: Exchange): Answer {
  const date = new Date(clock.now()).toUTCString()
  return { ...what, headers: { date, server: 'feedstore', ...what.headers } }
}

function etagOf(md5: string, twist: SuccessTwist['etag']): string | null {
  switch (twist) {
    case undefined:
      return `"${md5}"`
    case 'wrong':
      return `"${[...md5].reverse().join('')}"`
    case 'opaque':
      return `"${md5.slice(0, 20)}-opaque-1"`
    case 'missing':
      return null
    case 'weak':
      return `W/"${md5}"`
    case 'unquoted':
      return md5
    default:
      return twist satisfies never
  }
}
