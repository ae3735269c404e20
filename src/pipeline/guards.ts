// The guards decide whether a well-formed feed is plausible enough to be sent without a person: missing postings would
// be taken off the market, and nobody would know. The guards are pure functions that compare counts, sizes and shape
// with earlier versions of the feed. `baselines` in pipeline/baselines.ts chooses these versions; docs/guards.md
// explains the limits.

import type { Config } from '../config/config.ts'
import type { GuardName } from '../domain/states.ts'
import type { Version } from '../history/port.ts'

/** GuardedVersion has the facts that the guards compare. `root` and the counts are null if they are not known. */
export type GuardedVersion = Pick<
  Version,
  | 'root'
  | 'records'
  | 'postings'
  | 'bytes'
  | 'encoding'
  | 'withoutId'
  | 'duplicates'
  | 'placeholder'
>

/** Baseline is an earlier version of the feed; `changes` are the changes since that version. */
export type Baseline = GuardedVersion & Pick<Version, 'id' | 'changes'>

export type GuardLimits = Config['guards']

/** Suspicion is why a guard holds a feed; null if it passes. */
type Suspicion = { guard: GuardName; reason: string } | null

const RELEASE =
  'If this is right, release it; otherwise correct the export and drop the feed again.'
/** With fewer postings than this, their average size means little. */
const FEW = 10
/** A larger loss of bytes for each posting is held. In most feeds, descriptions are more than half of the bytes. */
const MAX_SHRINK_PERCENT = 50
const MAX_REPLACED_PERCENT = 90

/** FeedPast tells of the earlier versions of a feed. A guard asks only about a version that replaces most postings. */
export interface FeedPast {
  /** turnovers returns the share of postings (0 to 1) that each of the last uploads replaced. */
  turnovers(): readonly number[]
  /**
   * isOtherFile returns whether this is the first version of its feed from its path, and no recent version came from a
   * new path with all postings replaced.
   */
  isOtherFile(): boolean
}

/** EarlierVersions are the versions that the new version would replace, and what else is known of its feed. */
interface EarlierVersions {
  older: readonly Baseline[]
  past?: FeedPast
}

const NO_PAST: FeedPast = { turnovers: () => [], isOtherFile: () => false }

/**
 * guard returns why the feed is held and what to do, in plain sentences; null if the feed passes. `older` is empty for
 * a first version.
 */
export function guard(
  newer: GuardedVersion,
  { older, past = NO_PAST }: EarlierVersions,
  limits: GuardLimits,
): (Suspicion & { hint: string }) | null {
  const postings = newer.postings ?? 0
  if (postings === 0) {
    const where = newer.records === null ? ` (no postings were found below <${newer.root}>)` : ''
    const hint = `${RELEASE} If it has postings, configure their path in "records", restart feedsyncd and drop it again.`
    return { guard: 'empty', reason: `the feed contains no postings${where}`, hint }
  }
  if (postings < limits.minPostings) {
    const reason = `the feed contains ${counted(postings)}, fewer than guards.minPostings (${limits.minPostings})`
    return { guard: 'min-postings', reason, hint: RELEASE }
  }
  if (newer.placeholder !== null) {
    const reason = `the feed is a template that was not filled in: most of its ids or titles are like "${newer.placeholder}"`
    return { guard: 'template', reason, hint: RELEASE }
  }
  for (const baseline of older) {
    const found =
      changedShape(newer, baseline) ??
      collapsed(newer, baseline, limits) ??
      shrunk(newer, baseline) ??
      replaced(baseline, past)
    if (found === null) continue
    const reason = `${found.reason}; compared with version ${baseline.id}`
    return { guard: found.guard, reason, hint: RELEASE }
  }
  return otherFile(older, past)
}

/** otherFile finds a file of another feed: it came from another path, and shares no posting with the version before. */
function otherFile(
  older: readonly Baseline[],
  past: FeedPast,
): (Suspicion & { hint: string }) | null {
  const known = older.filter(({ changes, postings }) => changes !== null && (postings ?? 0) > 0)
  const sharesNone = ({ changes, postings }: Baseline) => (changes?.removed ?? 0) >= (postings ?? 0)
  const [before] = known
  if (before === undefined || !known.every(sharesNone) || !past.isOtherFile()) return null
  const reason = `the file comes from another path than version ${before.id} and has none of its ${counted(before.postings ?? 0)}`
  const hint =
    'If it is of the same feed, release it. If it is a feed of its own, give it another name in feeds (dated: false, if the name only looks like a date), restart feedsyncd and drop it again.'
  return { guard: 'other-file', reason, hint }
}

