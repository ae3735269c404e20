// Owns reading the small XML answers of storage: `<Error>` and `<PostResponse>`. A document with a DOCTYPE
// is not read at all, so that no entity of another host is ever expanded.

import { XMLParser } from 'fast-xml-parser'

export interface StorageError {
  /** As they came: not to be shown. */
  code: string
  message: string
  /** What EntityTooLarge and EntityTooSmall say of bytes, each a clause. */
  sizes: string[]
}

/** Clauses about sizes, by the elements that name them in bytes. */
const SIZES: Readonly<Record<string, (bytes: number) => string>> = {
  ProposedSize: (bytes) => `the file has ${bytes} bytes`,
  MaxSizeAllowed: (bytes) => `at most ${bytes} are allowed`,
  MinSizeAllowed: (bytes) => `at least ${bytes} are needed`,
}

const parser = new XMLParser({
  ignoreAttributes: true,
  ignoreDeclaration: true,
  removeNSPrefix: true,
  parseTagValue: false,
  trimValues: true,
})

/** What the body of an answer is. */
export type StorageBody =
  | { kind: 'empty' }
  | { kind: 'error'; error: StorageError }
  /** A 201's document; `etag` and `key` as they are written there. */
  | { kind: 'posted'; etag: string | null; key: string | null }
  /** Anything else: a page of a proxy, JSON, or too little of a document to tell. */
  | { kind: 'foreign' }

/** A cut document is read as far as it goes: the code comes first. */
export function readStorageBody(body: Buffer): StorageBody {
  const text = body.toString('utf8').replace(/^\uFEFF/, '')
  if (text.trim() === '') return { kind: 'empty' }
  const { Error: error, PostResponse: posted } = root(text)
  if (isObject(error)) return errorOf(error)
  // An element without any content is read as a text.
  if (posted === undefined) return { kind: 'foreign' }
  const { ETag: etag, Key: key } = isObject(posted) ? posted : {}
  return { kind: 'posted', etag: textOf(etag), key: textOf(key) }
}

function errorOf(error: Record<string, unknown>): StorageBody {
  const code = textOf(error.Code)
  if (code === null) return { kind: 'foreign' }
  const sizes = Object.entries(SIZES).flatMap(([name, says]) => {
    const value = textOf(error[name]) ?? ''
    return /^\d{1,15}$/.test(value) ? [says(Number(value))] : []
  })
  return { kind: 'error', error: { code, message: textOf(error.Message) ?? '', sizes } }
}

function root(xml: string): Record<string, unknown> {
  if (!/^\s*</.test(xml) || /<!DOCTYPE/i.test(xml)) return {}
  try {
    const document: unknown = parser.parse(xml)
    return isObject(document) ? document : {}
  } catch {
    return {}
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
