// The service's create and update at a person's command: under the same guards and in the same history as
// what the file asks for.

import { EXIT } from '../lib/errors.ts'
import type { Campaign, CampaignAnswer, CampaignCreate, CampaignUpdate } from '../service/port.ts'
import { compare, valueNow } from './compare.ts'
import { measure, selectionOf } from './effects.ts'
import { createdValues, FIELDS, rawOf, valuesOf } from './fields.ts'
import { UpdatePlanner } from './manage.ts'
import type { Held } from './plan.ts'
import { memoryOf, Planning } from './planning.ts'
import type { CampaignRecord, NewWrite } from './port.ts'
import { adoptedRecord } from './record.ts'
import { answered, checkAccount, refused } from './refused.ts'
import { mayHave, type PersonParts, Sender } from './send.ts'
import { Snapshot } from './snapshot.ts'
import { type CanonicalTargeting, canonical, filtersOf, readTargeting } from './targeting.ts'

/** Throws where targeting selects every posting and no person said so. */
function checkFilters(targeting: CanonicalTargeting, allPostings: boolean): void {
  const isAll = filtersOf(targeting) === 0 && targeting.externalCampaignId === ''
  if (!isAll || allPostings) return
  const reason = 'without targeting it would sponsor every posting of the account'
  const hint = 'name a filter in --targeting, or add --all-postings if that is meant'
  throw refused(reason, hint, EXIT.usage)
}

/** What a guard refuses is not sent. */
function check(guard: Held | null): void {
  if (guard !== null) throw refused(guard.reason, guard.needs)
}

/** `allPostings`: a person said that it may select every posting of the account. */
export async function createDirectly(
  parts: PersonParts,
  body: CampaignCreate,
  allPostings: boolean,
): Promise<CampaignAnswer<Campaign>> {
  const targeting = canonical(body.targeting ?? {})
  const { externalCampaignId: key } = targeting
  checkFilters(targeting, allPostings)
  const { ledger, input } = await planningOf(parts, allPostings ? null : targeting)
  const selected = allPostings ? null : selectionOf(input.effects, null, targeting)
  check(ledger.share(selected, input.effects) ?? ledger.create('(new)', createdValues(body)))
  const row = { key, campaignId: null, action: 'create', body, before: {}, spend: 'up' } as const
  return send(parts, row, null)
}

export async function updateDirectly(
  parts: PersonParts,
  campaignId: string,
  body: CampaignUpdate,
  allPostings = false,
): Promise<CampaignAnswer<Campaign>> {
  const { api, store, signal } = parts
  // The same id may be another campaign there.
  checkAccount(parts)
  const read = answered(await api.get(campaignId, signal))
  const record = store.records().find((one) => one.campaignId === campaignId) ?? null
  const targeting = body.targeting === undefined ? null : canonical(body.targeting)
  const known = record ?? adoptedRecord('', read.value)
  const goal = { values: valuesOf(body), ...(targeting && { targeting }) }
  const { reduce, raise } = compare(goal, asShown(known, read.value), read.value, [])
  if (raise !== null) {
    const planning = await planningOf(parts, targeting)
    check(new UpdatePlanner(planning, known, read.value).guardAgainst(raise))
    if (targeting !== null) checkFilters(targeting, allPostings)
  }
  const spend = raise?.spend ?? reduce?.spend ?? 'neutral'
  const before = { ...raise?.before, ...reduce?.before }
  const row = { key: known.key, campaignId, action: 'update', body, before, spend } as const
  // What a person sent past the file may be there in place of the file's.
  const mayBe = record && targeting && mayHave(record, targeting)
  return send(parts, row, mayBe)
}

/** As if what the service shows were agreed: a direct call changes that, whatever the file says. */
function asShown(record: CampaignRecord, campaign: Campaign): CampaignRecord {
  const values = FIELDS.map((field) => [field, valueNow(record, campaign, field)] as const)
  const written = Object.fromEntries(values.filter(([, value]) => value !== undefined))
  const shown = readTargeting(rawOf(campaign, 'targeting'))
  const uncertain = shown === null ? record.uncertain : [...record.uncertain, shown]
  return { ...record, written, uncertain, said: {} }
}

/** `mayBe`: the record if it was carried out, or may have been. */
async function send(
  parts: PersonParts,
  row: Omit<NewWrite, 'at' | 'by' | 'why'>,
  mayBe: CampaignRecord | null,
): Promise<CampaignAnswer<Campaign>> {
  const { store } = parts
  const sender = new Sender(parts)
  const { id, answer } = await sender.send({ ...row, why: 'a direct call', isDirect: true })
  store.atomically(() => {
    const isSent = answer.kind === 'ok' || answer.effect === 'unknown'
    if (isSent && mayBe !== null) store.save(mayBe)
    if (answer.kind === 'ok') sender.end(id, 'done', null, answer.value.id)
  })
  return answer
}

/** What the guards go by. Throws `FeedsyncError`. `words`: entries that are new besides, and what they are not. */
export async function planningOf(
  parts: PersonParts,
  targeting: CanonicalTargeting | null,
  words: readonly (readonly [key: string, excluded: readonly string[]])[] = [],
): Promise<Planning> {
  const { account, identity, clock, feeds, signal, store, unusable } = parts
  checkAccount(parts)
  if (unusable != null) throw unusable
  const seen = new Snapshot(parts, signal)
  const failure = await seen.list()
  if (failure !== null) answered(failure)
  const now = clock.now()
  const questions = targeting === null ? [] : [{ key: '', targeting, wanted: true }]
  const effects = await measure(feeds(), questions, now, signal)
  const file = { fileSha256: '', allowWiden: new Set<string>(), countsReductions: false }
  const memory = memoryOf(store, now)
  const newEntries = new Map([...memory.newEntries, ...words])
  const { desired } = parts
  return new Planning({
    ...{ ...memory, ...file, newEntries, desired, account, identity, effects, now, seen },
  })
}
