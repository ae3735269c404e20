// Reads one feed file from first to last byte: unpacks, copies, hashes, decodes, checks and counts it in one
// pass, then verifies that the file did not change meanwhile. Runs in the worker thread.

import { isPacked } from '../domain/packing.ts'
import { sameIdentity } from '../lib/files.ts'
import { DocumentChecker } from '../xml/document-checker.ts'
import { type Ending, short } from '../xml/fault.ts'
import { locate, type Position } from '../xml/locator.ts'
import { ANY_ID, CHECKED_FIELDS, FIELDS } from './field-paths.ts'
import type { HashFollower } from './hash-follower.ts'
import { Hashing, hashFile } from './hashes.ts'
import { folded } from './names.ts'
import { PackedFile, paddingReason } from './packed-file.ts'
import type { CheckJob, CheckResult, Verdict } from './port.ts'
import { indexParts } from './posting-index.ts'
import { CHECKED, type PassOptions, PostingReader, SAMPLE, type Wanted } from './posting-reader.ts'
import { PostingTally } from './posting-tally.ts'
import { DEFAULTS, type ReadOptions } from './read-options.ts'
import { openSource, type SourceFile, Unreadable } from './source-file.ts'
import { NoRoom, SpoolCopy } from './spool-copy.ts'

/** CHECK_PIECE is how many bytes are checked at once: the fastest of the sizes that were measured. */
const CHECK_PIECE = 65_536

/** FOLLOWED_FROM is the least size, in bytes, of a file that another thread hashes meanwhile. */
const FOLLOWED_FROM = 8 * 2 ** 20

/**
 * readFeed does one job in this thread; several jobs can overlap while the system copies. Whatever is wrong with the
 * file is in the result. Rejects with `FeedsyncError` for a wrong field path.
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
    using copy = job.copyTo === null ? null : new SpoolCopy(job.copyTo)
    // A file that never rests is read twice, so its second reading must not come from the copy.
    if (!isPacked(job.source) && job.isRestless !== true) await copy?.cloneFrom(file)
    const end = file.paddingStart(MOST_PADDING)
    if (end === null) return unread(file.size, ENDLESS_PADDING)
    const reading = new Reading({ end, file }, job, { ...DEFAULTS, ...options })
    return await reading.readTo(copy)
  } catch (error) {
    if (error instanceof Unreadable || error instanceof NoRoom) return error.outcome
    throw error
  }
}

/** MOST_PADDING limits, in bytes, the NUL padding that is counted and the holes that are read after a fault. */
const MOST_PADDING = 64 * 2 ** 20
const ENDLESS_PADDING: Verdict = {
  kind: 'incomplete',
  reason: 'the file ends in more than 64 MiB of NUL bytes, so its writer might not have finished',
  position: null,
}

/** TITLE_TOO is read from the first postings of a feed that is copied, because a title shows an unfilled template. */
const TITLE_TOO: Wanted = { fields: [...CHECKED_FIELDS, 'title'], hasParts: false }
/** ALL is read from the first postings of a feed that is only checked: `check` shows where each field is. */
const ALL: Wanted = { fields: FIELDS, hasParts: false }
/** MOST_ID_PATHS limits how often a feed is read again to find ids that its postings do not share. */
const MOST_ID_PATHS = 8

const NOT_HASHED = { sha256: null, md5: null }

interface Pass {
  check: DocumentChecker
  reader: PostingReader
  tally: PostingTally
  excludedIds: ReadonlySet<string> | null
}

class Reading {
  readonly #file: SourceFile
  /** #packed unpacks the document; null if the file itself is the document. */
  readonly #packed: PackedFile | null
  /** #end is where the document ends: at the NUL padding, if there is any; infinity for a packed file. */
  readonly #end: number
  readonly #job: CheckJob
  readonly #options: ReadOptions
  /** #stoppedEarly: the rest of the file is mostly holes or cannot be unpacked, so it was not read. */
  #stoppedEarly = false
  #index: SpoolCopy | null = null
  #bytes = 0

  constructor(
    { end, file }: { end: number; file: SourceFile },
    job: CheckJob,
    options: ReadOptions,
  ) {
    const isPackedFile = isPacked(job.source)
    this.#file = file
    this.#packed = isPackedFile ? new PackedFile(file, end, options.mostUnpacked) : null
    this.#end = isPackedFile ? Number.POSITIVE_INFINITY : end
    this.#job = job
    this.#options = options
  }

