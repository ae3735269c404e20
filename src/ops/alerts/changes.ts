// What is wrong now, and how it differs from what a receiver was told. Compared are states and not
// events: nothing is missed by a crash, a mute receiver or a restart, and nothing is told twice. Pure.

import type { Version, VersionReads } from '../../history/port.ts'
import { IN_WORK } from '../../history/states.ts'
import { advice, hintText } from '../advice.ts'
import type { AlertEvent } from '../alert-events.ts'
import { campaignConditions } from '../campaign-conditions.ts'
import type { AlertFacts, CommandLine } from '../port.ts'

/** What a receiver is shown of something that needs a person, or does not any more. */
export interface AlertChange {
  event: AlertEvent
  recovered: boolean
  /** null: it concerns no feed, or all of them. */
  feed: string | null
  /** External campaign id, or the id of a campaign in no entry; null: it concerns none, or all of them. */
  campaign: string | null
  version: number | null
  path: string | null
  state: string | null
  reason: string | null
  /** Stable: the code of a version's reason, or of a condition of the daemon. */
  reasonCode: string | null
  /** Where in the document. */
  line: number | null
  column: number | null
  hint: string | null
}

export interface Change extends AlertChange {
  key: string
  /** Another mark at the same key is another occurrence. */
  mark: string
}

/** What a receiver knows, by key: kept in the history. */
export type Told = Record<
  string,
  { mark: string; event: AlertEvent; feed: string | null; campaign?: string | null }
>

/** By key. */
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
    // Newest first, and the newest of a feed speaks for it.
    ...[...rejected, ...waiting].map((version) => {
      const { id, state, reason, reasonCode, attempts } = version
      return changeOf(state as 'rejected' | 'held' | 'failed', {
        ...factsOf(version),
        reason: reason ?? state,
        reasonCode,
        hint: advice(version, commandLine),
        // A person who retries is told when it fails again, whoever looks at it again is not.
        mark: `${id}/${attempts}`,
      })
    }),
    ...facts.overdue().map(({ version, expectedBy }) => {
      const mark = new Date(expectedBy).toISOString()
      const reason = `its next version was expected by ${mark}`
      const hint = 'check whether its export still runs, and where it writes to'
      return changeOf('overdue', { ...factsOf(version), reason, hint, mark })
    }),
    // A refusal knows more than a receiver is shown.
    ...refusals.map(({ reason, hint, mark }) => changeOf('credentials', { reason, hint, mark })),
    // Refused credentials have an event of their own, which knows the accounts.
    ...conditions
      .filter(({ code }) => code !== 'credentials')
      .map(({ code, message, hint: says }) => {
        const hint = says && hintText(says, commandLine)
        const key = JSON.stringify(['daemon', code])
        // One that holds over a restart is the same occurrence.
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

/** What a receiver of these events has to be told; recoveries come last. `isPast`: a condition that is not met is over. */
export function changesFor(
  on: readonly AlertEvent[],
  told: Told,
  now: ReadonlyMap<string, Change>,
  history: VersionReads,
  { isPast, trusted }: Pick<AlertFacts, 'trusted'> & { isPast: (key: string) => boolean },
): Change[] {
  const changes = [...now.values()].filter(
    ({ event, key, mark }) => on.includes(event) && told[key]?.mark !== mark,
  )
  for (const [key, { event, feed, campaign = null }] of Object.entries(told)) {
    if (now.has(key)) continue
    const newest = feed === null ? null : history.newest(feed)
    const isOpen =
      // While the newest version of a feed is on its way, nobody can say that the feed is well again.
      event === 'credentials'
        ? !trusted()
        : event === 'daemon'
          ? !isPast(key)
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

/** Which condition is over, and as its reason why feedsyncd does not work as it should all the same. */
function pastCondition(key: string, now: ReadonlyMap<string, Change>): Partial<Change> {
  const [, reasonCode] = JSON.parse(key) as [AlertEvent, string]
  const left = [...now.values()].filter(({ event }) => DAEMON_EVENTS.includes(event))
  return { reasonCode, reason: left.map(({ reason }) => reason).join('; ') || null }
}

const DAEMON_EVENTS: readonly AlertEvent[] = ['daemon', 'credentials']

/** What a receiver knows once it was told of these changes. */
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

/** The key is JSON, since a feed may be called anything, `__proto__` included. No event is of both feeds and campaigns. */
function changeOf(event: AlertEvent, facts: Partial<Change>): Change {
  const name = facts.feed ?? facts.campaign
  const key = JSON.stringify(name == null ? [event] : [event, name])
  return { event, ...NO_FACTS, key, mark: '', ...facts }
}

function factsOf({ id, feed, path, state, line, column }: Version) {
  return { version: id, feed, path, state, line, column }
}
