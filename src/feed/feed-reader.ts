// Reads one feed file from first to last byte: copies, hashes, decodes, checks and counts it in one
// pass, then makes sure that the file is still the one that it was. Runs in the worker thread.

import { sameIdentity } from '../lib/files.ts'
import { DocumentChecker } from '../xml/document-checker.ts'
import { short } from '../xml/fault.ts'
import { LIMITS, type Limits } from '../xml/limits.ts'
import { locate } from '../xml/locator.ts'
import { FIELDS } from './field-paths.ts'
import { type Following, HashThread } from './hash-thread.ts'
import { hashFile } from './hashes.ts'
import type { CheckJob, CheckResult, Position, Verdict } from './port.ts'
import { indexParts } from './posting-index.ts'
import { PostingReader } from './posting-reader.ts'
import { PostingTally } from './posting-tally.ts'
import { openSource, type SourceFile, Unreadable } from './source-file.ts'
import { NoRoom, SpoolCopy } from './spool-copy.ts'

export interface ReadOptions {
  /** Bytes that are read and copied at a time. */
  pieceSize: number
  limits: Limits
  /** Asked before each piece; true ends the reading with the answer `changed`. */
  cancelled: () => boolean
  /** Bytes from which on a file is hashed by a thread of its own. */
  hashedBesideFrom: number
}

const DEFAULTS: ReadOptions = {
  pieceSize: 2 ** 20,
  limits: LIMITS,
  cancelled: () => false,
  hashedBesideFrom: 8 * 2 ** 20,
}

const hashThread = new HashThread()

/** A file of so many bytes was seen that will be read: what that needs is started. */
export function prepareFor(bytes: number): void {
  if (bytes >= DEFAULTS.hashedBesideFrom) hashThread.start()
}

/** Bytes that are checked at a time: the fastest of those that were tried. */
const CHECKED = 65_536

/**
 * Does a job in this thread, which may begin others while the system copies. What is in the file never throws; a
 * field path that cannot be read does (`FeedsyncError`).
 */
export async function readFeed(
  job: CheckJob,
  options: Partial<ReadOptions> = {},
): Promise<CheckResult> {
  try {
    using file = openSource(job.source, job.root, job.opened)
    if (job.expected !== null && !sameIdentity(file.identity, job.expected)) {
      return { kind: 'changed' }
    }
    const end = file.nulPadding(MOST_PADDING)
    if (end === null) return unread(file.size, ENDLESS_PADDING)
    return await new Reading(file, end, job, { ...DEFAULTS, ...options }).result()
  } catch (error) {
    if (error instanceof Unreadable || error instanceof NoRoom) return error.outcome
    throw error
  }
}

/** Bytes of NUL at the end of a file that are counted, and of holes behind a fault that are still read. */
const MOST_PADDING = 64 * 2 ** 20
const ENDLESS_PADDING: Verdict = {
  kind: 'incomplete',
  reason: 'the file ends in more than 64 MiB of NUL bytes, so its writer may not be done',
  position: null,
}

/** What reads a document once. */
interface Pass {
  check: DocumentChecker
  reader: PostingReader
  tally: PostingTally
}

class Reading {
  readonly #file: SourceFile
  /** Where the document ends; NUL padding may follow. */
  readonly #end: number
  readonly #job: CheckJob
  readonly #options: ReadOptions
  /** Reading ended before the file did: what is left are mostly holes. */
  #isCut = false
  #index: SpoolCopy | null = null
  #bytes = 0

  constructor(file: SourceFile, end: number, job: CheckJob, options: ReadOptions) {
    this.#file = file
    this.#end = end
    this.#job = job
    this.#options = options
  }

