// Reads the postings of a checked feed again, for example from its copy in the spool, piece by piece in this thread.
// Other work of the thread runs between two pieces, which take about a millisecond each.

import { setImmediate } from 'node:timers/promises'
import type { FieldPaths } from '../domain/mapping.ts'
import { isPacked } from '../domain/packing.ts'
import { DocumentChecker } from '../xml/document-checker.ts'
import { LIMITS } from '../xml/limits.ts'
import { FIELDS, type Field } from './field-paths.ts'
import { MOST_UNPACKED, PackedFile } from './packed-file.ts'
import type { PostingParts } from './posting-parts.ts'
import { PostingReader, type Wanted } from './posting-reader.ts'
import { openSource, type SourceFile, Unreadable } from './source-file.ts'

export interface PostingSource {
  /** Absolute path. */
  file: string
  /** Name of the encoding that the check found; null means that the document is read as it declares. */
  encoding: string | null
  /** Full path of the record element that the check found; null if the feed has no posting. */
  records: string | null
  /** Configured paths of fields. All other fields are detected. */
  paths: FieldPaths
  /** Folded paths (names.ts) of detected ids that are not tried; null means that all paths are tried. */
  excludedIds?: ReadonlySet<string> | null
}

/** PostingTexts has the value of each field. It lacks the fields that are missing or empty in the posting. */
export type PostingTexts = Partial<Record<Field, string>>

/** Posting is one posting. The next posting reuses its `parts`. */
export interface Posting {
  /** The number of the posting in the feed, counted from 0. */
  n: number
  values: PostingTexts
  /** pathOf returns where the posting has a field, as the feed spells it. */
  pathOf(field: Field): string
  parts: PostingParts
}

export interface PostingStreamOptions {
  /** Fields to read from each posting. Other fields cost no time. */
  fields: readonly Field[]
  signal: AbortSignal
}

export interface PostingReadingOptions {
  /** wanted says what is read from posting `n`, counted from 0. */
  wanted: (n: number) => Wanted
  signal?: AbortSignal
}

/** PIECE is how many bytes are read and checked at once. */
const PIECE = 65_536
const DAMAGED = 'its bytes in the spool are damaged'

/**
 * streamPostings passes the postings to `take`, one at a time. It resolves with null, or with the reason why it could
 * not read all postings; the caller must then discard the postings that it received. Rejects with the signal's reason,
 * and with `FeedsyncError` (78) for a wrong field path.
 */
export function streamPostings(
  source: PostingSource,
  take: (values: PostingTexts) => void,
  { fields, signal }: PostingStreamOptions,
): Promise<string | null> {
  const wanted: Wanted = { fields, hasParts: false }
  return readPostings(source, ({ values }) => take(values), { wanted: () => wanted, signal })
}

/** readPostings does the same as `streamPostings`, but `wanted` can ask for something else from each posting. */
export async function readPostings(
  { encoding, excludedIds = null, file, records, paths }: PostingSource,
  take: (posting: Posting) => void,
  { signal, wanted }: PostingReadingOptions,
): Promise<string | null> {
  if (records === null) return null
  let n = 0
  const reader = new PostingReader(
    { records, fields: paths },
    (found, _content, parts) => {
      const values: PostingTexts = {}
      for (const field of wanted(n).fields) {
        const value = found.text(FIELDS.indexOf(field))
        if (value !== '') values[field] = value
      }
      take({ n: n++, values, pathOf: (field) => found.path(FIELDS.indexOf(field)), parts })
    },
    { knownRecords: records, wanted, hashesContent: false, excludedIds },
  )
  const check = new DocumentChecker(reader, LIMITS, encoding)
  try {
    using source = openSource(file)
    for await (const piece of piecesOf(file, source)) {
      if (!check.write(piece)) return DAMAGED
      await setImmediate()
      signal?.throwIfAborted()
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return error.outcome.code === 'ENOENT' ? 'its bytes are no longer kept' : error.message
  }
  return check.end().kind === 'complete' ? null : DAMAGED
}

function piecesOf(file: string, source: SourceFile): Iterable<Buffer> | AsyncIterable<Buffer> {
  if (!isPacked(file)) return source.pieces(PIECE)
  return new PackedFile(source, source.size, MOST_UNPACKED).pieces(PIECE)
}
