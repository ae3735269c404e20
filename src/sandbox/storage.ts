// The storage's side of the sandbox: takes POST forms into one bucket and answers as S3 answers, success and
// error alike. Refuses requests that carry the service's headers.

import type { Answer, Exchange } from './exchange.ts'
import { rawBytes, replacedAnswer, s3Answer } from './fault-answers.ts'
import type { FaultOf } from './fault-types.ts'
import type { AcceptedForm } from './form-check.ts'
import type { FormIssuer } from './form-issuer.ts'
import { boundaryOf } from './multipart-parser.ts'
import type { IncomingObject, ObjectStore } from './object-store.ts'
import { Reception } from './reception.ts'
import { escapeXml, requestId, type S3Error } from './s3-errors.ts'

/** `servicePrefix`: of the service's headers, in lower case. */
export function createStorage(issuer: FormIssuer, store: ObjectStore, servicePrefix: string) {
  const { bucket } = issuer

  return async (exchange: Exchange): Promise<void> => {
    if (!(await exchange.begin({ route: 'store' }))) return
    const early = replacedAnswer(exchange)
    if (early !== null) return exchange.answerEarly(early.answer, early.ending)
    const head = readHead(exchange)
    if ('code' in head) return exchange.answerEarly(s3Answer(head))
    const parts = { issuer, store, accept }
    return new Reception(exchange, head.boundary, head.bodyBytes, parts).run()
  }

  /** What S3 refuses by the request's head alone. */
  function readHead(exchange: Exchange): { boundary: string; bodyBytes: number } | S3Error {
    const { request } = exchange
    const foreign = Object.keys(request.headers).find((name) => name.startsWith(servicePrefix))
    if (foreign !== undefined) {
      const message = `a storage request must not carry the service's header ${foreign}`
      return { code: 'InvalidRequest', message }
    }
    const [, named = ''] = (request.url ?? '').split(/[/?]/)
    if (named !== bucket) return { code: 'NoSuchBucket', details: { BucketName: named } }
    if (request.method !== 'POST') return { code: 'MethodNotAllowed' }
    const type = exchange.header('content-type') ?? ''
    if (!/^multipart\/form-data\b/i.test(type)) {
      const Condition = 'Bucket POST must be of the enclosure-type multipart/form-data'
      return { code: 'PreconditionFailed', details: { Condition } }
    }
    const boundary = boundaryOf(type)
    if (boundary === null) return { code: 'MalformedPOSTRequest' }
    const length = exchange.header('content-length')
    if (length === null) return { code: 'MissingContentLength' }
    return { boundary, bodyBytes: Number(length) }
  }

  async function accept(
    exchange: Exchange,
    form: AcceptedForm,
    incoming: IncomingObject,
  ): Promise<void> {
    const { entry, plan } = exchange
    const [lost, fault, raw] = [plan.get('lose-answer'), plan.get('success'), plan.get('raw')]
    const stored = lost?.stored ?? fault?.stored ?? true
    await exchange.pass('end')
    const facts = { key: form.key, account: entry.account, receivedAt: exchange.now() }
    const { md5 } = stored ? await store.commit(incoming, facts) : await incoming.discard()
    exchange.note({ stored })
    await exchange.pass('answer')
    if (raw !== undefined) return exchange.answerRaw(rawBytes(raw))
    if (lost !== undefined) return exchange.cut(lost.how)
    const answer = success(exchange, form, md5, fault)
    return fault?.body === 'cut' ? exchange.answerEarly(answer, 'cut') : exchange.answer(answer)
  }

  function success(
    exchange: Exchange,
    { key, successStatus }: AcceptedForm,
    md5: string,
    fault: FaultOf<'success'> | undefined,
  ): Answer {
    const named = ['200', '201'].includes(successStatus) ? Number(successStatus) : 204
    const status = fault?.status ?? named
    const etag = fault?.etag ? ETAGS[fault.etag](md5) : `"${md5}"`
    const location = `http://${exchange.header('host')}/${bucket}/${key}`
    const body = fault?.body ?? (status === 201 ? 'xml' : 'none')
    const xml =
      `<?xml version="1.0" encoding="UTF-8"?>\n<PostResponse><Location>${escapeXml(location)}</Location>` +
      `<Bucket>${bucket}</Bucket><Key>${escapeXml(key)}</Key>` +
      `<ETag>${escapeXml(etag ?? '')}</ETag></PostResponse>`
    const texts = {
      none: '',
      xml,
      cut: xml,
      truncated: xml.slice(0, xml.length >> 1),
      html: '<!doctype html><html><title>Log in</title><form></form></html>',
    }
    const type = body === 'html' ? 'text/html' : 'application/xml'
    const headers = {
      'x-store-request-id': requestId(),
      location,
      ...(etag !== null && { etag }),
      ...(fault?.checksum === 'wrong' && { 'x-store-checksum-crc64nvme': 'AAAAAAAAAAA=' }),
      ...(body !== 'none' && { 'content-type': type }),
    }
    return { status, headers, body: Buffer.from(texts[body]), code: null }
  }
}

const ETAGS: Record<NonNullable<FaultOf<'success'>['etag']>, (md5: string) => string | null> = {
  wrong: (md5) => `"${[...md5].reverse().join('')}"`,
  opaque: (md5) => `"${md5.slice(0, 20)}-opaque-1"`,
  missing: () => null,
  weak: (md5) => `W/"${md5}"`,
  unquoted: (md5) => md5,
}
