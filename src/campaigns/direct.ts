// The service's create and update at a person's command: under the same guards and in the same history as
// what the file asks for.

import type { Campaign, CampaignCreate, CampaignFailure, CampaignUpdate } from '../service/port.ts'
import { compare } from './compare.ts'
import { createdValues, selectionOf } from './creating.ts'
import type { Refusal } from './decide.ts'
import { type Guards, NOTHING_DESIRED } from './desired.ts'
import { measure } from './effects.ts'
import { valuesOf } from './fields.ts'
import { CHANGE_GUARD, Managed } from './manage.ts'
import { memoryOf, Planning } from './planning.ts'
import type { CampaignRecord, FeedSide, NewWrite } from './port.ts'
import { adoptedRecord, whyStopped } from './record.ts'
import { type ReconcilerParts, Sender } from './send.ts'
import { Snapshot } from './snapshot.ts'
import { type CanonicalTargeting, canonical, filtersOf } from './targeting.ts'

export interface DirectParts extends ReconcilerParts {
  feeds: () => FeedSide
  guards: Guards
  by: string
  signal: AbortSignal
}

export type Direct = { kind: 'ok'; campaign: Campaign } | Refusal | CampaignFailure

/** `allPostings`: a person said that it may select every posting of the account. */
export async function createDirectly(
  parts: DirectParts,
  body: CampaignCreate,
  allPostings: boolean,
): Promise<Direct> {
  const targeting = canonical(body.targeting ?? {})
  const { externalCampaignId: key } = targeting
  if (filtersOf(targeting) === 0 && key === '' && !allPostings) {
    const reason = 'without targeting it would sponsor every posting of the account'
    const hint = 'add --targeting, or --all-postings if that is meant'
    return { kind: 'refused', reason, hint, isUsage: true }
  }
  const planning = await planningOf(parts, allPostings ? null : targeting)
  if ('kind' in planning) return planning
  const { ledger, input } = planning
  const selected = allPostings ? null : selectionOf(input.effects, null, targeting)
  const refused =
    ledger.share(selected, input.effects) ?? ledger.create('(new)', createdValues(body))
  if (refused !== null) return { kind: 'refused', reason: refused, hint: CHANGE_GUARD }
  const row = { key, campaignId: null, action: 'create', body, before: {}, spend: 'up' } as const
  return send(parts, row, null)
}

export async function updateDirectly(
  parts: DirectParts,
  campaignId: string,
  body: CampaignUpdate,
): Promise<Direct> {
  const { api, store, signal } = parts
  const wrong = whyWrongAccount(parts)
  if (wrong !== null) return wrong
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
    const refused = new Managed(planning, known, read.value).guardAgainst(raise)
    if (refused !== null) return { kind: 'refused', reason: refused, hint: CHANGE_GUARD }
  }
  const spend = raise?.spend ?? reduce?.spend ?? 'neutral'
  const before = { ...reduce?.before, ...raise?.before }
  const row = { key: known.key, campaignId, action: 'update', body, before, spend } as const
  // What a person sent past the file may be there in place of the file's.
  const uncertain = targeting === null ? [] : [targeting]
  const mayBe = record && { ...record, uncertain: [...record.uncertain, ...uncertain] }
  return send(parts, row, mayBe)
}

/** The same id may be another campaign there. */
function whyWrongAccount({ account, store }: DirectParts): Refusal | null {
  const stopped = whyStopped(account, store.account()?.account)
  return stopped && { kind: 'refused', reason: stopped.reason, hint: stopped.needs }
}

/** `mayBe`: the record if it was carried out, or may have been. */
async function send(
  parts: DirectParts,
  row: Omit<NewWrite, 'at' | 'by' | 'why'>,
  mayBe: CampaignRecord | null,
): Promise<Direct> {
  const { store, by, signal } = parts
  const sender = new Sender(parts, by, signal)
  const { id, answer } = await sender.send({ ...row, why: 'a direct call' })
  store.atomically(() => {
    const isSent = answer.kind === 'ok' || answer.effect === 'unknown'
    if (isSent && mayBe !== null) store.save(mayBe)
    if (answer.kind === 'ok') sender.end(id, 'done', null, answer.value.id)
  })
  return answer.kind === 'ok' ? { kind: 'ok', campaign: answer.value } : answer
}

async function planningOf(
  parts: DirectParts,
  targeting: CanonicalTargeting | null,
): Promise<Planning | Refusal | CampaignFailure> {
  const { account, identity, clock, feeds, guards, signal, store } = parts
  const wrong = whyWrongAccount(parts)
  if (wrong !== null) return wrong
  const seen = new Snapshot(parts, signal)
  const failure = await seen.list()
  if (failure !== null) return failure
  const now = clock.now()
  const questions = targeting === null ? [] : [{ key: '', targeting, wanted: true }]
  const effects = await measure(feeds(), questions, now, signal)
  const file = { fileSha256: '', allowWiden: new Set<string>(), countsReductions: false }
  const desired = { ...NOTHING_DESIRED, guards }
  const memory = memoryOf(store, now)
  return new Planning({ desired, ...file, account, identity, effects, now, ...memory, seen })
}
