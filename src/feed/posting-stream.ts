// Reads the postings of a feed that was checked before, such as one in the spool, piece by piece in this
// thread: between two pieces (about a millisecond) others have their turn.

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
  /** As the check found it. */
  encoding: string | null
  /** Full path of the record element, as the check found it; null: the feed has no posting. */
  records: string | null
  /** Named ones replace the detected ones. */
  paths: FieldPaths
}

/** Absent where the posting has no such value, or an empty one. */
export type PostingValues = Partial<Record<Field, string>>

export interface PostingStreamOptions {
  /** What is read of each posting; the others cost nothing. */
  fields: readonly Field[]
  signal: AbortSignal
}

const PIECE = 65_536
const DAMAGED = 'its bytes in the spool are damaged'

/**
 * Hands every posting to `take`, one at a time. Answers null, or why not all of them could be read; then
 * nothing of what was taken can be relied on. Throws the signal's reason, and `FeedsyncError` (78) for a
 * path that cannot be read.
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
  const reader = new PostingReader(mapping, read, { only: records, fields, hashed: false })
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
