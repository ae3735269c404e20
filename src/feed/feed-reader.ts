// Reads one feed file from first to last byte: copies, hashes, decodes, checks and counts it in one
// pass, then makes sure that the file is still the one that it was. Runs in the worker thread.

import { sameIdentity } from '../lib/file-identity.ts'
import { NoRoom } from '../lib/no-room.ts'
import { DocumentChecker } from '../xml/document-checker.ts'
import type { Ending } from '../xml/fault.ts'
import { LIMITS, type Limits } from '../xml/limits.ts'
import { locate } from '../xml/locator.ts'
import type { Entries } from './entries.ts'
import { type Followed, HashedBeside } from './hash-following.ts'
import { Hashes, type Hashing } from './hashes.ts'
import type { CheckJob, CheckResult, FeedContent, Position, Verdict } from './port.ts'
import { indexParts } from './posting-index.ts'
import { PostingReader, type TakePosting } from './posting-reader.ts'
import { PostingTally } from './posting-tally.ts'
import { openSource, type SourceFile, Unreadable } from './source-file.ts'
import { SpoolCopy } from './spool-copy.ts'

export interface ReadOptions {
  /** Bytes that are read at a time. 64 KiB was fastest. */
  pieceSize: number
  limits: Limits
  /** Asked before each piece; true ends the reading with the answer `changed`. */
  cancelled: () => boolean
  /** Another thread follows and hashes; null: this one does. */
  followed: Followed | null
  /** Is given the copy of what is `ok`, to make it durable and keep it; null: that is done before the answer. */
  later: ((copy: SpoolCopy) => void) | null
}

const DEFAULTS: ReadOptions = {
  pieceSize: 65_536,
  limits: LIMITS,
  cancelled: () => false,
  followed: null,
  later: null,
}

/**
 * Does a job in this thread. What is in the file never throws; a field path that cannot be read does
 * (`FeedsyncError`).
 */
export function readFeed(job: CheckJob, options: Partial<ReadOptions> = {}): CheckResult {
  const opened = openSource(job.source, job.root)
  if (opened.kind === 'unreadable') return opened
  const { file } = opened
  try {
    if (job.expected !== null && !sameIdentity(file.identity, job.expected)) {
      return { kind: 'changed' }
    }
    if (options.followed && options.followed.size !== file.size) return { kind: 'changed' }
    return new Reading(file, job, { ...DEFAULTS, ...options }).result()
  } catch (error) {
    if (error instanceof Unreadable || error instanceof NoRoom) return error.outcome
    throw error
  } finally {
    file.close()
  }
}

/** Bytes of NUL at the end of a file that are counted, and of holes behind a fault that are still read. */
const MOST_PADDING = 64 * 2 ** 20
const ENDLESS_PADDING: Verdict = {
  kind: 'incomplete',
  reason: 'the file ends in more than 64 MiB of NUL bytes, so its writer may not be done',
  position: null,
}

interface Checked {
  ending: Ending
  check: DocumentChecker
  reader: PostingReader
  tally: PostingTally
}

class Reading {
  readonly #file: SourceFile
  readonly #job: CheckJob
  readonly #options: ReadOptions
  /** Where the document ends; NUL padding may follow. Null: more of it than is read. */
  readonly #padded: number | null
  readonly #end: number
  /** Reading ended before the file did: what is left are mostly holes. */
  #isCut = false
  readonly #hashes: Hashing
  #index: SpoolCopy | null = null
  #bytes = 0

  constructor(file: SourceFile, job: CheckJob, options: ReadOptions) {
    this.#file = file
    this.#job = job
    this.#options = options
    this.#padded = file.nulPadding(MOST_PADDING)
    this.#end = this.#padded ?? 0
    const { followed } = options
    this.#hashes = followed ? new HashedBeside(followed) : new Hashes(job.copyTo !== null)
  }

