// Says why the daemon would hold a file that was checked offline. The daemon's guards judge here too, but they do not
// know which postings changed, because that needs the copies in the spool.

import type { Config } from '../config/config.ts'
import type { FeedRule } from '../config/feeds.ts'
import type { CheckResult } from '../feed/port.ts'
import type { HistoryReader } from '../history/port.ts'
import { judge } from '../pipeline/baselines.ts'
import { newerByDate, sameBytes } from '../pipeline/decide/same-bytes.ts'
import { bytesFacts } from '../pipeline/facts.ts'
import { guard } from '../pipeline/guards.ts'
import { readFileOf } from '../pipeline/pipeline.ts'
import { judgingOf } from './rules.ts'

/** Limits without a configuration: only guards without a limit hold a feed, such as `empty` and `template`. */
const NO_LIMITS = { maxDropPercent: 100, minPostings: 0, secondFeed: 'pass' } as const

/** JudgedBy is what a file is judged by. `history` is null before the first start. */
interface JudgedBy {
  config: Config | null
  history: HistoryReader | null
  now: number
}

/**
 * heldReason returns why a guard would hold the file; null if the file would pass, is not a feed, is already a version
 * that is not held, or has an older date in its name than a version of its feed.
 */
export function heldReason(
  result: CheckResult,
  { path, rule }: { path: string; rule: FeedRule },
  { config, history, now }: JudgedBy,
): string | null {
  if (result.kind !== 'read' || result.verdict.kind !== 'ok') return null
  const newer = { ...result, ...result.verdict.content }
  if (history === null || config === null)
    return guard(newer, { older: [] }, config?.guards ?? NO_LIMITS)?.reason ?? null
  // The daemon does not judge bytes again if they are already a version of the feed.
  const origin = { path, rule, identity: null }
  const facts = bytesFacts({ history, now }, origin)
  if (newerByDate(facts, origin) !== null) return null
  const same = sameBytes(facts, origin, readFileOf(result, { final: true }))
  if (same !== null) return same.state === 'held' ? same.reason : null
  const { account, feed } = rule
  const judged = { ...newer, account, feed, path }
  return judge(judgingOf(config, history), judged, new Map())?.reason ?? null
}
