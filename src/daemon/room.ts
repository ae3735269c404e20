// Keeps files out of the checking threads for which the spool has no room. Each is named once and tried again.

import { estimatedBytes, isPacked } from '../domain/packing.ts'
import { NO_ROOM } from '../domain/reason-codes.ts'
import type { Sighting } from '../inbox/port.ts'
import type { Settler } from '../inbox/settling.ts'
import { formatBytes } from '../lib/units.ts'
import type { Parts } from '../pipeline/parts.ts'

export interface RoomParts extends Parts {
  settler: Settler
  /** notifyOperator shows a person at the terminal what one feed waits for. */
  notifyOperator: (message: string, hint: string | null) => void
}

const ROOM_HINT = 'free space on the disk of state.directory; feedsyncd tries again automatically'

/** withRoom returns the files whose copies fit into the spool. The others stay `settling` and block nothing. */
export async function withRoom(quiet: readonly Sighting[], parts: RoomParts): Promise<Sighting[]> {
  const { clock, config, settler, spool } = parts
  if (quiet.length === 0) return []
  const free = await spool.freeBytes()
  const fitting: Sighting[] = []
  for (const file of quiet) {
    const { identity, path } = file
    const fits = estimatedBytes(path, identity) <= free
    if (fits || (!isPacked(path) && (await spool.canClone(config.inbox.directory, path)))) {
      fitting.push(file)
    } else {
      settler.putBack(file, clock.monotonic())
      await reportNoRoom(file, free, parts)
    }
  }
  return fitting
}

/** reportNoRoom says once that a file, which is tried repeatedly, does not fit into the free bytes. */
async function reportNoRoom(
  { identity, path }: Sighting,
  free: number,
  { history, ledger, log, notifyOperator, ruleFor }: RoomParts,
): Promise<void> {
  if (history.pendingVersionAt(path)?.reasonCode === NO_ROOM) return
  const bytes = formatBytes(estimatedBytes(path, identity))
  const size = `${isPacked(path) ? 'unpacked about ' : ''}${bytes}`
  const text = `not enough disk space for the copy: ${size}`
  const reason = { code: NO_ROOM, text, hint: ROOM_HINT }
  const rule = ruleFor(path)
  await history.commit(() =>
    ledger.writeFile({ path, identity, rule }, { kind: 'no-room', reason }),
  )
  log.error(
    {
      event: 'feed.no-room',
      path,
      feed: rule.feed,
      reason: text,
      hint: ROOM_HINT,
      freeBytes: free,
    },
    'not enough disk space for a feed',
  )
  notifyOperator(
    `copy ${path} into the spool: it has ${size}, and ${formatBytes(free)} are left`,
    ROOM_HINT,
  )
}