  result(): CheckResult {
    if (this.#padded === null) return unread(this.#file.size, ENDLESS_PADDING)
    const { copyTo } = this.#job
    const copy = copyTo === null ? null : new SpoolCopy(copyTo)
    let kept = false
    try {
      const checked = this.#firstPass(copy)
      if (checked === null) return { kind: 'changed' }
      const verdict = this.#verdict(checked)
      if (!this.#file.unchanged()) return { kind: 'changed' }
      if (this.#isCut) return unread(this.#file.size, verdict)
      if (this.#bytes !== this.#file.size) return { kind: 'changed' }
      const { later } = this.#options
      if (verdict.kind === 'ok' && later === null) copy?.sync()
      const digests = this.#hashes.digest()
      kept = verdict.kind === 'ok'
      if (kept) this.#index?.keep()
      if (kept && copy !== null) {
        if (later === null) copy.keep()
        else later(copy)
      }
      const encoding = checked.check.encoding.name
      return { kind: 'read', verdict, ...digests, bytes: this.#bytes, encoding }
    } finally {
      if (!kept) {
        copy?.discard()
        this.#index?.discard()
      }
    }
  }

  /** Null: cancelled, or the file is longer than it was. */
  #firstPass(copy: SpoolCopy | null): Checked | null {
    const { check, reader, tally } = this.#begin(null)
    let sound = true
    let copied = 0
    for (const piece of this.#file.pieces(this.#options.pieceSize)) {
      if (this.#options.cancelled() || this.#bytes + piece.length > this.#file.size) return null
      const left = this.#end - this.#bytes
      this.#bytes += piece.length
      if (sound && copy !== null) copied = copy.write(piece)
      this.#hashes.take(piece, this.#bytes, copied)
      if (!sound) {
        this.#isCut = this.#file.isSparse && this.#file.size - this.#bytes > MOST_PADDING
        if (this.#isCut) break
        continue
      }
      if (left > 0) sound = check.write(piece.subarray(0, Math.min(left, piece.length)))
    }
    return { ending: check.end(), check, reader, tally }
  }

  #begin(only: string | null): Omit<Checked, 'ending'> {
    const hashed = this.#job.indexTo !== null
    const tally = new PostingTally(hashed)
    const take: TakePosting = (values, content) => tally.add(values, content)
    const reader = new PostingReader(this.#job.mapping, take, { only, hashed })
    return { check: new DocumentChecker(reader, this.#options.limits), reader, tally }
  }

  #verdict(checked: Checked): Verdict {
    const { ending, check } = checked
    const padding = this.#file.size - this.#end
    if (ending.kind === 'fault') {
      const { code, reason, at, reference } = ending.fault
      const [position = null, other] = this.#locate(check, [at, reference ?? at])
      const line = String(other?.line ?? 0)
      return { kind: 'broken', code, reason: reason.replace('{line}', line), position }
    }
    if (padding > 0) return this.#incomplete(check, paddingReason(padding), Number.MAX_SAFE_INTEGER)
    if (ending.kind === 'incomplete') return this.#incomplete(check, ending.reason, ending.at)
    return { kind: 'ok', content: this.#content(checked) }
  }

  #incomplete(check: DocumentChecker, reason: string, at: number): Verdict {
    const position = this.#locate(check, [at])[0] ?? { offset: 0, line: 1, column: 1 }
    return { kind: 'incomplete', reason, position }
  }

  #locate(check: DocumentChecker, places: number[]): Position[] {
    const pieces = this.#file.pieces(this.#options.pieceSize, this.#end)
    return locate(pieces, check.encoding, check.bom, places)
  }

  #content(checked: Checked): FeedContent {
    const { check, reader } = checked
    const records = reader.chosen
    const counted = records === reader.records ? checked : this.#secondPass(records)
    const { index, ...content } = counted.tally.finish()
    this.#keepIndex(index)
    const configured = this.#job.mapping.records
    const warnings = [...check.warnings, ...content.warnings]
    if (configured !== null && content.postings === 0) {
      warnings.push(`no element is at the configured record path ${configured}`)
    }
    return { ...content, warnings, root: reader.root ?? '', records }
  }

  /** Throws `NoRoom`. */
  #keepIndex(index: Entries | null): void {
    if (index === null || this.#job.indexTo === null) return
    this.#index = new SpoolCopy(this.#job.indexTo, 'the posting index')
    for (const part of indexParts(index)) this.#index.write(part)
  }

  /** The first guess of the record path was wrong: the same bytes again, only to count. */
  #secondPass(records: string | null): Omit<Checked, 'ending'> {
    const again = this.#begin(records)
    for (const piece of this.#file.pieces(this.#options.pieceSize, this.#end)) {
      if (this.#options.cancelled()) break
      again.check.write(piece)
    }
    again.check.end()
    return again
  }
}

/** A file of which the rest, holes mostly, is not worth the time to read it. */
function unread(bytes: number, verdict: Verdict): CheckResult {
  return { kind: 'read', verdict, sha256: null, md5: null, bytes, encoding: null }
}

function paddingReason(padding: number): string {
  const bytes = `${padding.toLocaleString('en-US')} NUL byte${padding === 1 ? '' : 's'}`
  return `the file ends in ${bytes}, so its writer may not be done`
}
