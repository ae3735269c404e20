// The service's create and update at a person's command: under the same guards and in the same history as
// what the file asks for.

import type { FeedSide } from '../feed/port.ts'
import type { Campaign, CampaignCreate, CampaignFailure, CampaignUpdate } from '../service/port.ts'
import { adoptedRecord, whyStopped } from './adopting.ts'
import { compare, valueNow, valuesOf } from './compare.ts'
import { createdValues, filtersOf, selectionOf } from './creating.ts'
import type { Refusal } from './decision.ts'
import type { Guards } from './desired.ts'
import { measure } from './effects.ts'
import { maySpend } from './ledger.ts'
import { CHANGE_GUARD } from './manage.ts'
import { memoryOf, Planning } from './planning.ts'
import type { ReconcilerParts } from './send.ts'
import { canonical } from './targeting.ts'

export interface DirectParts extends ReconcilerParts {
  feeds: () => FeedSide
  guards: Guards
  by: string
  signal: AbortSignal
}

export type Direct = { kind: 'ok'; campaign: Campaign } | Refusal | CampaignFailure

const byGuard = (reason: string): Refusal => ({ kind: 'refused', reason, hint: CHANGE_GUARD })

/** `allPostings`: a person said that it may select every posting of the account. */
export async function createDirectly(
  parts: DirectParts,
  body: CampaignCreate,
  allPostings: boolean,
): Promise<Direct> {
  const { api, store, clock, by, signal } = parts
  const targeting = canonical(body.targeting ?? {})
  const hasFilter = filtersOf(targeting) > 0 || targeting.externalCampaignId !== ''
  if (!hasFilter && !allPostings)
    return {
      kind: 'refused',
      reason: 'without targeting it would sponsor every posting of the account',
      hint: 'add --targeting, or --all-postings if that is meant',
      isUsage: true,
    }
  const planning = await planningOf(parts, targeting)
  if ('kind' in planning) return planning
  const selected = selectionOf(planning.input.effects, null, targeting)
  const refused =
    (allPostings ? null : planning.ledger.share(selected, planning.input.effects)) ??
    planning.ledger.create('(new)', createdValues(body))
  if (refused !== null) return byGuard(refused)
  const at = clock.now()
  const key = targeting.externalCampaignId
  const id = store.begin({
    at,
    key,
    campaignId: null,
    action: 'create',
    body,
    before: {},
    spend: 'up',
    why: 'a direct call',
    by,
  })
  const answer = await api.create(body, signal)
  if (answer.kind === 'ok') store.end(id, 'done', null, clock.now(), answer.value.id)
  else store.end(id, answer.effect, answer.reason, clock.now())
  return answer.kind === 'ok' ? { kind: 'ok', campaign: answer.value } : answer
}

export async function updateDirectly(
  parts: DirectParts,
  campaignId: string,
  body: CampaignUpdate,
): Promise<Direct> {
  const { api, store, clock, by, signal } = parts
  const read = await api.get(campaignId, signal)
  if (read.kind === 'failure') return read
  const record = store.records().find((one) => one.campaignId === campaignId) ?? null
  const targeting = body.targeting === undefined ? null : canonical(body.targeting)
  const known = record ?? adoptedRecord('', read.value)
  const goal = { values: valuesOf(body), ...(targeting && { targeting }) }
  const { reduce, raise } = compare(goal, { ...known, written: {}, said: {} }, read.value, [])
  if (raise !== null) {
    const planning = await planningOf(parts, targeting)
    if ('kind' in planning) return planning
    const { ledger, input } = planning
    const merged = { ...known, written: { ...known.written, ...goal.values } }
    const after = maySpend(
      {
        record: { ...merged, forms: {} },
        open: [],
        sights: [{ ...read.value, ...shownWith(body) }],
      },
      clock.now(),
    )
    const before = valueNow(known, read.value, 'budget')
    const refused =
      (targeting === null
        ? null
        : ledger.share(selectionOf(input.effects, record, targeting), input.effects)) ??
      ledger.raise(campaignId, after, before, raise.values)
    if (refused !== null) return byGuard(refused)
  }
  const at = clock.now()
  const spend = raise?.spend ?? reduce?.spend ?? 'neutral'
  const before = { ...reduce?.before, ...raise?.before }
  const write = { at, key: known.key, campaignId, action: 'update', body, before, spend } as const
  const id = store.begin({ ...write, why: 'a direct call', by })
  const answer = await api.update(campaignId, body, signal)
  store.atomically(() => {
    const sent = answer.kind === 'ok' || answer.effect === 'unknown'
    // What a person sent past the file may be there in place of the file's.
    if (record !== null && targeting !== null && sent)
      store.save({ ...record, uncertain: [...record.uncertain, targeting] })
    if (answer.kind === 'ok') store.end(id, 'done', null, clock.now())
    else store.end(id, answer.effect, answer.reason, clock.now())
  })
  return answer.kind === 'ok' ? { kind: 'ok', campaign: answer.value } : answer
}

const shownWith = ({ budget, endDate }: CampaignUpdate): Partial<Campaign> => ({
  ...(budget !== undefined && { budget }),
  ...(endDate !== undefined && { endDate }),
})

async function planningOf(
  parts: DirectParts,
  targeting: ReturnType<typeof canonical> | null,
): Promise<Planning | Refusal | CampaignFailure> {
  const { account, identity, clock, feeds, guards, list, signal, store } = parts
  const stopped = whyStopped(account, store.account()?.account ?? account)
  if (stopped !== null) return { kind: 'refused', reason: stopped.reason, hint: stopped.needs }
  const listing = await list(signal)
  if (listing.kind === 'failure') return listing
  const now = clock.now()
  const questions = targeting === null ? [] : [{ key: '', targeting, wanted: true }]
  const effects = await measure(feeds(), questions, now, signal)
  const incomplete = listing.kind === 'incomplete' ? listing.reason : null
  return new Planning({
    ...{
      desired: { campaigns: [], removed: [], guards },
      fileSha256: '',
      allowWiden: new Set<string>(),
    },
    ...{ account, identity, effects, now, countsReductions: false, ...memoryOf(store, now) },
    seen: { listed: listing.campaigns, read: new Map(), failed: new Map(), incomplete },
  })
}
