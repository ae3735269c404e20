// Compares the current problems with the problems that a receiver knows. It compares states, not events: after a crash,
// a restart or a receiver's failure nothing is missed and nothing is sent twice. Pure functions.

import type { AlertEvent } from '../../domain/alerts.ts'
import { IN_WORK } from '../../domain/states.ts'
import type { ToldAlert, Version } from '../../history/port.ts'
import { stepText } from '../advice.ts'
import type { AlertFacts } from '../port.ts'
import { firstLine, type Problem } from '../problem.ts'
import { KINDS, type Severity } from '../problem-kinds.ts'
import type { VersionFacts } from '../version-report.ts'

/** AlertChange is what a receiver gets about a problem that began or ended. */
export interface AlertChange {
  event: AlertEvent
  recovered: boolean
  /** null if the problem is over. */
  severity: Severity | null
  /** The first line of the problem, as `status` shows it; null if the problem is over. */
  says: string | null
  /** null if the problem concerns no single feed. */
  feed: string | null
  /**
   * External campaign id, or the service's id if no entry names the campaign; null if the problem concerns no single
   * campaign.
   */
  campaign: string | null
  version: number | null
  path: string | null
  state: string | null
  reason: string | null
  /** Stable code of the version's reason or of the daemon's condition. */
  reasonCode: string | null
  /** Position in the document; null if the reason has none. */
  line: number | null
  column: number | null
  hint: string | null
}

export interface KeyedChange extends AlertChange {
  key: string
  /** Identifies the occurrence: a new mark for the same key is a new occurrence. */
  mark: string
}

/** Told is what a receiver knows, by key. The history keeps it. */
type Told = ReadonlyMap<string, ToldAlert>

/**
 * troublesOf returns the problems that alerts report, by key, in the order of `problems`, whose worst comes first. Of
 * several problems with one key it keeps the first; for a campaign it joins them all in one change.
 */
export function troublesOf(problems: readonly Problem[]): ReadonlyMap<string, KeyedChange> {
  const found = new Map<string, KeyedChange>()
  for (const problem of problems) {
    const change = changeOfProblem(problem)
    if (change === null) continue
    const known = found.get(change.key)
    if (known === undefined) found.set(change.key, change)
    else if (change.campaign !== null) found.set(change.key, joined(known, change))
  }
  return found
}

/** changeOfProblem returns the change that reports a problem; null if no alert reports problems of this kind. */
function changeOfProblem(problem: Problem): KeyedChange | null {
  const { code, mark, says, severity, subject, version } = problem
  const { event } = KINDS[code]
  if (event === null) return null
  const facts = {
    ...(version === null ? NO_FACTS : factsOf(version)),
    feed: subject.kind === 'feed' ? subject.feed : null,
    campaign: subject.kind === 'campaign' ? subject.campaign : null,
  }
  const isOfAccount = subject.kind === 'account'
  const parts = isOfAccount ? [event, code, subject.account] : [event, code]
  const key = event === 'daemon' || isOfAccount ? JSON.stringify(parts) : null
  return changeOf(event, {
    ...facts,
    ...{ mark, severity, says: firstLine(problem), reason: says, reasonCode: code },
    ...(version !== null && { reason: version.reason ?? says, reasonCode: version.reasonCode }),
    hint: stepText(problem.next),
    ...(key !== null && { key }),
  })
}

function joined(one: KeyedChange, other: KeyedChange): KeyedChange {
  const both = (field: 'says' | 'reason' | 'mark') => `${one[field]}; ${other[field]}`
  return { ...one, says: both('says'), reason: both('reason'), mark: both('mark') }
}

interface ReceiverView {
  /** The events that the receiver wants. */
  on: readonly AlertEvent[]
  told: Told
  /** See `troublesOf`. */
  now: ReadonlyMap<string, KeyedChange>
  /** Returns the newest version of a feed. */
  newestOf: (feed: string) => Version | null
  /** Returns whether a condition that the daemon does not meet now has ended. */
  isOver: (key: string) => boolean
  facts: AlertFacts
}

