// The storage stores the files of POST forms in one bucket, plays the faults of the body meanwhile, and answers as S3
// does. It refuses requests that carry headers of the service.

import { unescape as decoded } from 'node:querystring'
import type { Answer } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { rawBytes, refuseAt, replacementAnswer } from './fault-answers.ts'
import type { FaultOf } from './fault-types.ts'
import { type AcceptedForm, checkForm } from './form-check.ts'
import { BUCKET, type FormIssuer } from './form-issuer.ts'
import { boundaryOf, type Part, readParts } from './multipart-parser.ts'
import type { IncomingObject, ObjectStore } from './object-store.ts'
import { escapeXml, refuse, requestId } from './s3-answer.ts'

/** LARGEST_HEAD is the most bytes that S3 accepts before the file's first byte. */
const LARGEST_HEAD = 20 * 1024

/** createStorage returns the handler of the storage. `servicePrefix` begins the service's headers, in lower case. */
export function createStorage(issuer: FormIssuer, store: ObjectStore, servicePrefix: string) {
  return async (exchange: Exchange): Promise<void> => {
    const isFetch = exchange.entry.method === 'GET' || exchange.entry.method === 'HEAD'
    await exchange.begin({ route: isFetch ? 'fetch' : 'store' })
    refuseAt(exchange, 'headers')
    checkAddress(exchange)
    if (isFetch) return sendObject(exchange)
    const { boundary, bodyBytes } = readHead(exchange)
    const parts = readParts(piecesOf(exchange), boundary)
    const { fields, file } = await readFields(parts)
    const form = checkForm(fields, file.filename, issuer, exchange.now())
    exchange.note({ key: form.key, account: issuer.accountOf(form.key), fileBytes: 0 })
    exchange.chooseFaults('fields')
    refuseAt(exchange, 'fields')
    const expected = bodyBytes - file.offset - `\r\n--${boundary}--\r\n`.length
    await using incoming = await store.receive()
    await takeFile(exchange, file, form, incoming, expected)
    for await (const { name } of parts) {
      if (isFile(name)) refuse({ code: 'IncorrectNumberOfFilesInPostRequest' })
    }
    await finish(exchange, form, incoming)
  }

  function checkAddress({ request }: Exchange): void {
    const foreign = Object.keys(request.headers).find((name) => name.startsWith(servicePrefix))
    if (foreign !== undefined) {
      const message = `a storage request must not carry the service's header ${foreign}`
      refuse({ code: 'InvalidRequest', message })
    }
    const [, named = ''] = (request.url ?? '').split(/[/?]/)
    if (named !== BUCKET) refuse({ code: 'NoSuchBucket', details: { BucketName: named } })
  }

  /** sendObject sends an object to anybody who asks. */
  async function sendObject(exchange: Exchange): Promise<void> {
    const [, , ...segments] = (exchange.request.url ?? '').split(/[?#]/, 1)[0]?.split('/') ?? []
    if (segments.length === 0) refuse({ code: 'MethodNotAllowed' })
    const key = segments.map((segment) => decoded(segment)).join('/')
    const object = store.find(key) ?? refuse({ code: 'NoSuchKey', details: { Key: key } })
    exchange.note({ key, account: object.account })
    const headers = {
      ...{ 'x-store-request-id': requestId(), 'content-type': 'application/xml' },
      ...{ etag: `"${object.md5}"`, 'content-length': String(object.bytes) },
      'last-modified': new Date(object.receivedAt).toUTCString(),
    }
    await exchange.answerFile(200, headers, object.path)
  }

  /** readHead refuses a request whose head is wrong, and returns the boundary and the length of the body. */
  function readHead(exchange: Exchange): { boundary: string; bodyBytes: number } {
    const { request } = exchange
    if (request.method !== 'POST') refuse({ code: 'MethodNotAllowed' })
    const type = exchange.header('content-type') ?? ''
    if (!/^multipart\/form-data\b/i.test(type)) {
      const Condition = 'Bucket POST must be of the enclosure-type multipart/form-data'
      refuse({ code: 'PreconditionFailed', details: { Condition } })
    }
    const boundary = boundaryOf(type) ?? refuse({ code: 'MalformedPOSTRequest' })
    const length = exchange.header('content-length') ?? refuse({ code: 'MissingContentLength' })
    return { boundary, bodyBytes: Number(length) }
  }

  /** finish stores the object and answers, once the whole form is read. */
  async function finish(exchange: Exchange, form: AcceptedForm, incoming: IncomingObject) {
    const { entry } = exchange
    const replaced = replacementAnswer(exchange, 'end')
    if (replaced !== null) {
      await exchange.waitAtGate('end')
      await exchange.waitAtGate('answer')
      return exchange.answer(replaced)
    }
    const bytes = entry.fileBytes ?? 0
    if (bytes < form.minBytes) {
      const details = { ProposedSize: String(bytes), MinSizeAllowed: String(form.minBytes) }
      refuse({ code: 'EntityTooSmall', details })
    }
    const [lost, fault, raw] = [
      exchange.fault('lose-answer'),
      exchange.fault('success'),
      exchange.fault('raw'),
    ]
    const stored = lost?.stored ?? fault?.stored ?? true
    await exchange.waitAtGate('end')
    const digest = incoming.digest()
    const facts = { key: form.key, account: entry.account, receivedAt: exchange.now(), ...digest }
    const late = lost?.afterMs
    if (lost !== undefined && late !== undefined) await exchange.cutAndWait(lost.how, late)
    if (stored) await incoming.commit(facts)
    exchange.note({ stored })
    await exchange.waitAtGate('answer')
    if (raw !== undefined) return exchange.answerRaw(rawBytes(raw))
    if (lost !== undefined) return exchange.cut(lost.how)
    return exchange.answer(success(exchange, form, digest.md5, fault))
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
    const location = `http://${exchange.header('host')}/${BUCKET}/${key}`
    const body = fault?.body ?? (status === 201 ? 'xml' : 'none')
    const xml =
      `<?xml version="1.0" encoding="UTF-8"?>\n<PostResponse><Location>${escapeXml(location)}</Location>` +
      `<Bucket>${BUCKET}</Bucket><Key>${escapeXml(key)}</Key>` +
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
    const ending = body === 'cut' ? body : undefined
    return { status, headers, body: Buffer.from(texts[body]), code: null, ending }
  }
}

const isFile = (name: string) => name.toLowerCase() === 'file'

/** piecesOf yields the body as it arrives. It refuses a body that ends early or has too many bytes before the file. */
async function* piecesOf(exchange: Exchange): AsyncGenerator<Buffer, void> {
  const { entry } = exchange
  for await (const piece of exchange.pieces()) {
    yield piece
    if (entry.fileBytes === null && entry.bytes > LARGEST_HEAD) refuseLongHead()
  }
  if (exchange.bodyEnd === 'idle') refuse({ code: 'RequestTimeout' })
  if (exchange.bodyEnd === 'short') refuse({ code: 'IncompleteBody' })
}

/** readFields returns the fields before the file, with lower-case names, and the file's part. */
async function readFields(parts: AsyncGenerator<Part, void>) {
  const fields = new Map<string, string>()
  for (;;) {
    const { value: part } = await parts.next()
    if (!part) {
      const message = 'POST requires exactly one file upload per request.'
      const details = { ArgumentName: 'file', ArgumentValue: '0' }
      return refuse({ code: 'InvalidArgument', message, details })
    }
    if (part.offset > LARGEST_HEAD) refuseLongHead()
    if (isFile(part.name)) return { fields, file: part }
    const name = part.name.toLowerCase()
    if (fields.has(name)) {
      const message = `Bucket POST must contain exactly one field named '${name}'.`
      refuse({ code: 'InvalidArgument', message, details: { ArgumentName: name } })
    }
    fields.set(name, Buffer.concat(await Array.fromAsync(part.value)).toString('utf8'))
  }
}

/** takeFile writes the file and plays faults on the way. `expected` is the file's size, derived from Content-Length. */
async function takeFile(
  exchange: Exchange,
  file: Part,
  { maxBytes }: AcceptedForm,
  incoming: IncomingObject,
  expected: number,
): Promise<void> {
  const [drop, throttle] = [exchange.fault('drop-at-byte'), exchange.fault('throttle')]
  let [gate, stall] = [exchange.fault('gate-at-byte'), exchange.fault('stall')]
  let bytes = 0
  const reached = (fileByte: number) => bytes >= (fileByte < 0 ? expected + fileByte : fileByte)
  /** progress plays the faults of this byte of the file. */
  const progress = async () => {
    if (gate !== undefined && reached(gate.fileByte)) {
      gate = undefined
      await exchange.waitAtGate('file')
    }
    if (drop !== undefined && reached(drop.fileByte)) await exchange.cut(drop.how)
    if (reached(expected >> 1)) refuseAt(exchange, 'middle')
    if (stall === undefined || !reached(stall.fileByte)) return
    const { ms, afterwards } = stall
    stall = undefined
    await exchange.sleep(ms)
    if (afterwards === 'rst') await exchange.cut('rst')
    if (afterwards === 'request-timeout') refuse({ code: 'RequestTimeout' })
  }

  await progress()
  for await (const piece of file.value) {
    await incoming.write(piece)
    bytes += piece.length
    exchange.note({ fileBytes: bytes })
    if (throttle !== undefined) {
      await exchange.sleep((1000 * piece.length) / throttle.bytesPerSecond)
    }
    if (bytes > maxBytes) {
      const details = { ProposedSize: String(expected), MaxSizeAllowed: String(maxBytes) }
      refuse({ code: 'EntityTooLarge', details })
    }
    await progress()
  }
}

function refuseLongHead(): never {
  return refuse({ code: 'MaxPostPreDataLengthExceededError' })
}

const ETAGS: Record<NonNullable<FaultOf<'success'>['etag']>, (md5: string) => string | null> = {
  wrong: (md5) => `"${[...md5].reverse().join('')}"`,
  opaque: (md5) => `"${md5.slice(0, 20)}-opaque-1"`,
  missing: () => null,
  weak: (md5) => `W/"${md5}"`,
  unquoted: (md5) => md5,
}
