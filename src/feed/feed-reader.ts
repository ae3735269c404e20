// Reads one feed file from first to last byte: unpacks, copies, hashes, decodes, checks and counts it in one
// pass, then makes sure that the file is still the one that it was. Runs in the worker thread.

import { sameIdentity } from '../lib/files.ts'
import { isPacked } from '../lib/packing.ts'
import { DocumentChecker } from '../xml/document-checker.ts'
import { short } from '../xml/fault.ts'
import { LIMITS, type Limits } from '../xml/limits.ts'
import { locate } from '../xml/locator.ts'
import { FIELDS } from './field-paths.ts'
import { type Following, HashThread } from './hash-thread.ts'
import { Hashing, hashFile } from './hashes.ts'
import { PackedFile, paddingReason } from './packed-file.ts'
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
  /** Called before each piece. */
  beforePiece: () => void
  /** Bytes from which on a file is hashed by a thread of its own. A packed one is hashed by the thread that unpacks it. */
  hashedBesideFrom: number
  /** Bytes that a packed file may unpack to. */
  mostUnpacked: number
}

const DEFAULTS: ReadOptions = {
  pieceSize: 2 ** 20,
  limits: LIMITS,
  beforePiece: () => {},
  hashedBesideFrom: 8 * 2 ** 20,
  mostUnpacked: 5 * 2 ** 30,
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
  /** Null: the file is the document, and has its size. */
  readonly #packed: PackedFile | null
  /** Where the document ends; NUL padding may follow. Of a packed one it is not known. */
  readonly #end: number
  readonly #job: CheckJob
  readonly #options: ReadOptions
  /** Reading ended before the file did: what is left are mostly holes, or cannot be unpacked. */
  #isCut = false
  #index: SpoolCopy | null = null
  #bytes = 0

  constructor(file: SourceFile, end: number, job: CheckJob, options: ReadOptions) {
    const isAsItIs = !isPacked(job.source)
    this.#file = file
    this.#packed = isAsItIs ? null : new PackedFile(file, end, options.mostUnpacked)
    this.#end = isAsItIs ? end : Number.POSITIVE_INFINITY
    this.#job = job
    this.#options = options
  }

  async result(): Promise<CheckResult> {
    const { size, descriptor } = this.#file
    const { copyTo } = this.#job
    const copy = copyTo === null ? null : new SpoolCopy(copyTo)
    const hashing = this.#packed === null ? null : new Hashing(copy !== null)
    let kept = false
    try {
      // Of what will be sent, where there is a copy.
      const hashed = { size, descriptor: copy?.descriptor ?? descriptor, isCopied: copy !== null }
      const isBeside = hashing === null && size >= this.#options.hashedBesideFrom
      await using following = isBeside ? hashThread.follow(hashed) : null
      const pass = await this.#firstPass(copy, hashing, following)
      if (pass === null) return { kind: 'changed' }
      const verdict = await this.#verdict(pass)
      if (!this.#file.unchanged()) return { kind: 'changed' }
      if (this.#isCut) return unread(this.#packed ? this.#bytes : size, verdict)
      if (this.#packed === null && this.#bytes !== size) return { kind: 'changed' }
      const synced = verdict.kind === 'ok' ? copy?.sync() : null
      const digested = hashing?.digest() ?? following?.digest() ?? hashFile(hashed)
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

  /** Null: the file is longer than it was. */
  async #firstPass(
    copy: SpoolCopy | null,
    hashing: Hashing | null,
    following: Following | null,
  ): Promise<Pass | null> {
    const pass = this.#begin(null)
    const { beforePiece, pieceSize } = this.#options
    const size = this.#packed ? Number.POSITIVE_INFINITY : this.#file.size
    let sound = true
    for await (const piece of this.#pieces(pieceSize)) {
      beforePiece()
      if (this.#bytes + piece.length > size) return null
      const left = this.#end - this.#bytes
      this.#bytes += piece.length
      // Where the kernel is slow to give new pages, it copies this piece while it is checked.
      const copied = copy?.write(piece)
      hashing?.update(piece)
      try {
        const end = Math.min(left, piece.length)
        for (let at = 0; sound && at < end; at += CHECKED) {
          sound = pass.check.write(piece.subarray(at, Math.min(at + CHECKED, end)))
        }
      } finally {
        await copied
      }
      following?.reached(this.#bytes)
      this.#isCut = !sound && this.#file.isSparse && size - this.#bytes > MOST_PADDING
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
    const check = new DocumentChecker(reader, this.#options.limits, mapping.encoding)
    return { check, reader, tally }
  }

  async #verdict(pass: Pass): Promise<Verdict> {
    const { check } = pass
    const fault = this.#packed?.fault ?? null
    if (fault !== null) this.#isCut = true
    // Of bytes that are damaged the check says nothing.
    if (fault?.kind === 'broken') return fault
    const ending = check.end()
    if (ending.kind === 'fault') {
      const { code, reason, at, reference } = ending.fault
      const [position = null, other] = await this.#locate(check, [at, reference ?? at])
      const line = String(other?.line ?? 0)
      return { kind: 'broken', code, reason: reason.replace('{line}', line), position }
    }
    if (fault !== null) return fault
    const padding = Math.max(0, this.#file.size - this.#end)
    if (padding > 0) return this.#incomplete(check, paddingReason(padding), Number.MAX_SAFE_INTEGER)
    if (ending.kind === 'incomplete') return this.#incomplete(check, ending.reason, ending.at)
    return this.#sound(pass)
  }

  async #incomplete(check: DocumentChecker, reason: string, at: number): Promise<Verdict> {
    const [position = { offset: 0, line: 1, column: 1 }] = await this.#locate(check, [at])
    return { kind: 'incomplete', reason, position }
  }

  #locate(check: DocumentChecker, places: number[]): Promise<Position[]> {
    return locate(this.#pieces(CHECKED, this.#end), check.encoding, check.bom, places)
  }

  /** Of the document, up to `end`. */
  #pieces(pieceSize: number, end?: number): Iterable<Buffer> | AsyncIterable<Buffer> {
    return this.#packed?.pieces(pieceSize) ?? this.#file.pieces(pieceSize, end)
  }

  /** Rejects with `NoRoom`. */
  async #sound(pass: Pass): Promise<Verdict> {
    const { check, reader } = pass
    const records = reader.chosen
    const counted = records === reader.records ? pass : await this.#secondPass(records)
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
  async #secondPass(records: string | null): Promise<Pass> {
    const again = this.#begin(records)
    for await (const piece of this.#pieces(CHECKED, this.#end)) {
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
