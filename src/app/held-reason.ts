// Why the daemon would hold a file that was checked offline, by the same guards. Nothing is known of what changed in
// single postings: that takes the copies in the spool.

import type { Config } from '../config/config.ts'
import type { FeedRule } from '../config/feeds.ts'
import type { CheckResult } from '../feed/port.ts'
import type { HistoryReader } from '../history/port.ts'
import { judge } from '../pipeline/guard.ts'
import { guard } from '../pipeline/guards.ts'
import { newerByName, sameBytesOf } from '../pipeline/same-bytes.ts'

/** Without a configuration only an empty feed is held. */
const NO_LIMITS = { maxDropPercent: 100, minPostings: 0 }

/** Null: it would pass, or is no feed. `history` null: there is none. */
export function heldReason(
  result: CheckResult,
  { path, rule }: { path: string; rule: FeedRule },
  config: Config | null,
  history: HistoryReader | null,
): string | null {
  if (result.kind !== 'read' || result.verdict.kind !== 'ok') return null
  const limits = config?.guards ?? NO_LIMITS
  const newer = { ...result, ...result.verdict.content }
  if (history === null) return guard(newer, [], limits)?.reason ?? null
  // What is there already is not judged again.
  const origin = { path, rule, identity: null }
  if (newerByName(history, origin) !== null) return null
  const same = sameBytesOf(history, origin, result)
  if (same !== null) return same.state === 'held' ? same.reason : null
  const { account, feed } = rule
  return judge(history, limits, { ...newer, account, feed, path }, new Map())?.text ?? null
}
