// The storage stores the files of POST forms in one bucket, and answers as S3 does. It refuses requests that carry headers
// of the service. It knows nothing of faults.

import { unescape as decoded } from 'node:querystring'
import { isDiskFull } from '../disk-full.ts'
import type { Answer } from '../http/answer.ts'
import type { Exchange } from '../http/exchange.ts'
import { BUCKET, type FormIssuer } from '../service/form-issuer.ts'
import { type AcceptedForm, checkForm } from './form-check.ts'
import { boundaryOf, type Part, readParts } from './multipart-parser.ts'
import type { IncomingObject, ObjectStore } from './object-store.ts'
import { escapeXml, refuseAsS3, requestId } from './s3-answer.ts'

/** LARGEST_HEAD is the most bytes that S3 accepts before the file's first byte. */
const LARGEST_HEAD = 20 * 1024

/** UploadWatch is told of the steps of an upload, and can hold or end the request at each of them. */
export interface UploadWatch {
  /** form: the form is accepted, and a file of `expected` bytes follows, derived from Content-Length. */
  form(form: AcceptedForm, expected: number): void
  /** file: this many bytes of the file have come, the newest `fresh` of them with the last piece. */
  file(bytes: number, fresh: number): Promise<void>
  /** end: the whole form has come. An answer replaces what the storage would do. */
  end(): Promise<Answer | null>
  /** store: `commit` stores the object. */
  store(commit: () => Promise<void>): Promise<void>
}

export interface StorageSettings {
  /** now returns wall-clock ms. */
  now: () => number
  /** servicePrefix begins the service's headers, in lower case. */
  servicePrefix: string
}

/** Storage carries a request out, and returns its answer, or null if it has answered already. */
export type Storage = (exchange: Exchange, watch: UploadWatch) => Promise<Answer | null>

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
    watch.form(form, expected)
    await using incoming = await store.receive()
    const bytes = await takeFile(exchange, { file, form, expected }, { incoming, watch })
    for await (const { name } of parts) {
      if (isFile(name)) refuseAsS3({ code: 'IncorrectNumberOfFilesInPostRequest' })
    }
    const replaced = await watch.end()
    if (replaced !== null) return replaced
    if (bytes < form.minBytes) {
      const details = { ProposedSize: String(bytes), MinSizeAllowed: String(form.minBytes) }
      refuseAsS3({ code: 'EntityTooSmall', details })
    }
    const { account } = exchange.entry
    const digest = incoming.digest()
    await watch.store(async () => {
      exchange.checkRun()
      await incoming.commit({ key: form.key, account, receivedAt: settings.now(), ...digest })
      exchange.update({ stored: true })
    })
    const named = ['200', '201'].includes(form.successStatus) ? Number(form.successStatus) : 204
    return storedAnswer({ ...objectAt(exchange, form.key), etag: `"${digest.md5}"`, status: named })
  }

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

  /** sendObject sends an object to anybody who asks. */
  async function sendObject(exchange: Exchange): Promise<null> {
    const [, , ...segments] = exchange.path.split('/')
    if (segments.length === 0) refuseAsS3({ code: 'MethodNotAllowed', headers: { allow: 'POST' } })
    const key = segments.map((segment) => decoded(segment)).join('/')
    const object = store.find(key) ?? refuseAsS3({ code: 'NoSuchKey', details: { Key: key } })
    exchange.update({ key, account: object.account })
    const headers = {
      ...{ 'x-store-request-id': requestId(), 'content-type': 'application/xml' },
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

export interface StoredAnswer {
  key: string
  location: string
  /** etag is the value of the header; null sends none. */
  etag: string | null
  status: number
}

/** storedAnswer is the answer to an upload. Its XML follows only the status 201. */
export function storedAnswer({ location, etag, status, ...object }: StoredAnswer): Answer {
  const isXml = status === 201
  return {
    status,
    headers: {
      ...{ 'x-store-request-id': requestId(), location },
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

/** piecesOf yields the body as it arrives. It refuses a body that ends early or has too many bytes before the file. */
async function* piecesOf(exchange: Exchange): AsyncGenerator<Buffer, void> {
  const { entry } = exchange
  for await (const piece of exchange.pieces()) {
    yield piece
    if (entry.fileBytes === null && entry.bytes > LARGEST_HEAD) refuseLongHead()
  }
  if (exchange.bodyEnd === 'idle') refuseAsS3({ code: 'RequestTimeout' })
  if (exchange.bodyEnd === 'short') refuseAsS3({ code: 'IncompleteBody' })
}

/** readFields returns the fields before the file, with lower-case names, and the file's part. */
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

/** takeFile writes the file and returns its size in bytes. */
async function takeFile(
  exchange: Exchange,
  { file, form, expected }: { file: Part; form: AcceptedForm; expected: number },
  { incoming, watch }: { incoming: IncomingObject; watch: UploadWatch },
): Promise<number> {
  let bytes = 0
  await watch.file(bytes, 0)
  for await (const piece of file.value) {
    await incoming.write(piece)
    bytes += piece.length
    exchange.update({ fileBytes: bytes })
    if (bytes > form.maxBytes) {
      const details = { ProposedSize: String(expected), MaxSizeAllowed: String(form.maxBytes) }
      refuseAsS3({ code: 'EntityTooLarge', details })
    }
    await watch.file(bytes, piece.length)
  }
  return bytes
}

function refuseLongHead(): never {
  return refuseAsS3({ code: 'MaxPostPreDataLengthExceededError' })
}
