// Owns the first step of a feed's story: each path of a listing gets a state, and a file that left before it was taken
// becomes `gone`. A listing proves nothing about paths that it could not read.

import type { Conditions } from '../domain/conditions.ts'
import type { Listing, Sighting } from '../inbox/port.ts'
import { wallTime } from '../lib/clock.ts'
import { isRetryable } from '../lib/errors.ts'
import type { DaemonState } from '../ops/port.ts'
import { dateOf } from '../pipeline/decide/same-bytes.ts'
import type { Departures } from '../pipeline/departures.ts'
import type { Parts } from '../pipeline/parts.ts'

export interface RecordListingParts extends Parts {
  departures: Departures
}

/** Files recorded in one commit. Thousands may arrive at once, and a larger commit would block the event loop. */
const PIECE = 64
/** The system's codes for a folder that is missing or no longer the mounted one. */
const MISSING: readonly string[] = ['ENOENT', 'ENOTDIR', 'ENOTCONN', 'ESTALE', 'EXDEV']
/** Ten paths are enough to see a pattern. */
const MOST_MENTIONED = 10

/** TakenFiles is what the intake knows of the files of a listing. */
export interface TakenFiles {
  /** The file is being taken. */
  isBusy: (file: Sighting) => boolean
  /** The file could not be read or recorded, and has not changed since. */
  isSkipped: (file: Sighting) => boolean
  /** skip is called for a file that cannot be recorded because of a fault of feedsyncd. */
  skip: (file: Sighting, error: unknown) => void
}

/**
 * recordListing records a listing and returns the files to read once they are quiet, oldest first. It leaves out busy
 * files. It returns skipped files, but records no new state for them. A folder that cannot be read proves nothing about
 * its files. A file that cannot be recorded is skipped alone; an error of the disk or database ends the whole work.
 */
export async function recordListing(
  listing: Listing,
  { clock, departures, history, ledger, log, ruleFor }: RecordListingParts,
  { isBusy, isSkipped, skip }: TakenFiles,
): Promise<Sighting[]> {
  if (listing.folder.kind !== 'ready') return []
  const isThere = presenceIn(listing)
  const originOf = ({ path, identity }: Sighting) => ({ path, identity, rule: ruleFor(path) })
  const isFree = (file: Sighting, isInMotion: (path: string) => boolean) =>
    (ledger.known.isNews(file.path, file.identity) || isInMotion(file.path)) && !isBusy(file)
  const freeOf = (files: readonly Sighting[]) => {
    // One query for thousands of files.
    const inMotion = ledger.pathsInMotion()
    return files.filter((file) => isFree(file, (path) => inMotion.has(path)))
  }
  const fault = (error: unknown) =>
    log.error({ event: 'daemon.fault', err: error }, 'a path of the folder could not be recorded')
  const inPieces = async <T>(
    all: readonly T[],
    step: (each: T) => void,
    failed: (each: T, error: unknown) => void = () => {},
  ) => {
    const commit = (some: readonly T[], unless: (error: unknown) => unknown) =>
      history
        .commit(() => some.forEach(step))
        .catch((error) => {
          if (isRetryable(error)) throw error
          return unless(error)
        })
    const oneByOne = async (piece: readonly T[]) => {
      for (const each of piece)
        await commit([each], (error) => {
          fault(error)
          failed(each, error)
        })
    }
    for (let from = 0; from < all.length; from += PIECE) {
      const piece = all.slice(from, from + PIECE)
      await commit(piece, () => oneByOne(piece))
    }
  }

  const news = inOrder(freeOf(listing.files), (file) => dateOf(originOf(file), clock.now()))
  const record = (file: Sighting) => {
    // The file may have been taken meanwhile.
    if (isFree(file, (path) => ledger.isInMotion(path)) && !isSkipped(file))
      ledger.writeFile(originOf(file), { kind: 'detected', size: file.identity.size })
  }
  await inPieces(news, record, skip)
  // A file that a person asked for may lie outside the folder.
  const requested = new Set(history.openRequests().map(({ path }) => path))
  const isLeft = (path: string) =>
    !isThere(path) && !requested.has(path) && !departures.isLeaving(path)
  await inPieces(ledger.unsettledPaths().filter(isLeft), (path) => {
    if (departures.mayBeQuarantined(history.lastVersionAt(path)))
      ledger.known.moved(path, null, 'quarantine')
    else ledger.writeFile({ path, identity: null, rule: ruleFor(path) }, { kind: 'left' })
  })
  await inPieces(ledger.known.presence(isThere), (step) => step())
  return freeOf(news)
}

/** presenceIn returns a function that is true for a file that is there or may be there. */
function presenceIn({ files, unknown }: Listing): (path: string) => boolean {
  const present = new Set(files.map(({ path }) => path))
  return (path) => present.has(path) || unknown.some((prefix) => path.startsWith(prefix))
}

/**
 * inOrder sorts files by age, so that the file of a feed that was written last becomes the newest version. Files with
 * dates follow, newest date first, so that no older file is sent.
 */
function inOrder(files: readonly Sighting[], dated: (file: Sighting) => string | null): Sighting[] {
  const byAge = files.toSorted((a, b) => {
    const age = BigInt(a.identity.mtimeNs) - BigInt(b.identity.mtimeNs)
    return age === 0n ? a.path.localeCompare(b.path) : age < 0n ? -1 : 1
  })
  const dates = new Map(byAge.map((file) => [file, dated(file)] as const))
  const newestFirst = byAge
    .filter((file) => dates.get(file) !== null)
    .reverse()
    .sort((a, b) => (dates.get(b) ?? '').localeCompare(dates.get(a) ?? ''))
  return [...byAge.filter((file) => dates.get(file) === null), ...newestFirst]
}

/**
 * ignoredFiles returns what `status` shows about files that are no feeds: ignored paths, and files with temporary names
 * that were last written before `before` (wall ms).
 */
export function ignoredFiles(
  { ignored, temporary }: Listing,
  before: number,
): Pick<DaemonState, 'unfinished' | 'ignored'> {
  const unfinished = temporary
    .filter(({ mtimeMs }) => mtimeMs < before)
    .toSorted((a, b) => a.mtimeMs - b.mtimeMs)
    .slice(0, MOST_MENTIONED)
    .map(({ path, mtimeMs }) => ({ path, modifiedAt: wallTime(mtimeMs) }))
  const paths = ignored.toSorted().slice(0, MOST_MENTIONED)
  return { unfinished, ignored: { count: ignored.length, paths } }
}

export function noteFolder(
  { folder }: Listing,
  conditions: Pick<Conditions, 'set' | 'clear'>,
): void {
  const isMissing = folder.kind !== 'ready' && MISSING.includes(folder.code)
  const code = isMissing ? 'inbox-missing' : 'inbox-unreadable'
  conditions.clear(isMissing ? 'inbox-unreadable' : 'inbox-missing')
  if (folder.kind === 'ready') conditions.clear(code)
  else conditions.set(code, { message: folder.reason, hint: folder.hint })
}
