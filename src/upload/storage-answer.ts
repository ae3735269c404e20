// Owns reading the small XML answers of storage: `<Error>` and `<PostResponse>`. A document with a DOCTYPE
// is not read at all, so that no entity of another host is ever expanded; what cannot be read is null.

import { XMLParser } from 'fast-xml-parser'

export interface StorageError {
  /** As it came: not to be shown. */
  code: string
  message: string
  /** Sizes in bytes, with EntityTooLarge and EntityTooSmall. */
  proposedSize: number | null
  maxSizeAllowed: number | null
  minSizeAllowed: number | null
}

const parser = new XMLParser({
  ignoreAttributes: true,
  ignoreDeclaration: true,
  removeNSPrefix: true,
  parseTagValue: false,
  trimValues: true,
})

/** A cut document is read as far as it goes: the code comes first. */
export function readStorageError(body: Buffer): StorageError | null {
  const error = root(body).Error
  if (!isObject(error)) return null
  const code = text(error.Code)
  if (code === null) return null
  return {
    code,
    message: text(error.Message) ?? '',
    proposedSize: size(error.ProposedSize),
    maxSizeAllowed: size(error.MaxSizeAllowed),
    minSizeAllowed: size(error.MinSizeAllowed),
  }
}

/** The ETag of a 201's body, as it is written there. */
export function readPostedEtag(body: Buffer): string | null {
  const response = root(body).PostResponse
  return isObject(response) ? text(response.ETag) : null
}

function root(body: Buffer): Record<string, unknown> {
  const xml = body.toString('utf8').replace(/^\uFEFF/, '')
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

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function size(value: unknown): number | null {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : null
}
