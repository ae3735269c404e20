// Keeps files out of the checking threads for which the spool has no room. Each is named once and tried again.

import { NO_ROOM } from '../history/reason-codes.ts'
import type { Sighting } from '../inbox/port.ts'
import type { Settler } from '../inbox/settling.ts'
import { estimatedBytes, isPacked } from '../lib/packing.ts'
import { formatBytes } from '../lib/units.ts'
import type { Parts } from '../pipeline/parts.ts'

export interface RoomParts extends Parts {
  settler: Settler
  /** notifyOperator shows a person at the terminal what one feed waits for. */
  notifyOperator: (message: string, hint: string | null) => void
}

const ROOM_HINT = 'free space on the disk of state.directory; feedsyncd tries again automatically'

/** withRoom returns the files that fit into the spool. The others stay `settling` and do not block the rest. */
export async function withRoom(
  quiet: readonly Sighting[],
  { clock, history, ledger, log, ruleFor, settler, spool, notifyOperator }: RoomParts,
): Promise<Sighting[]> {
  if (quiet.length === 0) return []
  const free = await spool.freeBytes()
  const sizeOf = ({ identity, path }: Sighting) => estimatedBytes(path, identity)
  const fits = (file: Sighting) => sizeOf(file) <= free
  for (const file of quiet.filter((each) => !fits(each))) {
    const { path, identity } = file
    settler.putBack(file, clock.monotonic())
    // The file is tried repeatedly but reported once.
    if (history.pendingVersionAt(path)?.reasonCode === NO_ROOM) continue
    const size = `${isPacked(path) ? 'unpacked about ' : ''}${formatBytes(sizeOf(file))}`
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
  return quiet.filter(fits)
}