  async result(): Promise<CheckResult> {
    const { size, descriptor } = this.#file
    const { copyTo } = this.#job
    const copy = copyTo === null ? null : new SpoolCopy(copyTo)
    let kept = false
    try {
      // Of what will be sent, where there is a copy.
      const hashed = { size, descriptor: copy?.descriptor ?? descriptor, isCopied: copy !== null }
      const isLarge = size >= this.#options.hashedBesideFrom
      await using following = isLarge ? hashThread.follow(hashed) : null
      const pass = await this.#firstPass(copy, following)
      if (pass === null) return { kind: 'changed' }
      const verdict = await this.#verdict(pass)
      if (!this.#file.unchanged()) return { kind: 'changed' }
      if (this.#isCut) return unread(size, verdict)
      if (this.#bytes !== size) return { kind: 'changed' }
      const synced = verdict.kind === 'ok' ? copy?.sync() : null
      const digested = following?.digest() ?? hashFile(hashed)
      const [digests] = await Promise.all([digested, synced])
      // What is not copied was read once more.
      if (copy === null && !this.#file.unchanged()) return { kind: 'changed' }
      kept = verdict.kind === 'ok'
      const encoding = pass.check.encoding.name
      return { kind: 'read', verdict, ...digests, bytes: this.#bytes, encoding }
    } finally {
      for (const file of [copy, this.#index]) {
        if (kept) file?.keep()
        else file?.discard()
      }
    }
  }

  /** Null: cancelled, or the file is longer than it was. */
  async #firstPass(copy: SpoolCopy | null, following: Following | null): Promise<Pass | null> {
    const pass = this.#begin(null)
    let sound = true
    for (const piece of this.#file.pieces(this.#options.pieceSize)) {
      if (this.#options.cancelled() || this.#bytes + piece.length > this.#file.size) return null
      const left = this.#end - this.#bytes
      this.#bytes += piece.length
      // Where the kernel is slow to give new pages, it copies this piece while it is checked.
      const copied = copy?.write(piece)
      try {
        const end = Math.min(left, piece.length)
        for (let at = 0; sound && at < end; at += CHECKED) {
          sound = pass.check.write(piece.subarray(at, Math.min(at + CHECKED, end)))
        }
      } finally {
        await copied
      }
      following?.reached(this.#bytes)
      this.#isCut = !sound && this.#file.isSparse && this.#file.size - this.#bytes > MOST_PADDING
      if (this.#isCut) break
    }
    return pass
  }

  #begin(only: string | null): Pass {
    const { copyTo, indexTo, mapping } = this.#job
    const hashed = indexTo !== null
    const tally = new PostingTally(hashed, mapping.fields.id !== undefined)
    const sampled = copyTo === null ? FIELDS : null
    const reader = new PostingReader(mapping, (values, content) => tally.add(values, content), {
      only,
      hashed,
      sampled,
    })
    return { check: new DocumentChecker(reader, this.#options.limits), reader, tally }
  }

  async #verdict(pass: Pass): Promise<Verdict> {
    const { check } = pass
    const ending = check.end()
    const padding = this.#file.size - this.#end
    if (ending.kind === 'fault') {
      const { code, reason, at, reference } = ending.fault
      const [position = null, other] = this.#locate(check, [at, reference ?? at])
      const line = String(other?.line ?? 0)
      return { kind: 'broken', code, reason: reason.replace('{line}', line), position }
    }
    if (padding > 0) return this.#incomplete(check, paddingReason(padding), Number.MAX_SAFE_INTEGER)
    if (ending.kind === 'incomplete') return this.#incomplete(check, ending.reason, ending.at)
    return this.#sound(pass)
  }

  #incomplete(check: DocumentChecker, reason: string, at: number): Verdict {
    const position = this.#locate(check, [at])[0] ?? { offset: 0, line: 1, column: 1 }
    return { kind: 'incomplete', reason, position }
  }

  #locate(check: DocumentChecker, places: number[]): Position[] {
    const pieces = this.#file.pieces(CHECKED, this.#end)
    return locate(pieces, check.encoding, check.bom, places)
  }

  /** Rejects with `NoRoom`. */
  async #sound(pass: Pass): Promise<Verdict> {
    const { check, reader } = pass
    const records = reader.chosen
    const counted = records === reader.records ? pass : this.#secondPass(records)
    const { index, fields, ...content } = counted.tally.finish()
    const { indexTo, mapping } = this.#job
    if (index !== null && indexTo !== null) {
      this.#index = new SpoolCopy(indexTo, 'the posting index')
      for (const part of indexParts(index, mapping.fields.id)) await this.#index.write(part)
    }
    const configured = mapping.records
    const warnings = [...check.warnings, ...content.warnings]
    const root = reader.root ?? ''
    if (content.postings === 0) {
      warnings.push(
        configured === null
          ? `no postings were found below <${short(root)}>: name their path in feeds.records`
          : `no element is at the configured record path ${configured}`,
      )
    }
    return { kind: 'ok', content: { ...content, warnings, root, records }, fields }
  }

  /** The first guess of the record path was wrong: the same bytes again, only to count. */
  #secondPass(records: string | null): Pass {
    const again = this.#begin(records)
    for (const piece of this.#file.pieces(CHECKED, this.#end)) {
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