function changedShape(newer: GuardedVersion, older: Baseline): Suspicion {
  if (older.root === null) return null
  if (newer.root !== older.root) {
    return {
      guard: 'shape',
      reason: `the root element changed from <${older.root}> to <${newer.root}>`,
    }
  }
  // A version without postings has no record path that could have changed.
  if (older.records === null || newer.records === null || newer.records === older.records)
    return null
  return {
    guard: 'shape',
    reason: `the postings moved from ${older.records} to ${newer.records}`,
  }
}

/**
 * COUNTS are the counts that must not collapse. The number of elements alone proves nothing: the postings might have
 * lost their ids, or one posting might be repeated.
 */
const COUNTS: readonly {
  guard: GuardName
  what: string
  of: (version: GuardedVersion) => number
}[] = [
  { guard: 'drop', what: '', of: ({ postings }) => postings ?? 0 },
  {
    guard: 'missing-ids',
    what: 'postings with an id',
    of: ({ postings, withoutId }) => (postings ?? 0) - (withoutId ?? 0),
  },
  {
    guard: 'duplicate-ids',
    what: 'different postings',
    of: ({ postings, duplicates }) => (postings ?? 0) - (duplicates ?? 0),
  },
]

function collapsed(newer: GuardedVersion, older: Baseline, limits: GuardLimits): Suspicion {
  for (const { guard, what, of } of COUNTS) {
    const [before, now] = [of(older), of(newer)]
    if (now >= before || (before - now) * 100 < before * limits.maxDropPercent) continue
    const share = `${lossPercent(now / before)} %`
    const said =
      guard === 'drop'
        ? `the feed dropped from ${counted(before)} to ${number(now)} (${share})`
        : `the number of ${what} fell from ${number(before)} to ${number(now)} (${share}), of ${number(newer.postings ?? 0)} in all`
    return { guard, reason: `${said}; guards.maxDropPercent is ${limits.maxDropPercent}` }
  }
  return null
}

/** shrunk finds postings that lost most of their bytes on average. */
function shrunk(newer: GuardedVersion, older: Baseline): Suspicion {
  const [before, now] = [older.postings ?? 0, newer.postings ?? 0]
  if (Math.min(before, now) < FEW || older.bytes === null || newer.bytes === null) return null
  // UTF-16 needs up to twice the bytes of another encoding for the same text.
  if (isUtf16(older) !== isUtf16(newer)) return null
  const size = { before: older.bytes / before, now: newer.bytes / now }
  if (size.now * 100 >= size.before * (100 - MAX_SHRINK_PERCENT)) return null
  const change = `from ${number(size.before)} bytes on average to ${number(size.now)} (${lossPercent(size.now / size.before)} %)`
  return { guard: 'shrink', reason: `the postings shrank ${change}` }
}

function isUtf16({ encoding }: GuardedVersion): boolean {
  return encoding?.startsWith('UTF-16') ?? false
}

/**
 * replaced finds a version that replaces more than 90 % of the postings by others. Many feeds do this each day, so the
 * guard holds only a feed with earlier uploads of which none did this.
 */
function replaced({ changes, postings, withoutId }: Baseline, { turnovers }: FeedPast): Suspicion {
  if (changes === null || postings === null || postings === 0) return null
  // A posting without an id counts as another posting when one character changes.
  const gone = Math.min(postings, changes.removed) - (withoutId ?? 0)
  const tooMany = (share: number) => share * 100 > MAX_REPLACED_PERCENT
  if (!tooMany(gone / postings)) return null
  const before = turnovers()
  if (before.length === 0 || before.some(tooMany)) return null
  const share = `${number(gone)} of ${counted(postings)} were replaced by others (${lossPercent(1 - gone / postings)} %)`
  return { guard: 'replaced', reason: `${share}, unlike in its recent uploads` }
}

/** lossPercent rounds the loss down, so that a feed that still has postings never shows "100 %". `left` is 0 to 1. */
function lossPercent(left: number): number {
  return Math.floor((1 - left) * 100)
}

function counted(postings: number): string {
  return `${number(postings)} posting${postings === 1 ? '' : 's'}`
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
