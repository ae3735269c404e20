// Compares the postings of two versions or files for a person, with or without a running daemon.

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Config, historyFile } from '../config/config.ts'
import { feedFor } from '../config/feeds.ts'
import { commandFor, hintWith } from '../domain/command.ts'
import type {
  ChangedPosting,
  Difference,
  DifferenceSummary,
  PostingName,
} from '../domain/difference.ts'
import { MOST_SUMMED } from '../domain/difference.ts'
import { OLDER } from '../domain/reason-codes.ts'
import { summaryOf } from '../feed/difference-summary.ts'
import { collected, type DifferenceTaker, feedDifference } from '../feed/feed-difference.ts'
import type { DifferenceResult, DifferenceSide } from '../feed/port.ts'
import type { HistoryReader, Version, VersionReads } from '../history/port.ts'
import { openHistoryReader } from '../history/tables.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { feedWord } from '../lib/printable.ts'
import { Spill } from '../lib/spill.ts'
import { countOf } from '../lib/units.ts'
import { existingVersion, pathInInbox } from './queries.ts'

/** DiffSide is one of the two versions or files that are compared. */
export interface DiffSide extends DifferenceSide {
  /** The id of the version; null if the side is a file. */
  id: number | null
  /** The path of the version's file, or the path that the person typed. */
  path: string
  isOnService: boolean
}

/** MOST_POSTINGS limits the hashes that a comparison keeps in memory, which take up to 800 MB. */
const MOST_POSTINGS = 20_000_000

/** versionSide returns a version with its kept copy. Throws `FeedsyncError`: 64 for an unknown id, 1 without a copy. */
export function versionSide(config: Config, history: VersionReads, id: number): DiffSide {
  const version = existingVersion(history, id)
  const { encoding, feed, path, sha256 } = version
  const { mapping } = feedFor(path, config.feeds, feed)
  return {
    id,
    path,
    sha256,
    isOnService: history.onService(feed)?.id === id,
    // The copy is read in the encoding in which the version was checked, even if its rule names another one now.
    mapping: { ...mapping, encoding },
    file: copyOf(config, history, version),
  }
}

/** copyOf returns the absolute path of a version's kept copy. Throws `FeedsyncError` (1) if no copy is kept. */
function copyOf(
  { state: { directory } }: Config,
  history: VersionReads,
  { feed, id, spool, state }: Pick<Version, 'feed' | 'id' | 'spool' | 'state'>,
): string {
  const file = spool === null ? null : join(directory, 'spool', spool)
  if (file !== null && existsSync(file)) return file
  const others = history.spooled(feed).filter((one) => one.id !== id)
  const kept = others.length === 0 ? 'none' : others.map((one) => one.id).join(', ')
  throw new FeedsyncError(`the bytes of version ${id} are not kept (it is ${state})`, {
    hint: `kept of ${feed}: ${kept}; upload.keepVersions sets how many uploaded versions are kept`,
  })
}

/** keptCopy returns the absolute path of a kept copy. Throws `FeedsyncError`: 64 for an unknown id, 1 if not kept. */
export function keptCopy(config: Config, id: number): string {
  using history = openHistoryReader({ file: historyFile(config) })
  const known = existingHistory(history)
  return copyOf(config, known, existingVersion(known, id))
}

/**
 * fileSide returns a file that a person named. `named` is the feed by whose rule the file is read; null means the feed
 * of its path.
 */
export function fileSide(config: Config | null, path: string, named: string | null): DiffSide {
  const file = resolve(path)
  const { mapping } = feedFor(pathInInbox(config, path), config?.feeds ?? [], named)
  return { id: null, path, file, mapping, sha256: null, isOnService: false }
}

/** DiffPair is what `diff` compares for an id or a feed. */
export interface DiffPair {
  older: DiffSide
  newer: DiffSide
  /** A sentence about a newer version that was rejected and is not compared; null if no such version exists. */
  warning: string | null
}

/** existingHistory returns `history`. Throws `FeedsyncError` (64) if it is null, because nothing was recorded yet. */
export function existingHistory(history: HistoryReader | null): HistoryReader {
  if (history !== null) return history
  throw new FeedsyncError('there is no version yet', {
    hint: hintWith(null, commandFor('status')),
    exitCode: EXIT.usage,
  })
}

/**
 * feedPair returns the newest kept version of a feed beside the version on the service. Returns null for an unknown
 * feed. Throws `FeedsyncError` (1) if there is nothing to compare.
 */
export function feedPair(config: Config, history: HistoryReader, feed: string): DiffPair | null {
  if (history.newest(feed) === null) return null
  const isNew = ({ reasonCode }: Pick<Version, 'reasonCode'>) => reasonCode !== OLDER
  const id = history.spooled(feed).find(isNew)?.id
  const newest = history.newestRead(feed)
  if (id === undefined || newest === null)
    throw new FeedsyncError(`no copy of ${feed} is kept, so there is nothing to compare`)
  const older = olderId(history, { feed, id })
  const isNewestRejected = newest.id > id && newest.state === 'rejected'
  return {
    older: versionSide(config, history, older),
    newer: versionSide(config, history, id),
    warning: isNewestRejected
      ? `version ${newest.id} is newer and rejected: ${newest.reason}`
      : null,
  }
}

