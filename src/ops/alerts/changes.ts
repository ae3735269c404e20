// What is wrong now, and how it differs from what a receiver was told. Compared are states and not
// events: nothing is missed by a crash, a mute receiver or a restart, and nothing is told twice. Pure.

import type { Version, VersionReads } from '../../history/port.ts'
import { IN_WORK } from '../../history/states.ts'
import { advice } from '../advice.ts'
import { campaignConditions } from '../campaign-conditions.ts'
import type { AlertEvent, AlertFacts, CommandLine } from '../port.ts'

/** What is told of a version. */
type Brief = Pick<Version, 'id' | 'path' | 'state' | 'line' | 'column'>

/** Something that needs a person. */
export interface Condition {
  event: AlertEvent
  /** null: it concerns no feed, or all of them. */
  feed: string | null
  /** External campaign id; null: it concerns no campaign, or all of them. */
  campaign: string | null
  /** Of a campaign; a feed's is its version's. */
  state: string | null
  version: Brief | null
  reason: string
  /** Of the version's reason, or of the daemon's condition. */
  reasonCode: string | null
  hint: string | null
  /** Another mark at the same key is another occurrence. */
  mark: string
}

export type Change =
  | { kind: 'raised'; key: string; condition: Condition }
  | {
      kind: 'recovered'
      key: string
      event: AlertEvent
      feed: string | null
      campaign: string | null
      version: Brief | null
    }

/** What a receiver knows, by key: kept in the history. */
export type Told = Record<
  string,
  { mark: string; event: AlertEvent; feed: string | null; campaign?: string | null }
>

export function conditionsOf(
  history: VersionReads,
  facts: AlertFacts,
  commandLine: CommandLine,
): ReadonlyMap<string, Condition> {
  const found = new Map<string, Condition>()
  const rejected = history.list({ states: ['rejected'] })
  const waiting = history.list({ states: ['held', 'failed'], all: true })
  // Newest first, and the newest of a feed speaks for it.
  for (const version of [...rejected, ...waiting]) {
    const condition = ofVersion(version, commandLine)
    const key = keyOf(condition)
    if (!found.has(key)) found.set(key, condition)
  }
  const add = (condition: Partial<Condition> & Specific, key?: string) => {
    const whole = { ...UNSPECIFIC, ...condition }
    found.set(key ?? keyOf(whole), whole)
  }
  for (const { version, expectedBy } of facts.overdue()) {
    const since = new Date(expectedBy).toISOString()
    add({
      ...{ event: 'overdue', feed: version.feed, version: brief(version), mark: since },
      reason: `its next version was expected by ${since}`,
      hint: 'check whether its export still runs, and where it writes to',
    })
  }
  const refusal = facts.refusal()
  if (refusal !== null) add({ event: 'credentials', ...refusal })
  for (const { code, message, hint, since } of facts.conditions()) {
    // Refused credentials have an event of their own, which knows the accounts.
    if (code === 'credentials') continue
    const condition = { reason: message, reasonCode: code, hint, mark: `${code} ${since}` }
    add({ event: 'daemon', ...condition }, JSON.stringify(['daemon', code]))
  }
  for (const { isCritical: _, ...ofCampaign } of campaignConditions(facts.campaigns()))
    add(ofCampaign)
  return found
}

type Specific = Pick<Condition, 'event' | 'reason' | 'hint' | 'mark'>

const UNSPECIFIC = { feed: null, campaign: null, state: null, version: null, reasonCode: null }

/** What a receiver of these events has to be told; recoveries come last. */
export function changesFor(
  on: readonly AlertEvent[],
  told: Told,
  now: ReadonlyMap<string, Condition>,
  history: VersionReads,
  facts: AlertFacts,
): Change[] {
  const changes: Change[] = []
  for (const [key, condition] of now) {
    if (!on.includes(condition.event) || told[key]?.mark === condition.mark) continue
    changes.push({ kind: 'raised', key, condition })
  }
  for (const [key, { event, feed, campaign = null }] of Object.entries(told)) {
    if (now.has(key)) continue
    const newest = feed === null ? null : history.newest(feed)
    const isOpen =
      // While the newest version of a feed is on its way, nobody can say that the feed is well again.
      event === 'credentials'
        ? !facts.trusted()
        : event !== 'overdue' && newest !== null && IN_WORK.includes(newest.state)
    if (isOpen) continue
    const version = newest && brief(newest)
    changes.push({ kind: 'recovered', key, event, feed, campaign, version })
  }
  return changes
}

/** What a receiver knows once it was told of these changes. */
export function tell(told: Told, changes: readonly Change[]): Told {
  const after = new Map(Object.entries(told))
  for (const change of changes) {
    if (change.kind === 'recovered') after.delete(change.key)
    else {
      const { mark, event, feed, campaign } = change.condition
      after.set(change.key, { mark, event, feed, ...(campaign !== null && { campaign }) })
    }
  }
  return Object.fromEntries(after)
}

function ofVersion(version: Version, commandLine: CommandLine): Condition {
  const { id, feed, state, reason, reasonCode, attempts } = version
  return {
    ...{ ...UNSPECIFIC, feed, version: brief(version), reason: reason ?? state, reasonCode },
    event: state as 'rejected' | 'held' | 'failed',
    hint: advice(version, commandLine),
    // A person who retries is told when it fails again, whoever looks at it again is not.
    mark: `${id}/${attempts}`,
  }
}

function brief({ id, path, state, line, column }: Version): Brief {
  return { id, path, state, line, column }
}

/** JSON, since a feed may be called anything, `__proto__` included. No event is of both feeds and campaigns. */
function keyOf({ event, feed, campaign }: Condition): string {
  const name = feed ?? campaign
  return JSON.stringify(name === null ? [event] : [event, name])
}
