// The answers to probes: whether a restart might help, and whether feeds are read and sent.

import { MINUTE, SECOND } from '../../lib/clock.ts'
import { printable } from '../../lib/printable.ts'
import { firstLine } from '../problem.ts'
import type { EndpointSource } from './source.ts'

/** A longer round of the main loop is hung: even a listing of 100,000 files takes only seconds. */
const HUNG_MS = 5 * MINUTE

/** whyNotAlive returns why a restart might help, or null. It makes one query, so that an error of SQLite throws. */
export function whyNotAlive(source: EndpointSource): string | null {
  source.history.count()
  const { sinceRoundMs } = source.pulse()
  return sinceRoundMs > HUNG_MS
    ? `the main loop has hung for ${Math.round(sinceRoundMs / SECOND)} s`
    : null
}

/** whyNotReady returns why feeds are not read or sent, one reason in each line; null if feeds are read and sent. */
export function whyNotReady(
  source: Pick<EndpointSource, 'daemon' | 'problems' | 'pulse'>,
): string | null {
  const { stage } = source.pulse()
  if (stage !== 'running') return stage
  const critical = source.problems().filter(({ severity }) => severity === 'critical')
  if (critical.length > 0)
    return critical.map((problem) => printable(firstLine(problem))).join('\n')
  return source.daemon().lastScanAt === null ? 'the folder was not listed yet' : null
}
