// Keeps back files whose copies do not fit into the spool. Each file is reported once, and tried again.

import type { RuleFor } from '../config/feeds.ts'
import { estimatedBytes, isPacked } from '../domain/packing.ts'
import { NO_ROOM } from '../domain/reason-codes.ts'
import type { Sighting } from '../inbox/port.ts'
import type { Settler } from '../inbox/settling.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { formatBytes } from '../lib/units.ts'
import type { Ledger } from '../pipeline/ledger.ts'
import type { Spool } from '../spool/port.ts'

interface RoomParts {
  clock: Clock
  /** The vendor's folder (`inbox.directory`). */
  inboxDirectory: string
  settler: Settler
  spool: Spool
  ledger: Ledger
  log: Log
  /** notifyOperator shows a message and its hint to a person at the terminal. */
  notifyOperator: (message: string, hint: string | null) => void
  ruleFor: RuleFor
}

const ROOM_HINT = 'free space on the disk of state.directory; feedsyncd tries again automatically'

/**
 * withRoom returns the files whose copies fit into the spool. It reports each of the others and puts it back into the
 * settler, where it waits and blocks nothing.
 */
export async function withRoom(quiet: readonly Sighting[], parts: RoomParts): Promise<Sighting[]> {
  const { clock, inboxDirectory, settler, spool } = parts
  if (quiet.length === 0) return []
  const free = await spool.freeBytes()
  const fitting: Sighting[] = []
  for (const file of quiet) {
    const { identity, path } = file
    const fits = estimatedBytes(path, identity) <= free
    if (fits || (!isPacked(path) && (await spool.canClone(inboxDirectory, path)))) {
      fitting.push(file)
    } else {
      settler.putBack(file, clock.monotonic())
      await reportNoRoom(file, free, parts)
    }
  }
  return fitting
}

/** reportNoRoom records, logs and shows that a file does not fit into the free bytes, at its first try only. */
async function reportNoRoom(
  { identity, path }: Sighting,
  free: number,
  { ledger, log, notifyOperator, ruleFor }: RoomParts,
): Promise<void> {
  if (ledger.unreadAt(path)?.reasonCode === NO_ROOM) return
  const bytes = formatBytes(estimatedBytes(path, identity))
  const size = `${isPacked(path) ? 'unpacked about ' : ''}${bytes}`
  const reason = `not enough disk space for the copy: ${size}`
  const rule = ruleFor(path)
  await ledger.commitFile(
    { path, identity, rule },
    { kind: 'no-room', reason: { code: NO_ROOM, reason, hint: ROOM_HINT } },
  )
  log.error(
    {
      event: 'feed.no-room',
      path,
      feed: rule.feed,
      reason,
      hint: ROOM_HINT,
      freeBytes: free,
    },
    'not enough disk space for a feed',
  )
  notifyOperator(
    `cannot copy ${path} into the spool: it needs ${size}, and only ${formatBytes(free)} is free`,
    ROOM_HINT,
  )
}
