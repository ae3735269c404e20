// Owns the first step of a feed's story: each path of a listing gets a state, and a file that left before it was taken
// becomes `gone`. A listing proves nothing about paths that it could not read.

import type { RuleFor } from '../config/feeds.ts'
import type { History } from '../history/port.ts'
import type { Listing, Sighting } from '../inbox/port.ts'
import type { SkippedPaths } from '../inbox/skipped-paths.ts'
import type { Clock } from '../lib/clock.ts'
import { isRetryable } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { dateOf } from '../pipeline/decide/same-bytes.ts'
import type { Departures } from '../pipeline/departures.ts'
import type { Ledger } from '../pipeline/ledger.ts'
import { notRecorded, type TakeQueue } from './take-queue.ts'

interface RecordListingParts {
  clock: Clock
  departures: Departures
  history: History
  ledger: Ledger
  log: Log
  ruleFor: RuleFor
  skipped: SkippedPaths
  takeQueue: TakeQueue
}

/** Files recorded in one commit. Thousands can arrive at once, and a larger commit would block the event loop. */
const PIECE = 64

/**
 * recordListing records a listing and returns the files to read once they are quiet, sorted by `inOrder`. It leaves out
 * busy files. It returns skipped files, but records no new state for them. It records nothing of a folder that could
 * not be read. A file that cannot be recorded is skipped alone. Throws errors that are `isRetryable`.
 */
export async function recordListing(
  listing: Listing,
  parts: RecordListingParts,
): Promise<Sighting[]> {
  const { clock, departures, ledger, ruleFor, skipped, takeQueue } = parts
  if (listing.folder.kind !== 'ready') return []
  const isThere = presenceIn(listing)
  const originOf = ({ path, identity }: Sighting) => ({ path, identity, rule: ruleFor(path) })
  const leaveAlone = (file: Sighting) =>
    takeQueue.lookAgainIfBusy(file) || departures.hasMoved(file) || takeQueue.isPostponed(file)
  const isFree = (file: Sighting, isInMotion: (path: string) => boolean) =>
    (ledger.known.isNews(file.path, file.identity) || isInMotion(file.path)) && !leaveAlone(file)
  const freeOf = (files: readonly Sighting[]) => {
    // One query for thousands of files.
    const inMotion = ledger.pathsInMotion()
    return files.filter((file) => isFree(file, (path) => inMotion.has(path)))
  }

  const news = inOrder(freeOf(listing.files), (file) => dateOf(originOf(file), clock.now()))
  const record = (file: Sighting) => {
    // The file might have been taken after `news` was made.
    if (isFree(file, (path) => ledger.isInMotion(path)) && !skipped.has(file))
      ledger.writeFile(originOf(file), { kind: 'detected', size: file.identity.size })
  }
  const failed = (file: Sighting, error: unknown) => takeQueue.skip(file, notRecorded(error))
  await recordEach(news, { record, failed }, parts)
  await recordLeft(isThere, parts)
  await recordEach(ledger.known.stepsAfter(isThere), { record: (step) => step() }, parts)
  return freeOf(news)
}

/** recordLeft records the files that left the folder before they were taken. Throws errors that are `isRetryable`. */
async function recordLeft(
  isThere: (path: string) => boolean,
  parts: RecordListingParts,
): Promise<void> {
  const { departures, history, ledger, ruleFor } = parts
  // A file that a person asked for can lie outside the folder.
  const requested = new Set(history.openRequests().map(({ path }) => path))
  const hasLeft = (path: string) =>
    !isThere(path) && !requested.has(path) && !departures.isLeaving(path)
  const record = (path: string) => {
    if (departures.mightBeInQuarantine(history.lastVersionAt(path)))
      ledger.known.moved(path, null, 'quarantine')
    else ledger.writeFile({ path, identity: null, rule: ruleFor(path) }, { kind: 'left' })
  }
  await recordEach(ledger.unsettledPaths().filter(hasLeft), { record }, parts)
}

/**
 * recordEach records items in commits of `PIECE` items. If a commit fails, each of its items gets a commit of its own.
 * An item that fails alone is logged and passed to `failed`. Throws errors that are `isRetryable`.
 */
async function recordEach<T>(
  items: readonly T[],
  on: { record: (item: T) => void; failed?: (item: T, error: unknown) => void },
  { history, log }: Pick<RecordListingParts, 'history' | 'log'>,
): Promise<void> {
  const commit = async (piece: readonly T[]): Promise<void> => {
    try {
      await history.commit(() => piece.forEach(on.record))
    } catch (err) {
      if (isRetryable(err)) throw err
      if (piece.length > 1) {
        for (const item of piece) await commit([item])
        return
      }
      log.error({ event: 'daemon.fault', err }, 'a path of the folder could not be recorded')
      for (const item of piece) on.failed?.(item, err)
    }
  }
  for (let from = 0; from < items.length; from += PIECE)
    await commit(items.slice(from, from + PIECE))
}

/** presenceIn returns a function that is true for a path that has a file, or that the listing knows nothing about. */
function presenceIn({ files, unknown }: Listing): (path: string) => boolean {
  const paths = new Set(files.map(({ path }) => path))
  return (path) => paths.has(path) || unknown.some((prefix) => path.startsWith(prefix))
}

/**
 * inOrder sorts files by age, the oldest first, so that the file of a feed that was written last becomes the newest
 * version. After them come the files with a date in their names, the newest date first, so that no older file is sent.
 */
function inOrder(
  files: readonly Sighting[],
  nameDate: (file: Sighting) => string | null,
): Sighting[] {
  const byAge = files.toSorted((a, b) => {
    const age = BigInt(a.identity.mtimeNs) - BigInt(b.identity.mtimeNs)
    return age === 0n ? a.path.localeCompare(b.path) : age < 0n ? -1 : 1
  })
  const dates = new Map(byAge.map((file) => [file, nameDate(file)] as const))
  const newestFirst = byAge
    .filter((file) => dates.get(file) !== null)
    .reverse()
    .sort((a, b) => (dates.get(b) ?? '').localeCompare(dates.get(a) ?? ''))
  return [...byAge.filter((file) => dates.get(file) === null), ...newestFirst]
}
