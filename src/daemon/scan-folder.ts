// Owns one scan of the vendor's folder: list it, record what it has, and tell the other parts of the daemon about it.

import type { Conditions } from '../domain/conditions.ts'
import { estimatedBytes } from '../domain/packing.ts'
import type { CheckerFor } from '../feed/port.ts'
import type { KnownPaths } from '../history/known-paths.ts'
import type { Inbox } from '../inbox/folder.ts'
import type { Listing, Sighting } from '../inbox/port.ts'
import type { Settler } from '../inbox/settling.ts'
import type { SkippedPaths } from '../inbox/skipped-paths.ts'
import { type Clock, wallTime } from '../lib/clock.ts'
import type { DaemonFile } from '../ops/daemon-file.ts'
import type { DaemonState } from '../ops/port.ts'
import type { PostDelivery } from '../pipeline/post-delivery.ts'

interface ScanParts {
  checkerFor: CheckerFor
  clock: Clock
  conditions: Conditions
  daemonFile: DaemonFile
  inbox: Inbox
  incompleteAfterMs: number
  knownPaths: KnownPaths
  postDelivery: PostDelivery
  /** record writes down a listing, and returns the files to read once they are quiet (record-listing.ts). */
  record: (listing: Listing) => Promise<Sighting[]>
  settler: Settler
  skipped: SkippedPaths
}

/** The system's codes for a folder that is missing or no longer the mounted one. */
const MISSING: readonly string[] = ['ENOENT', 'ENOTDIR', 'ENOTCONN', 'ESTALE', 'EXDEV']
/** Ten paths are enough to see a pattern. */
const MOST_MENTIONED = 10

/**
 * scanFolder lists the folder, records the listing, starts quiet periods and the threads that will read the files, and
 * begins the moves and receipts that are left. Returns how long the listing took, in ms.
 */
export async function scanFolder(parts: ScanParts): Promise<number> {
  const { checkerFor, clock, conditions, daemonFile, inbox, incompleteAfterMs } = parts
  const { knownPaths, postDelivery, record, settler, skipped } = parts
  const started = clock.monotonic()
  const listing = await inbox.list((path) => knownPaths.at(path))
  reportFolder(listing, conditions)
  skipped.listed(listing)
  // The quiet period of a file starts when it is first seen, not when that is recorded.
  const seenAt = clock.monotonic()
  const news = await record(listing)
  settler.observeAll(news, seenAt)
  // A thread needs 70 ms to start, so start it during the quiet period.
  for (const { identity, path } of news) checkerFor(estimatedBytes(path, identity)).announce()
  if (listing.folder.kind === 'ready')
    daemonFile.update({
      lastScanAt: clock.now(),
      ...ignoredFiles(listing, clock.now() - incompleteAfterMs),
    })
  postDelivery.listed(listing)
  return seenAt - started
}

/**
 * ignoredFiles returns what `status` shows about files that are not feeds: ignored paths, and files that have temporary
 * names and were last written before `before` (wall ms).
 */
function ignoredFiles(
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

/** reportFolder sets or clears the conditions of a folder that is missing or cannot be read. */
function reportFolder({ folder }: Listing, conditions: Conditions): void {
  if (folder.kind === 'ready') {
    conditions.clear('inbox-missing')
    conditions.clear('inbox-unreadable')
    return
  }
  const isMissing = MISSING.includes(folder.code)
  conditions.clear(isMissing ? 'inbox-unreadable' : 'inbox-missing')
  conditions.set(isMissing ? 'inbox-missing' : 'inbox-unreadable', {
    message: folder.reason,
    hint: folder.hint,
  })
}
