// Reads the small XML answers of storage: `<Error>` and `<PostResponse>`. It refuses a document with a DOCTYPE, so that
// no entity of another host is ever expanded.

import { XMLParser } from 'fast-xml-parser'

export interface StorageError {
  /** `code` and `message` are unchecked text of storage: do not show them as they are. */
  code: string
  message: string
  /** The sizes in EntityTooLarge and EntityTooSmall, one clause each. */
  sizes: string[]
}

/** SIZES maps each element with a number of bytes to its clause. */
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

export type StorageBody =
  | { kind: 'empty' }
  | { kind: 'error'; error: StorageError }
  /** The document of a 201, with its `etag` and `key` unchanged. */
  | { kind: 'posted'; etag: string | null; key: string | null }
  /** Any other body: the page of a proxy, JSON, or an `<Error>` that is cut before its code. */
  | { kind: 'foreign' }

/** readStorageBody reads the body, even if it is cut, because the code of an error comes first. */
export function readStorageBody(body: Buffer): StorageBody {
  const text = body.toString('utf8').replace(/^\uFEFF/, '')
  if (text.trim() === '') return { kind: 'empty' }
  const { Error: error, PostResponse: posted } = root(text)
  if (isObject(error)) return errorOf(error)
  // The parser returns an empty PostResponse as a text, which counts as posted.
  if (posted === undefined) return { kind: 'foreign' }
  const { ETag: etag, Key: key } = isObject(posted) ? posted : {}
  return { kind: 'posted', etag: textOf(etag), key: textOf(key) }
}

function errorOf(error: Record<string, unknown>): StorageBody {
  const code = textOf(error.Code)
  if (code === null) return { kind: 'foreign' }
  const sizes = Object.entries(SIZES).flatMap(([name, clause]) => {
    const value = textOf(error[name]) ?? ''
    return /^\d{1,15}$/.test(value) ? [clause(Number(value))] : []
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
