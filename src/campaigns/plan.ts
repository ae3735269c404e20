// What differs between the file and the service, line by line: what `plan` shows, `apply` sends, and the daemon tells.
// A plan is not kept: its digest says whether a later one is the same.

import { createHash } from 'node:crypto'
import type { CampaignFailure } from '../service/port.ts'
import type { Entry } from './desired.ts'
import { measure, type Selection, selectionOf, targetingsToMeasure } from './effects.ts'
import { type Finding, findingsOf, type LookFacts } from './findings.ts'
import { type EntryState, Judge, type Judged, LATE_MS, type PlannedAction } from './judge.ts'
import type { CampaignReads, FeedSide } from './port.ts'
import { memoryOf, NO_MEMORY, Seen, type SeenParts } from './seen.ts'

/** What `apply` does for one entry. */
export interface PlanItem extends PlannedAction {
  /** External campaign id of the entry. */
  key: string
  /** null: the targeting stays, or no feed was uploaded. */
  postings: Selection | null
}

/** An entry of the file, as it was seen. */
export interface PlanEntry {
  key: string
  campaignId: string | null
  state: EntryState
  reason: string | null
  next: string | null
}

export interface Plan {
  /** 8 hex characters; of no line, too. */
  digest: string
  items: PlanItem[]
  entries: PlanEntry[]
  findings: Finding[]
  /** null: every campaign was read by id. */
  listing: { complete: boolean; campaigns: number; reason: string | null } | null
  /** Of the feeds that were uploaded last. */
  feeds: { count: number; postings: number; problems: readonly string[] }
  /** What a person should know before a create; null: nothing. */
  warning: string | null
}

export interface PlanParts extends SeenParts {
  /** null: there is no database. */
  store: CampaignReads | null
  feeds: () => FeedSide
  clock: { now(): number }
  /** Address and identity. */
  account: string
  /** The identity alone, from which marks follow. */
  identity: string
  keepsTargeting: boolean
}

/** What a look found, with what it was made of. */
export interface Look {
  plan: Plan
  judged: readonly Judged[]
  seen: Seen
}

/** `apply` does nothing for it. */
export const isStuck = ({ state }: Pick<PlanEntry, 'state'>) =>
  state === 'blocked' || state === 'unknown'

/** 0 nothing to do, 2 changes, 3 blocked or unknown entries, also beside changes. */
export const exitCodeOf = ({ items, entries }: Plan): 0 | 2 | 3 =>
  entries.some(isStuck) ? 3 : items.length > 0 ? 2 : 0

/** Writes nothing anywhere. `keys`: the entries that it is about; null: all. */
export async function look(
  parts: PlanParts,
  entries: readonly Entry[],
  keys: ReadonlySet<string> | null,
  signal: AbortSignal,
): Promise<Look | CampaignFailure> {
  const { identity, clock, keepsTargeting, store } = parts
  const memory = store === null ? NO_MEMORY : memoryOf(store)
  const seen = new Seen(parts, signal)
  const wanted = entries.filter(({ key }) => keys?.has(key) ?? true)
  const idOf = ({ key, campaignId }: Entry) => campaignId ?? memory.byKey.get(key)?.campaignId
  const ids = wanted.flatMap((entry) => idOf(entry) ?? [])
  const isById = keys !== null && ids.length === wanted.length
  if (!isById) {
    const failure = await seen.list()
    if (failure !== null) return failure
  }
  const scene = { entries, memory, seen, identity, keepsTargeting, now: clock.now() }
  const judgeAll = () => {
    const judge = new Judge(scene)
    return { judge, judged: wanted.map((entry) => judge.judge(entry)) }
  }
  // A listing may be late, and may leave fields out: what differs is read by id, and so is what is not listed.
  const isRead = ({ state, campaignId }: Judged) => campaignId !== null && state !== 'in line'
  const toRead = (all: readonly Judged[]) => {
    const created = new Set(
      all.flatMap(({ entry, action }) => (action?.campaignId === null ? entry.key : [])),
    )
    const isUnlisted = ([id, key]: [string, string]) =>
      created.has(key) && seen.campaign(id) === undefined
    const released = [...memory.released].filter(isUnlisted).map(([id]) => id)
    return [...all.flatMap((one) => (isRead(one) ? (one.campaignId ?? []) : [])), ...released]
  }
  await seen.getAll(isById ? ids : toRead(judgeAll().judged))
  const { judge, judged } = judgeAll()
  const effects = await measure(parts.feeds(), targetingsToMeasure(judged), signal)
  const made = {
    ...scene,
    judged,
    effects,
    unbound: judge.unbound,
    isWhole: !isById && keys === null,
  }
  return { plan: planOf(made, parts), judged, seen }
}

function planOf(made: LookFacts, { account, clock }: PlanParts): Plan {
  const { judged, memory, seen, effects } = made
  const items = judged.flatMap(({ entry, campaign, known, action }): PlanItem[] => {
    if (action === null) return []
    const isTargeted = action.changes.some(({ field }) => field === 'targeting')
    const postings = isTargeted ? selectionOf(effects, entry, campaign, known) : null
    return [{ key: entry.key, ...action, postings }]
  })
  const isNew = memory.madeAt === null || clock.now() - memory.madeAt < LATE_MS
  const creates = items.some(({ action }) => action === 'create')
  return {
    digest: digestOf(account, items),
    items,
    entries: judged.map(({ entry: { key }, campaignId, state, reason, next }) => {
      return { key, campaignId, state, reason, next }
    }),
    findings: findingsOf(made),
    listing: made.isWhole || seen.incomplete === null ? listingOf(seen) : null,
    feeds: {
      count: effects.latest.length,
      postings: effects.postings,
      problems: effects.problems,
    },
    warning:
      isNew && creates
        ? 'this database is new: a campaign made by another feedsyncd within the last hour may not be listed yet'
        : null,
  }
}

function listingOf(seen: Seen): Plan['listing'] {
  const { incomplete: reason } = seen
  return { complete: reason === null, campaigns: seen.all.length, reason }
}

/** The counts of postings are not in it: each upload changes them. */
function digestOf(account: string, items: readonly PlanItem[]): string {
  const lines = items.map(({ key, campaignId, action, changes }) => [
    key,
    campaignId,
    action,
    changes.map(({ field, from, to }) => [field, from === undefined ? 'not known' : [from], to]),
  ])
  const text = JSON.stringify([account, lines.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))])
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}