/** changesFor returns the changes that a receiver does not know yet, recoveries last. */
export function changesFor({
  facts,
  isOver,
  newestOf,
  now,
  on,
  told,
}: ReceiverView): KeyedChange[] {
  const changes = [...now.values()].filter(
    ({ event, key, mark }) => on.includes(event) && told.get(key)?.mark !== mark,
  )
  for (const [key, { event, feed, campaign }] of told) {
    if (now.has(key)) continue
    const newest = feed === null ? null : newestOf(feed)
    if (!hasEnded({ event, key, newest }, { facts, isOver })) continue
    const last =
      event === 'daemon'
        ? pastCondition(key, now)
        : newest && { ...factsOf(newest), line: null, column: null }
    const mark = String(newest?.id)
    changes.push(changeOf(event, { feed, campaign, ...last, key, mark, recovered: true }))
  }
  return changes
}

/** hasEnded returns whether a problem that a receiver knows, and that is not found now, has really ended. */
function hasEnded(
  { event, key, newest }: { event: AlertEvent; key: string; newest: Version | null },
  { facts, isOver }: Pick<ReceiverView, 'facts' | 'isOver'>,
): boolean {
  switch (event) {
    case 'credentials':
      return facts.trusted()
    case 'service':
      return WORKING.includes(facts.service())
    case 'daemon':
      return key !== WATCHDOG_RESTART && isOver(key)
    case 'overdue':
      return true
    default:
      // A feed has not recovered while its newest version is still in work.
      return newest === null || !IN_WORK.includes(newest.state)
  }
}

/** The states of a service that works again. */
const WORKING: readonly string[] = ['ok', 'degraded']

/** The key of a restart by the watchdog, which ends at once, so alerts do not report its end. */
const WATCHDOG_RESTART = JSON.stringify(['daemon', 'watchdog-restart'])

/** pastCondition returns the facts of a past condition. Its reason names the problems that daemon and service have. */
function pastCondition(key: string, now: ReadonlyMap<string, KeyedChange>): Partial<KeyedChange> {
  const [, reasonCode] = JSON.parse(key) as [AlertEvent, string]
  const left = [...now.values()].filter(({ event }) => DAEMON_EVENTS.includes(event))
  return { reasonCode, reason: left.map(({ says }) => says).join('; ') || null }
}

const DAEMON_EVENTS: readonly AlertEvent[] = ['daemon', 'credentials', 'service']

/** toldAfter returns what a receiver knows after it has received these changes. */
export function toldAfter(told: Told, changes: readonly KeyedChange[]): Told {
  const after = new Map(told)
  for (const { key, recovered, mark, event, feed, campaign } of changes) {
    if (recovered) after.delete(key)
    else after.set(key, { mark, event, feed, campaign })
  }
  return after
}

export const NO_FACTS = {
  recovered: false,
  severity: null,
  says: null,
  feed: null,
  campaign: null,
  version: null,
  path: null,
  state: null,
  reason: null,
  reasonCode: null,
  line: null,
  column: null,
  hint: null,
}

/**
 * changeOf fills the fields that `facts` lacks and gives the change its key. The key is JSON because a feed can have
 * any name, even `__proto__`. No event concerns both feeds and campaigns.
 */
function changeOf(event: AlertEvent, facts: Partial<KeyedChange>): KeyedChange {
  const name = facts.feed ?? facts.campaign
  const key = JSON.stringify(name == null ? [event] : [event, name])
  return { event, ...NO_FACTS, key, mark: '', ...facts }
}

function factsOf({
  column,
  feed,
  id,
  line,
  path,
  state,
}: Pick<VersionFacts, 'column' | 'feed' | 'id' | 'line' | 'path' | 'state'>) {
  return { version: id, feed, path, state, line, column }
}