/**
 * versionPair returns a version beside the version of its feed that is on the service. A version that is itself on the
 * service is returned beside the uploaded version before it. Throws `FeedsyncError` (1) if there is nothing to compare.
 */
export function versionPair(config: Config, history: HistoryReader, id: number): DiffPair {
  const { feed } = existingVersion(history, id)
  const isEarlierUpload = (one: Pick<Version, 'id' | 'state'>) =>
    one.state === 'uploaded' && one.id < id
  const older = olderId(history, { feed, id })
  const before = older === id ? history.spooled(feed).find(isEarlierUpload)?.id : older
  if (before === undefined) throw notOnService(feed)
  return {
    older: versionSide(config, history, before),
    newer: versionSide(config, history, id),
    warning: null,
  }
}

/**
 * olderId returns the id of the feed's version on the service, or else of the version that a guard compared version
 * `id` with. Throws `FeedsyncError` (1) if the service has no version of the feed and no guard compared version `id`.
 */
function olderId(history: HistoryReader, { feed, id }: Pick<Version, 'feed' | 'id'>): number {
  const older = history.onService(feed)?.id ?? history.difference(id)?.older ?? null
  if (older === null) throw notOnService(feed)
  return older
}

function notOnService(feed: string): FeedsyncError {
  return new FeedsyncError(`no earlier version of ${feed} is on the service to compare with`, {
    hint: hintWith('see its versions', commandFor('show <what>', feedWord(feed))),
  })
}

/**
 * changeOf returns which postings change if a version is sent, or a sentence that says why this is not known. It uses
 * the summary from when the version was held, or compares again if the service has got another version since then.
 */
export async function changeOf(
  config: Config,
  history: HistoryReader,
  { feed, id }: Version,
): Promise<{ summary: DifferenceSummary } | string> {
  const stored = history.onService(feed)?.id ?? null
  const { older = null, summary = null } = history.difference(id) ?? {}
  if (summary !== null && (older === stored || stored === null)) return { summary }
  if (stored === null) return 'no earlier copy was kept to compare it with'
  try {
    const [before, now] = [versionSide(config, history, stored), versionSide(config, history, id)]
    return { summary: await summaryBetween(before, now) }
  } catch (error) {
    if (!(error instanceof FeedsyncError)) throw error
    return `which postings change is not known: ${error.message}`
  }
}

function sideName({ id, path }: DiffSide): string {
  return id === null ? path : `version ${id}`
}

/** DiffRows are the postings of one kind, in the order of their feed, each as a line of JSON. */
class DiffRows implements Disposable {
  readonly #spill = new Spill()
  count = 0

  add(row: object): void {
    this.#spill.append(`${JSON.stringify(row)}\n`)
    this.count++
  }

  lines(): Iterable<string> {
    return this.#spill.lines()
  }

  [Symbol.dispose](): void {
    this.#spill[Symbol.dispose]()
  }
}

export interface DiffResult extends Disposable {
  difference: Difference
  added: DiffRows
  removed: DiffRows
  changed: DiffRows
}

/**
 * compareSides compares two sides. `mostNamed` limits the rows of each kind. Throws `FeedsyncError` (1) if a side
 * cannot be read or has more than MOST_POSTINGS postings.
 */
export async function compareSides(
  older: DiffSide,
  newer: DiffSide,
  mostNamed: number,
): Promise<DiffResult> {
  using rows = new DisposableStack()
  const rowsOf = () => rows.use(new DiffRows())
  const [added, removed, changed] = [rowsOf(), rowsOf(), rowsOf()]
  const taker = {
    added: (posting: PostingName) => added.add(posting),
    removed: (posting: PostingName) => removed.add(posting),
    changed: (posting: ChangedPosting) => changed.add(posting),
  }
  const difference = await differenceOf({ older, newer, mostNamed }, taker)
  const owned = rows.move()
  return { difference, added, removed, changed, [Symbol.dispose]: () => owned.dispose() }
}

/** summaryOfComparison sums up a comparison, without its postings. */
export function summaryOfComparison({ difference }: DiffResult): DifferenceSummary {
  return summaryOf(difference, { added: [], removed: [], changed: [] })
}

/** summaryBetween compares two sides and sums up what differs. Throws `FeedsyncError` (1) as `compareSides` does. */
async function summaryBetween(older: DiffSide, newer: DiffSide): Promise<DifferenceSummary> {
  const { named, taker } = collected()
  return summaryOf(await differenceOf({ older, newer, mostNamed: MOST_SUMMED }, taker), named)
}

/** differenceOf compares two sides and gives each posting to `taker`. Throws `FeedsyncError` (1) as `compareSides`. */
async function differenceOf(
  sides: { older: DiffSide; newer: DiffSide; mostNamed: number },
  taker: DifferenceTaker,
): Promise<Difference> {
  const job = { ...sides, mostPostings: MOST_POSTINGS }
  const result = await feedDifference(job, taker)
  if (result.kind !== 'compared') throw notCompared(sides[result.side], result)
  return result.difference
}

function notCompared(
  side: DiffSide,
  result: Exclude<DifferenceResult, { kind: 'compared' }>,
): FeedsyncError {
  const reason =
    result.kind === 'unread'
      ? result.reason
      : `it has ${countOf(result.postings, 'posting')}, and at most ${countOf(MOST_POSTINGS)} can be compared`
  return new FeedsyncError(`${sideName(side)} cannot be compared: ${reason}`)
}
