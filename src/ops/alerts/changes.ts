// Compares the present problems with those that a receiver knows. It compares states, not events: after a crash, a
// restart or a receiver's failure nothing is missed and nothing is sent twice. Pure functions.

import type { Version, VersionReads } from '../../history/port.ts'
import { IN_WORK } from '../../history/states.ts'
import { advice, hintText } from '../advice.ts'
import type { AlertEvent } from '../alert-events.ts'
import { campaignConditions } from '../campaign-conditions.ts'
import type { AlertFacts, CommandLine } from '../port.ts'

/** AlertChange is what a receiver gets about a problem that began or ended. */
export interface AlertChange {
  event: AlertEvent
  recovered: boolean
  /** null if it concerns no single feed. */
  feed: string | null
  /** External campaign id, or the service's id if no entry names the campaign; null if it concerns no single one. */
  campaign: string | null
  version: number | null
  path: string | null
  state: string | null
  reason: string | null
  /** Stable code of the version's reason or of the daemon's condition. */
  reasonCode: string | null
  /** Position in the document. */
  line: number | null
  column: number | null
  hint: string | null
}

export interface Change extends AlertChange {
  key: string
  /** Identifies the occurrence: a new mark for the same key is a new occurrence. */
  mark: string
}

/** Told is what a receiver knows, by key. The history keeps it. */
export type Told = Record<
  string,
  { mark: string; event: AlertEvent; feed: string | null; campaign?: string | null }
>

/** troublesOf returns the present problems by key. */
export function troublesOf(
  history: VersionReads,
  facts: AlertFacts,
  commandLine: CommandLine,
): ReadonlyMap<string, Change> {
  const rejected = history.list({ states: ['rejected'] })
  const waiting = history.list({ states: ['held', 'failed'], all: true })
  const conditions = facts.conditions()
  const refusals = [facts.refusal()].filter((refusal) => refusal !== null)
  const all = [
    // Newest first: a feed with several problems reports its newest version.
    ...[...rejected, ...waiting].map((version) => {
      const { id, state, reason, reasonCode, attempts } = version
      return changeOf(state as 'rejected' | 'held' | 'failed', {
        ...factsOf(version),
        reason: reason ?? state,
        reasonCode,
        hint: advice(version, commandLine),
        // Alert again only after a retry: the number of attempts is part of the mark.
        mark: `${id}/${attempts}`,
      })
    }),
    ...facts.overdue().map(({ version, expectedBy }) => {
      const mark = new Date(expectedBy).toISOString()
      const reason = `its next version was expected by ${mark}`
      const hint = 'check whether its export still runs, and where it writes to'
      return changeOf('overdue', { ...factsOf(version), reason, hint, mark })
    }),
    ...refusals.map(({ reason, hint, mark }) => changeOf('credentials', { reason, hint, mark })),
    // Refused credentials have their own event, whose mark holds the accounts.
    ...conditions
      .filter(({ code }) => code !== 'credentials')
      .map(({ code, message, hint: says }) => {
        const hint = says && hintText(says, commandLine)
        const key = JSON.stringify(['daemon', code])
        // A condition that lasts over a restart is the same occurrence: the mark must not hold a time.
        return changeOf('daemon', { reason: message, reasonCode: code, hint, mark: code, key })
      }),
    ...campaignConditions(facts.campaigns()).map(({ event, hint: step, ...what }) => {
      const { campaign, state, reason, mark } = what
      const hint = step && hintText(step, commandLine)
      return changeOf(event, { campaign, state, reason, hint, mark })
    }),
  ]
  const found = new Map<string, Change>()
  for (const change of all) if (!found.has(change.key)) found.set(change.key, change)
  return found
}

/**
 * changesFor returns the changes that a receiver of these events does not know yet, recoveries last. `isOver` returns
 * whether a condition that is not met now has ended.
 */
export function changesFor(
  on: readonly AlertEvent[],
  told: Told,
  now: ReadonlyMap<string, Change>,
  history: VersionReads,
  { isOver, trusted }: Pick<AlertFacts, 'trusted'> & { isOver: (key: string) => boolean },
): Change[] {
  const changes = [...now.values()].filter(
    ({ event, key, mark }) => on.includes(event) && told[key]?.mark !== mark,
  )
  for (const [key, { event, feed, campaign = null }] of Object.entries(told)) {
    if (now.has(key)) continue
    const newest = feed === null ? null : history.newest(feed)
    const isOpen =
      // A feed has not recovered while its newest version is still in work.
      event === 'credentials'
        ? !trusted()
        : event === 'daemon'
          ? !isOver(key)
          : event !== 'overdue' && newest !== null && IN_WORK.includes(newest.state)
    if (isOpen) continue
    const last =
      event === 'daemon'
        ? pastCondition(key, now)
        : newest && { ...factsOf(newest), line: null, column: null }
    const mark = String(newest?.id)
    changes.push(changeOf(event, { feed, campaign, ...last, key, mark, recovered: true }))
  }
  return changes
}

/** Names the condition that is over. The reason names those that remain. */
function pastCondition(key: string, now: ReadonlyMap<string, Change>): Partial<Change> {
  const [, reasonCode] = JSON.parse(key) as [AlertEvent, string]
  const left = [...now.values()].filter(({ event }) => DAEMON_EVENTS.includes(event))
  return { reasonCode, reason: left.map(({ reason }) => reason).join('; ') || null }
}

const DAEMON_EVENTS: readonly AlertEvent[] = ['daemon', 'credentials']

/** toldAfter returns what a receiver knows after it has received these changes. */
export function toldAfter(told: Told, changes: readonly Change[]): Told {
  const after = new Map(Object.entries(told))
  for (const { key, recovered, mark, event, feed, campaign } of changes) {
    if (recovered) after.delete(key)
    else after.set(key, { mark, event, feed, ...(campaign !== null && { campaign }) })
  }
  return Object.fromEntries(after)
}

export const NO_FACTS = {
  recovered: false,
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

/** The key is JSON because a feed may have any name, even `__proto__`. No event concerns both feeds and campaigns. */
function changeOf(event: AlertEvent, facts: Partial<Change>): Change {
  const name = facts.feed ?? facts.campaign
  const key = JSON.stringify(name == null ? [event] : [event, name])
  return { event, ...NO_FACTS, key, mark: '', ...facts }
}

function factsOf({ id, feed, path, state, line, column }: Version) {
  return { version: id, feed, path, state, line, column }
}
