// Plans what differs between the file and the service, line by line. `plan` shows the plan, `apply` sends it, and the
// daemon reports it. No plan is stored: the digest tells whether a later plan is the same.

import { createHash } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import type { Coverage } from '../ops/campaigns/run.ts'
import type { CampaignAccount } from './account.ts'
import type { ManagedFile } from './campaigns-file.ts'
import { coverageOf } from './coverage.ts'
import type { Entry } from './desired.ts'
import { measure, type Selection, selectionOf, targetingsToMeasure } from './effects.ts'
import { findingsOf } from './findings.ts'
import { withSentDates } from './foreign.ts'
import { judge } from './judge.ts'
import { type EntryState, type JudgedEntry, type PlannedAction, sceneOf } from './judged-entry.ts'
import type { LookFacts, LookFinding } from './look-facts.ts'
import { LATE_MS } from './open-creation.ts'
import type { CampaignReader, FeedSide } from './port.ts'
import { type CampaignSource, memoryOf, NO_MEMORY, Seen } from './seen.ts'
import type { CampaignFailure } from './service/port.ts'
import { whyNotUsed } from './used-file.ts'

/** PlanItem is what `apply` does for one entry. */
export interface PlanItem extends PlannedAction {
  /** External campaign id of the entry. */
  key: string
  /** null if the targeting stays, or no feed was uploaded. */
  postings: Selection | null
}

/** PlanEntry is the state of an entry of the file. */
export interface PlanEntry {
  key: string
  campaignId: string | null
  state: EntryState
  reason: string | null
  next: string | null
  /** The main numbers; null if the entry has no campaign that could be read. */
  coverage: Coverage | null
}

export interface Plan {
  /** 8 hex characters; a plan without lines has a digest, too. */
  digest: string
  items: PlanItem[]
  entries: PlanEntry[]
  findings: LookFinding[]
  /** null if every campaign was read by id. */
  listing: { complete: boolean; campaigns: number; reason: string | null } | null
  /** The uploaded feeds, and the postings of their last uploads. `problems` says which postings are not counted. */
  feeds: { count: number; postings: number; problems: readonly string[] }
  /** A warning about the campaigns that are created; null if the plan needs no warning. */
  warning: string | null
}

/** PlanSources is what a plan is made from, beside the file. */
export interface PlanSources {
  /** The campaigns of the service. */
  service: CampaignSource
  /** null if there is no database. */
  store: CampaignReader | null
  feeds: () => FeedSide
  /** A clock with the service's time of day. */
  clock: Clock
  account: CampaignAccount
  /** The daemon writes targeting (`campaigns.mode: targeting`). */
  keepsTargeting: boolean
}

/** PlanScope says which file to plan, and which of its entries. */
export interface PlanScope {
  file: ManagedFile
  /** The external campaign ids of the entries to plan; null if all entries are planned. */
  keys: ReadonlySet<string> | null
}

/** LookResult is the plan with the facts that it was made from. */
export interface LookResult {
  plan: Plan
  judged: readonly JudgedEntry[]
  seen: Seen
}

/** isStuck returns whether `apply` can do nothing for an entry. */
export const isStuck = ({ state }: PlanEntry) => state === 'blocked' || state === 'unknown'

/**
 * exitCodeOf returns 3 if an entry is blocked or unknown, or if an open creation has no entry. Else it returns 2 if
 * there are changes, or if a campaign still spends after its entry left the file; else 0.
 */
export const exitCodeOf = ({ items, entries, findings }: Plan): 0 | 2 | 3 =>
  entries.some(isStuck) || findings.some(({ code }) => code === 'open-creation')
    ? 3
    : items.length > 0 || findings.some(isRemoved)
      ? 2
      : 0

/** isRemoved returns whether a finding is a campaign that still spends after its entry left the file. */
const isRemoved = ({ code, key }: LookFinding) => code === 'outside' && key !== null

/**
 * look reads the database, the service and the feeds, and plans what differs from the file. It writes nothing. It
 * returns a failure if the service gives no listing.
 */
