// This file finds out why a signature does not match: it tries the mistakes that clients usually make.

import { type Algorithm, expectedBytes, signatureCheck } from './signature.ts'

export type Check = (signed: Buffer, signature: string) => boolean

interface SignatureCase {
  template: string
  /** values fill the template. A correct signature signs the filled template. */
  values: Readonly<Record<string, string | Buffer>>
  signature: string
  /** basePath is the path of the base address, which is not signed. */
  basePath: string
  /** claimed are the keys of the caller. */
  claimed: readonly { secret: string | Buffer; algorithm: Algorithm; isSigned: Check }[]
  /** others are the keys of all other callers, each with a name of its caller for people. */
  others: readonly { name: string; isSigned: Check }[]
  /** headerDate is the value of the ordinary header Date, which some clients sign, or null. */
  headerDate: string | null
}

interface SignatureDifference {
  /** differs names the part of the signed string that differs; null if it is no single part, or is not known. */
  differs: 'method' | 'path' | 'query' | 'body' | 'date' | 'key' | 'encoding' | null
  /** reason follows "the signature does not match the request: "; null if no usual mistake explains the difference. */
  reason: string | null
}

const HMACS: readonly Algorithm[] = ['hmac-sha1', 'hmac-sha256', 'hmac-sha512']

/** differenceIn returns the first usual mistake that explains a signature. */
export function differenceIn(signatureCase: SignatureCase): SignatureDifference {
  const { template, values, signature, claimed, others } = signatureCase
  const isSigned = (signed: Buffer) => claimed.some((caller) => caller.isSigned(signed, signature))
  const right = expectedBytes(template, values)
  for (const [differs, reason, changes] of changedValues(signatureCase)) {
    if (isSigned(expectedBytes(template, { ...values, ...changes }))) return { differs, reason }
  }
  const withoutQuestionMark = right.toString('latin1').replace('?;', ';')
  if (isSigned(Buffer.from(withoutQuestionMark, 'latin1'))) {
    return { differs: 'query', reason: 'the question mark is signed even if there is no query' }
  }
  for (const end of ['\n', '\r\n']) {
    if (isSigned(Buffer.concat([right, Buffer.from(end)]))) {
      return { differs: null, reason: 'a line break was signed at the end of the string' }
    }
  }
  const { encoding, inBase64 } = decoded(signature)
  if (claimed.some((caller) => caller.isSigned(right, inBase64))) {
    return { differs: 'encoding', reason: `it is written in ${encoding}, not in padded Base64` }
  }
  const owner = others.find((caller) => caller.isSigned(right, signature))
  if (owner !== undefined)
    return { differs: 'key', reason: `it was made with the key of ${owner.name}` }
  for (const { secret, algorithm } of claimed.filter((each) => HMACS.includes(each.algorithm))) {
    for (const other of HMACS.filter((each) => each !== algorithm)) {
      if (signatureCheck(other, secret)(right, signature)) {
        return { differs: 'key', reason: `it was made with ${other}, not with ${algorithm}` }
      }
    }
    for (const end of ['\n', '\r\n']) {
      if (signatureCheck(algorithm, `${secret}${end}`)(right, signature)) {
        return {
          differs: 'key',
          reason: 'the line break at the end of the key file is not part of the key',
        }
      }
    }
  }
  return { differs: null, reason: null }
}

type Changed = [
  SignatureDifference['differs'],
  reason: string,
  changes: Record<string, string | Buffer>,
]

/** changedValues returns the usual mistakes in the signed values, each with the values that a wrong client signs. */
function changedValues({ values, basePath, headerDate }: SignatureCase): Changed[] {
  const [method, path, query] = [values.method, values.path, values.query].map(String) as [
    string,
    string,
    string,
  ]
  const body = String(values.body)
  const date = String(values.date)
  const changed: Changed[] = [
    ['method', 'the method must be signed in upper case', { method: method.toLowerCase() }],
    ['path', `the path must be signed without "${basePath}"`, { path: basePath + path }],
    ['path', 'the path must be signed as it was sent', { path: unescaped(path) }],
    ['path', 'the path must be signed without a slash at its end', { path: `${path}/` }],
    ['query', 'the query was not signed', { query: '' }],
    ['query', 'the query must be signed as it was sent', { query: unescaped(query) }],
    ['query', 'the query must be signed without its question mark', { query: `?${query}` }],
    ['body', 'the body was not signed', { body: '' }],
    ['body', 'a body was signed, but none was sent', { body: '{}' }],
    ['body', 'a body was signed, but none was sent', { body: 'null' }],
    ['body', 'the body must be signed byte by byte: it ends differently', { body: `${body}\n` }],
    ['body', 'the body must be signed byte by byte: it ends differently', { body: body.trim() }],
    ['body', 'the body must be signed byte by byte: its spaces differ', { body: compact(body) }],
    ['date', 'the date was not signed', { date: '' }],
    ['date', 'the date must be signed as it was sent', { date: isoDate(date) }],
  ]
  if (headerDate !== null) {
    changed.push(['date', 'the header Date was signed instead', { date: headerDate }])
  }
  return changed
}

/** decoded guesses how a signature is written, and returns it in padded Base64. */
function decoded(signature: string): { encoding: string; inBase64: string } {
  const isHex = /^(?:[\da-f]{2})+$/i.test(signature)
  const bytes = Buffer.from(signature, isHex ? 'hex' : 'base64')
  const encoding = isHex ? 'hex' : 'another form of Base64'
  return { encoding, inBase64: bytes.toString('base64') }
}

/** unescaped decodes percent-encoding, and returns a text that has a wrong one unchanged. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** compact writes JSON without spaces, and returns other text unchanged. */
function compact(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body))
  } catch {
    return body
  }
}

/** isoDate writes a date as ISO 8601, and returns other text unchanged. */
function isoDate(date: string): string {
  const ms = Date.parse(date)
  return Number.isNaN(ms) ? date : new Date(ms).toISOString()
}
