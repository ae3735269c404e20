// The first step of a feed's story: every path of a listing has a state from now on, and what left
// before it could be taken is `gone`. A listing says nothing of what it could not look at.

import type { Listing, Sighting } from '../inbox/port.ts'
import type { Conditions } from '../lib/conditions.ts'
import { datedName, isDated } from '../lib/dated-name.ts'
import type { DaemonState } from '../ops/port.ts'
import type { Parts } from '../pipeline/parts.ts'
import type { PostDelivery } from '../pipeline/post-delivery.ts'

export interface RecordListingParts extends Parts {
  postDelivery: PostDelivery
}

/** As many as one commit takes without holding up the event loop: thousands may arrive at once. */
const PIECE = 64
/** What the system answers for a folder that is not there, or not the one that was mounted. */
const MISSING: readonly string[] = ['ENOENT', 'ENOTDIR', 'ENOTCONN', 'ESTALE', 'EXDEV']
/** Enough to see a pattern. */
const MOST_MENTIONED = 10

/**
 * Answers the files to read once they are quiet, the oldest first. `isBusy`: those that are being taken,
 * of which nothing is news; `isSkipped`: those that could not be read, of which nothing is said until they can be. A
 * folder that cannot be read proves nothing about its files.
 */
export async function recordListing(
  listing: Listing,
  { history, ledger, postDelivery, ruleFor }: RecordListingParts,
  isBusy: (file: Sighting) => boolean,
  isSkipped: (file: Sighting) => boolean,
): Promise<Sighting[]> {
  if (listing.folder.kind !== 'ready') return []
  const isThere = presenceIn(listing)
  const inMotion = ledger.pathsInMotion()
  const originOf = ({ path, identity }: Sighting) => ({ path, identity, rule: ruleFor(path) })
  const isNews = ({ path, identity }: Sighting) =>
    (inMotion.has(path) && ledger.isInMotion(path)) || ledger.known.isNews(path, identity)
  const isFree = (file: Sighting) => isNews(file) && !isBusy(file)
  const inPieces = async <T>(all: readonly T[], step: (each: T) => void) => {
    for (let from = 0; from < all.length; from += PIECE) {
      await history.commit(() => all.slice(from, from + PIECE).forEach(step))
    }
  }

  const news = inOrder(listing.files.filter(isFree), (path) => ruleFor(path).feed)
  await inPieces(news, (file) => {
    // It may have been taken meanwhile.
    if (isFree(file) && !isSkipped(file)) ledger.settling(originOf(file), file.identity.size)
  })
  // What a person asks for may lie elsewhere.
  const requested = new Set(history.openRequests().map(({ path }) => path))
  const isLeft = (path: string) =>
    !isThere(path) && !requested.has(path) && !postDelivery.isLeaving(path)
  await inPieces(ledger.unsettledPaths().filter(isLeft), (path) => {
    if (postDelivery.mayBeQuarantined(history.lastVersionAt(path))) ledger.known.moved(path)
    else ledger.gone(path)
  })
  await inPieces(ledger.known.presence(isThere), (step) => step())
  return news.filter(isFree)
}

/** True for a file that is there, or may be. */
function presenceIn({ files, unknown }: Listing): (path: string) => boolean {
  const present = new Set(files.map(({ path }) => path))
  return (path) => present.has(path) || unknown.some((prefix) => path.startsWith(prefix))
}

/**
 * So that of several files of one feed the one written last is the newest version. Where names have dates, the newest
 * comes first, so that nothing older is sent.
 */
function inOrder(files: readonly Sighting[], feedOf: (path: string) => string): Sighting[] {
  const byAge = files.toSorted((a, b) => {
    const age = BigInt(a.identity.mtimeNs) - BigInt(b.identity.mtimeNs)
    return age === 0n ? a.path.localeCompare(b.path) : age < 0n ? -1 : 1
  })
  const dates = new Map<Sighting, string>()
  for (const file of byAge) {
    const { date } = datedName(file.path)
    if (date !== null && isDated(feedOf(file.path))) dates.set(file, date)
  }
  const newestFirst = [...dates].reverse().sort(([, a], [, b]) => (a === b ? 0 : a < b ? 1 : -1))
  return [...byAge.filter((file) => !dates.has(file)), ...newestFirst.map(([file]) => file)]
}

/** What `status` mentions of files that are no feeds. `before`: wall ms of temporary names that are old. */
export function ignoredFiles(
  { ignored, temporary }: Listing,
  before: number,
): Pick<DaemonState, 'unfinished' | 'ignored'> {
  const unfinished = temporary
    .filter(({ mtimeMs }) => mtimeMs < before)
    .toSorted((a, b) => a.mtimeMs - b.mtimeMs)
    .slice(0, MOST_MENTIONED)
    .map(({ path, mtimeMs }) => ({ path, modifiedAt: mtimeMs }))
  const paths = ignored.toSorted().slice(0, MOST_MENTIONED)
  return { unfinished, ignored: { count: ignored.length, paths } }
}

/** Whether the folder could be listed, as a condition. */
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