export async function look(
  sources: PlanSources,
  { file, keys }: PlanScope,
  signal: AbortSignal,
): Promise<LookResult | CampaignFailure> {
  const { account, clock, store } = sources
  const { identity } = account
  const { entries } = file
  // Without the daemon's writes, a file that is cut does no harm.
  const fileDoubt = sources.keepsTargeting && store !== null ? whyNotUsed(file, store) : null
  const keepsTargeting = sources.keepsTargeting && fileDoubt === null
  const memory = store === null ? NO_MEMORY : memoryOf(store)
  const seen = new Seen(sources.service, signal)
  const wanted = entries.filter(({ key }) => keys?.has(key) ?? true)
  const idOf = ({ key, campaignId }: Entry) => campaignId ?? memory.byKey.get(key)?.campaignId
  const ids = wanted.flatMap((entry) => idOf(entry) ?? [])
  const isById = keys !== null && ids.length === wanted.length
  if (!isById) {
    const failure = await seen.list()
    if (failure !== null) return failure
  }
  const input = { entries, memory, seen, identity, keepsTargeting, now: clock.now() }
  const judgeAll = () => {
    const scene = sceneOf(input)
    return { scene, judged: wanted.map((entry) => judge(entry, scene)) }
  }
  // A listing can be late and can leave out fields, so campaigns that differ or are not listed are read by id.
  const mustRead = ({ state, campaignId }: JudgedEntry) =>
    campaignId !== null && state !== 'in line'
  const toRead = () => {
    const { scene, judged } = judgeAll()
    const differing = judged.flatMap((one) => (mustRead(one) ? (one.campaignId ?? []) : []))
    if (!judged.some(({ action }) => action?.campaignId === null)) return differing
    // A new entry might create a campaign a second time if its campaign was forgotten, or if the key left the file.
    const former = [...memory.byId.values()].filter(({ key }) => !scene.keys.has(key))
    const others = [...memory.released.keys(), ...former.map(({ campaignId }) => campaignId)]
    return [...differing, ...others.filter((id) => seen.campaign(id) === undefined)]
  }
  if (!isById && ids.length < wanted.length) await seen.readNameless()
  await seen.readAll(isById ? ids : toRead())
  const { scene, judged: found } = judgeAll()
  const judged = store === null ? found : found.map((one) => withSentDates(store, one))
  const effects = await measure(sources.feeds(), targetingsToMeasure(judged), signal)
  const facts = { ...scene, judged, effects, fileDoubt, isWhole: !isById && keys === null }
  return { plan: planOf(facts, account), judged, seen }
}

function planOf(facts: LookFacts, account: CampaignAccount): Plan {
  const { judged, memory, seen, effects, now } = facts
  const items = judged.flatMap((one): PlanItem[] => {
    const { entry, action } = one
    if (action === null) return []
    const isTargeted = action.changes.some(({ field }) => field === 'targeting')
    const postings = isTargeted ? selectionOf(one, effects) : null
    return [{ key: entry.key, ...action, postings }]
  })
  const isNew = memory.madeAt === null || now - memory.madeAt < LATE_MS
  const isCreating = items.some(({ action }) => action === 'create')
  return {
    digest: digestOf(`${account.name} ${memory.lastPersonWrite}`, items),
    items,
    entries: judged.map((one) => {
      const { entry, campaignId, state, reason, next } = one
      const coverage = coverageOf(one, effects, now)
      return { key: entry.key, campaignId, state, reason, next, coverage }
    }),
    findings: findingsOf(facts),
    listing: facts.isWhole || seen.incomplete === null ? listingOf(seen) : null,
    feeds: {
      count: effects.latest.length,
      postings: effects.postings,
      problems: effects.problems,
    },
    warning:
      isNew && isCreating
        ? 'this database is new: a campaign that another feedsyncd created within the last hour might not be listed yet'
        : null,
  }
}

function listingOf(seen: Seen): Plan['listing'] {
  const { incomplete: reason } = seen
  return { complete: reason === null, campaigns: seen.all.length, reason }
}

/**
 * digestOf hashes the account with the number of its last write by a person, and the lines. So a confirmed plan is sent
 * once. The counts of postings are left out, because each upload changes them.
 */
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