  /** readTo checks, hashes and copies the document. It keeps the copy and the index if the document is ok. */
  async readTo(copy: SpoolCopy | null): Promise<CheckResult> {
    const { size, descriptor } = this.#file
    const { follow, hashes } = this.#options
    const isInline = hashes === 'inline' || (hashes === 'apart' && this.#packed !== null)
    const hashing = isInline ? new Hashing({ isCopied: copy !== null }) : null
    try {
      // The copy will be sent, so its bytes are hashed.
      const hashJob = { size, descriptor: copy?.descriptor ?? descriptor, isCopied: copy !== null }
      const isFollowed = hashes === 'apart' && hashing === null && size >= FOLLOWED_FROM
      await using follower = isFollowed && follow !== null ? follow(hashJob) : null
      const pass = await this.#firstPass(copy, hashing, follower)
      if (pass === null) return { kind: 'changed' }
      const verdict = await this.#verdict(pass)
      const isRestless = this.#job.isRestless === true
      if (isRestless ? this.#stoppedEarly : !this.#file.isUnchanged()) return { kind: 'changed' }
      if (this.#stoppedEarly) return unread(this.#packed ? this.#bytes : size, verdict)
      if (this.#packed === null && this.#bytes !== size) return { kind: 'changed' }
      const synced = verdict.kind === 'ok' ? copy?.sync() : null
      const hashHere = () => (hashes === 'none' ? NOT_HASHED : hashFile(hashJob))
      const digested = hashing?.digest() ?? follower?.digest() ?? hashHere()
      const [digests] = await Promise.all([digested, synced])
      // Without a copy the file itself was read again for the hashes.
      if (copy === null && !isRestless && !this.#file.isUnchanged()) return { kind: 'changed' }
      if (isRestless && (await this.#secondSha256()) !== digests.sha256) return { kind: 'changed' }
      if (verdict.kind === 'ok') for (const file of [copy, this.#index]) file?.keep()
      const encoding = pass.check.encoding.name
      return { kind: 'read', verdict, ...digests, bytes: this.#bytes, encoding }
    } finally {
      this.#index?.[Symbol.dispose]()
    }
  }

  get #hashesContent(): boolean {
    return this.#job.indexTo !== null || this.#options.survey !== null
  }

  /** #secondSha256 reads the document again and returns its SHA-256. */
  async #secondSha256(): Promise<string> {
    const hashing = new Hashing({ isCopied: false })
    for await (const piece of this.#pieces(CHECK_PIECE)) hashing.update(piece)
    return hashing.digest().sha256
  }

  /** #firstPass checks, counts, hashes and copies the document in pieces. It returns null if the file has grown. */
  async #firstPass(
    copy: SpoolCopy | null,
    hashing: Hashing | null,
    follower: HashFollower | null,
  ): Promise<Pass | null> {
    const pass = this.#newPass({ hashesContent: this.#hashesContent })
    const { beforePiece, pieceSize } = this.#options
    const size = this.#packed ? Number.POSITIVE_INFINITY : this.#file.size
    let isWellFormed = true
    for await (const piece of this.#pieces(pieceSize)) {
      beforePiece()
      if (this.#bytes + piece.length > size) return null
      const leftOfDocument = this.#end - this.#bytes
      this.#bytes += piece.length
      // The check runs while the system copies, because some systems are slow to provide new memory pages.
      const copied = copy?.write(piece)
      hashing?.update(piece)
      try {
        const end = Math.min(leftOfDocument, piece.length)
        for (let at = 0; isWellFormed && at < end; at += CHECK_PIECE) {
          isWellFormed = pass.check.write(piece.subarray(at, Math.min(at + CHECK_PIECE, end)))
        }
      } finally {
        await copied
      }
      follower?.advanceTo(this.#bytes)
      this.#stoppedEarly = !isWellFormed && this.#file.isSparse && size - this.#bytes > MOST_PADDING
      if (this.#stoppedEarly) break
    }
    if (this.#packed !== null && this.#packed.fault !== null) this.#stoppedEarly = true
    return pass
  }

  /**
   * #newPass returns the parts of one reading of the file: the checker gives the document to the reader, and the reader
   * gives each posting to the tally. The first `SAMPLE` postings are read with more fields.
   */
  #newPass(options: PassOptions): Pass {
    const { copyTo, mapping } = this.#job
    const excludedIds = options.excludedIds ?? this.#options.survey?.passOver ?? null
    const tally = new PostingTally({
      hashesContent: options.hashesContent,
      isIdConfigured: mapping.fields.id !== undefined,
      mostKept: this.#options.survey?.mostPostings,
    })
    const sampled = copyTo === null ? ALL : TITLE_TOO
    const reader = new PostingReader(mapping, (values, content) => tally.add(values, content), {
      ...options,
      excludedIds,
      wanted: (n) => (n < SAMPLE ? sampled : CHECKED),
    })
    const check = new DocumentChecker(reader, this.#options.limits, mapping.encoding)
    return { check, reader, tally, excludedIds }
  }

  async #verdict(pass: Pass): Promise<Verdict> {
    const { check } = pass
    const fault = this.#packed?.fault ?? null
    // The check cannot judge bytes that were unpacked wrongly.
    if (fault?.kind === 'broken') return fault
    const ending = check.end()
    if (ending.kind === 'fault') {
      const { code, reason, at, reference } = ending.fault
      const [position = null, other] = await this.#locate(check, [at, reference ?? at])
      return { kind: 'broken', code, reason: withLine(reason, other), position }
    }
    if (fault !== null) return fault
    const padding = Math.max(0, this.#file.size - this.#end)
    if (padding > 0) {
      const reason = paddingReason(padding)
      return this.#incomplete(check, { reason, at: Number.MAX_SAFE_INTEGER })
    }
    if (ending.kind === 'incomplete') return this.#incomplete(check, ending)
    return this.#wellFormed(pass)
  }

  async #incomplete(
    check: DocumentChecker,
    { at, reason, reference = at }: Omit<Extract<Ending, { kind: 'incomplete' }>, 'kind'>,
  ): Promise<Verdict> {
    const found = await this.#locate(check, [at, reference])
    const [position = { offset: 0, line: 1, column: 1 }, other] = found
    return { kind: 'incomplete', reason: withLine(reason, other), position }
  }

  #locate(check: DocumentChecker, places: number[]): Promise<Position[]> {
    return locate(this.#pieces(CHECK_PIECE, this.#end), check.encoding, check.bom, places)
  }

  /** #pieces reads the document from its start. `end` is where to stop in a file that is not packed. */
  #pieces(pieceSize: number, end?: number): Iterable<Buffer> | AsyncIterable<Buffer> {
    return this.#packed?.pieces(pieceSize) ?? this.#file.pieces(pieceSize, end)
  }

  /** #wellFormed counts a well-formed document, reports its survey and writes its index. Rejects with `NoRoom`. */
  async #wellFormed(pass: Pass): Promise<Verdict> {
    const { check, reader } = pass
    const { indexTo, mapping } = this.#job
    const { records, runnerUp } = reader.choose()
    const options = { knownRecords: records, hashesContent: this.#hashesContent }
    const counted = records === reader.records ? pass : await this.#readAgain(options)
    const identified = await this.#withOwnIds(counted, records)
    const { index, fields, ...content } = identified.tally.finish()
    const { survey } = this.#options
    survey?.take({
      records,
      postings: content.postings,
      entries: content.postings > survey.mostPostings ? null : (index?.words() ?? null),
      excludedIds: identified.excludedIds,
      hasOwnIds: identified.tally.sharedId() === null,
    })
    if (index !== null && indexTo !== null) {
      const replacingPath = identified === counted ? null : fields.id
      const idPath = mapping.fields.id ?? replacingPath ?? ''
      this.#index = new SpoolCopy(indexTo, 'the posting index')
      for (const part of indexParts(index, idPath)) await this.#index.write(part)
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
    return { kind: 'ok', content: { ...content, warnings, root, records }, fields, runnerUp }
  }

  /**
   * #withOwnIds returns `pass` unless its postings share an id. Otherwise it reads the document again until it finds a
   * path at which nearly every posting has an id of its own, and returns that pass. If no path has such ids, it returns
   * a pass that identifies the postings by their content.
   */
  async #withOwnIds(pass: Pass, records: string | null): Promise<Pass> {
    if (pass.tally.sharedId() === null) return pass
    const options = { knownRecords: records, hashesContent: true }
    const hashed = this.#hashesContent ? pass : await this.#readAgain(options)
    let path = hashed.tally.sharedId()
    const excludedIds = new Set(pass.excludedIds)
    while (path !== null && excludedIds.size < MOST_ID_PATHS) {
      // If the ids are found again at an excluded path, ANY_ID stands for this path and must be excluded instead.
      const isFoundAgain = excludedIds.has(folded(path))
      excludedIds.add(folded(isFoundAgain ? `@${ANY_ID}` : path))
      const next = await this.#readAgain(
        { ...options, excludedIds },
        ({ postings }) => postings > SAMPLE,
      )
      if (next.tally.hasOwnIds()) return next
      path = next.tally.idPath
    }
    return hashed
  }

  /** #readAgain counts the document again, and stops early if `mayStop` allows it and postings share their ids. */
  async #readAgain(
    options: PassOptions,
    mayStop: (tally: PostingTally) => boolean = () => false,
  ): Promise<Pass> {
    const pass = this.#newPass(options)
    for await (const piece of this.#pieces(CHECK_PIECE, this.#end)) {
      pass.check.write(piece)
      if (mayStop(pass.tally) && !pass.tally.hasOwnIds()) return pass
    }
    pass.check.end()
    return pass
  }
}

/** withLine replaces `{line}` in a reason by the line of `other`, the second place that the reason mentions. */
function withLine(reason: string, other: Position | undefined): string {
  return reason.replace('{line}', String(other?.line ?? 0))
}

/** unread is the result for a file that was not read to its end. */
function unread(bytes: number, verdict: Verdict): CheckResult {
  return { kind: 'read', verdict, sha256: null, md5: null, bytes, encoding: null }
}
