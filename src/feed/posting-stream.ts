// Reads the postings of a checked feed, for example one in the spool, piece by piece in this thread. Other work of
// the thread runs between two pieces, which take about a millisecond each.

import { setImmediate } from 'node:timers/promises'
import { DocumentChecker } from '../xml/document-checker.ts'
import { LIMITS } from '../xml/limits.ts'
import { FIELDS, type Field } from './field-paths.ts'
import type { FieldPaths } from './port.ts'
import { PostingReader, type TakePosting } from './posting-reader.ts'
import { openSource, Unreadable } from './source-file.ts'

export interface PostingSource {
  /** Absolute path. */
  file: string
  /** Encoding that the check found. */
  encoding: string | null
  /** Full path of the record element that the check found; null: the feed has no posting. */
  records: string | null
  /** A field without a path here is detected. */
  paths: FieldPaths
}

/** PostingValues lacks the fields that are missing or empty in the posting. */
export type PostingValues = Partial<Record<Field, string>>

export interface PostingStreamOptions {
  /** Fields to read from each posting; the others cost no time. */
  fields: readonly Field[]
  signal: AbortSignal
}

const PIECE = 65_536
const DAMAGED = 'its bytes in the spool are damaged'

/**
 * streamPostings passes the postings to `take`, one at a time. It returns null, or the reason why it could not read all
 * postings; the caller must then discard the postings it received. Throws the signal's reason, and `FeedsyncError`
 * (78) for a wrong field path.
 */
export async function streamPostings(
  { encoding, file, records, paths }: PostingSource,
  take: (values: PostingValues) => void,
  { fields, signal }: PostingStreamOptions,
): Promise<string | null> {
  if (records === null) return null
  const mapping = { records, fields: paths }
  const read: TakePosting = (values) => {
    const found = fields.map((field) => [field, values.text(FIELDS.indexOf(field))])
    take(Object.fromEntries(found.filter(([, value]) => value !== '')))
  }
  const reader = new PostingReader(mapping, read, {
    knownRecords: records,
    fields,
    hashesContent: false,
  })
  const check = new DocumentChecker(reader, LIMITS, encoding)
  try {
    using source = openSource(file)
    for (const piece of source.pieces(PIECE)) {
      if (!check.write(piece)) return DAMAGED
      await setImmediate()
      signal.throwIfAborted()
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return error.outcome.code === 'ENOENT' ? 'its bytes are no longer kept' : error.message
  }
  return check.end().kind === 'complete' ? null : DAMAGED
}
