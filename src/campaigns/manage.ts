// Plans what is written to a campaign that belongs to an entry. Its reductions are items at once; what can
// raise spending is judged later, and held by a reason and the one command that decides. Pure.

import { isoTime, MINUTE } from '../lib/clock.ts'
import type { Campaign } from '../service/port.ts'
import { compare, type Difference, type Part, valueNow } from './compare.ts'
import { goalOf, selectionOf } from './creating.ts'
import type { DesiredCampaign, Removal } from './desired.ts'
import { type MaySpend, maySpendWith, showMoney } from './ledger.ts'
import { COMMAND, type Held, quoted } from './plan.ts'
import { heldBy, later, type Planning } from './planning.ts'
import type { CampaignRecord } from './port.ts'
import { whyForeign } from './record.ts'

/** After a PUT without an answer: it may still arrive, on top of a later one. */
const LATE_ARRIVAL = 2 * MINUTE
export const CHANGE_GUARD = 'change the guard or the entry in the file'

/** The campaign of a record, or why nothing can be written to it. */
export function campaignOf(planning: Planning, record: CampaignRecord): Campaign | Held {
  const { key, campaignId } = record
  const campaign = planning.campaigns.get(campaignId)
  if (campaign === undefined) {
    const failed = planning.input.seen.failed.get(campaignId)
    if (failed !== undefined) return later(failed)
    const reason = `campaign ${campaignId} is not found on the service; it is not made again`
    const needs = `${COMMAND} create ${quoted(key)} --new makes another one, once it is gone for an hour`
    return heldBy('lost', reason, needs)
  }
  const foreign = whyForeign(record, campaign)
  if (foreign === null) return campaign
  const needs = `${COMMAND} forget ${quoted(key)}, then name the right campaign`
  return heldBy('foreign', `${foreign}; nothing is written to it`, needs)
}

export const isHeld = (found: Campaign | Held): found is Held => 'code' in found

/** `approval`: the daemon waits for a person, since the campaign was not ours before. */
export function manage(
  planning: Planning,
  entry: DesiredCampaign,
  record: CampaignRecord,
  campaign: Campaign,
  approval: boolean,
): void {
  const { key, campaignId, doubt } = record
  const { ledger, input } = planning
  const open = planning.openOf(campaignId)
  const found = compare(goalOf(entry, record), record, campaign, open)
  const { reduce, neutral, raise, differences } = found
  report(planning, record, differences)
  if ([reduce, neutral, raise].every((part) => part === null) && differences.length === 0)
    planning.unchanged++
  const add = (
    part: Part,
    held: Held | null,
    after = spendsAfter(planning, record, campaign, part),
  ) =>
    addUpdate(planning, record, part, {
      held,
      approval: approval || (part === raise && raise.isBlind),
      after,
    })
  if (reduce !== null) {
    add(reduce, null)
    if (input.countsReductions && !approval)
      ledger.set(campaignId, spendsAfter(planning, record, campaign, reduce))
  }
  const isArchived = valueNow(record, campaign, 'status') === 'archived'
  const archived = isArchived
    ? heldBy('state', 'it is archived on the service', 'have it resumed there first')
    : null
  if (neutral !== null) add(neutral, archived)
  if (raise === null && doubt !== null) planning.hold(key, campaignId, doubted(key, doubt))
  if (raise === null) return
  // A raise is counted on top of what the entry lowers.
  const lowered = input.countsReductions ? reduce?.values : {}
  const whole = { values: { ...lowered, ...raise.values } }
  const after = spendsAfter(planning, record, campaign, whole)
  planning.raises.push(() => {
    const why = archived ?? whyNotRaised(planning, record, campaign, raise)
    add(raise, why ?? refusedBy(planning, record, campaign, raise, after), after)
  })
}

/** Ends the campaign of an entry under `removed`; an end that came earlier is as good. */
export function end(
  planning: Planning,
  { endDate }: Removal,
  record: CampaignRecord,
  campaign: Campaign,
): void {
  const open = planning.openOf(record.campaignId)
  const { reduce, differences } = compare({ values: { endDate } }, record, campaign, open)
  const isLater = ({ kind, service, file }: Difference) =>
    kind !== 'conflict' && (service === 'no end' || service > file)
  report(planning, record, differences.filter(isLater))
  if (reduce === null) planning.unchanged++
  else lower(planning, record, campaign, reduce, 'listed under removed')
}

/** A person asked for a successor: the campaign is paused. Answers whether that is seen already. */
export function stop(planning: Planning, record: CampaignRecord, campaign: Campaign): boolean {
  if (valueNow(record, campaign, 'status') !== 'running' || planning.isOver(record)) return true
  const running: CampaignRecord = { ...record, written: { ...record.written, status: 'running' } }
  const { reduce } = compare({ values: { status: 'paused' } }, running, campaign, [])
  if (reduce !== null) lower(planning, record, campaign, reduce, 'its successor takes its place')
  return false
}

function lower(
  planning: Planning,
  record: CampaignRecord,
  campaign: Campaign,
  part: Part,
  why: string,
): void {
  const after = spendsAfter(planning, record, campaign, part)
  addUpdate(planning, record, part, { held: null, approval: false, after, why })
}

function report(
  planning: Planning,
  { key, campaignId }: CampaignRecord,
  differences: readonly Difference[],
): void {
  for (const { field, file, service, kind } of differences) {
    const needs = `write ${service} into the file, or: ${COMMAND} resolve ${quoted(key)} --revert`
    if (kind === 'fixed') {
      const reason = `${field}: ${service} cannot become ${file}: the service does not allow changing this after creation`
      const successor = `${COMMAND} create ${quoted(key)} --new stops campaign ${campaignId} and makes a successor as the file says`
      planning.hold(key, campaignId, heldBy('fixed', reason, successor))
    } else if (kind === 'conflict') {
      const reason = `${field}: the file says ${file} now, and it was changed on the service to ${service}`
      planning.hold(key, campaignId, heldBy('conflict', reason, needs))
    } else {
      const isKept = kind === 'kept'
      planning.findings.push({
        ...{ key, campaignId, code: kind, maySpend: null, isTold: !isKept },
        text: `${field} was changed on the service from ${file} to ${service}; it is left alone`,
        needs: isKept ? null : `${needs}, or ${COMMAND} resolve ${quoted(key)} --accept`,
      })
    }
  }
}

function addUpdate(
  planning: Planning,
  record: CampaignRecord,
  { isBlind: _, ...part }: Part,
  rest: { held: Held | null; approval: boolean; after: MaySpend; why?: string },
): void {
  const { key, campaignId } = record
  const { after, why = 'the file changed', ...state } = rest
  const { effects } = planning.input
  const before = showMoney(planning.ledger.get(campaignId) ?? null)
  const { targeting } = part
  planning.add({
    ...{ key, campaignId, action: 'update', method: 'PUT', why, ...part, ...state },
    money: { before, after: showMoney(after) },
    postings: targeting === null ? null : selectionOf(effects, record, targeting),
  })
}

/** What it may spend once this is done and nothing else happened. */
function spendsAfter(
  { input }: Planning,
  record: CampaignRecord,
  campaign: Campaign,
  { values }: Pick<Part, 'values'>,
): MaySpend {
  const now = (field: 'budget' | 'endDate' | 'period') =>
    values[field] === undefined ? (valueNow(record, campaign, field) ?? null) : values[field]
  const period = now('period') ?? 'monthly'
  return maySpendWith({ budget: now('budget'), endDate: now('endDate'), period }, input.now)
}

function refusedBy(
  { ledger, input }: Planning,
  record: CampaignRecord,
  campaign: Campaign,
  { targeting, values }: Part,
  after: MaySpend,
): Held | null {
  const { effects } = input
  const selected = targeting === null ? null : selectionOf(effects, record, targeting)
  const budget = valueNow(record, campaign, 'budget')
  const refused =
    ledger.share(selected, effects) ?? ledger.raise(record.campaignId, after, budget, values)
  return refused === null ? null : heldBy('guard', refused, CHANGE_GUARD)
}

function whyNotRaised(
  planning: Planning,
  record: CampaignRecord,
  campaign: Campaign,
  raise: Part,
): Held | null {
  const { absence, campaigns, input, shrunk } = planning
  const { key, campaignId, doubt, past, written } = record
  if (shrunk !== null) return shrunk
  const twins = absence.marked(key).map(({ id }) => id)
  if (twins.length > 0) {
    const reason = `the campaigns ${[campaignId, ...twins].join(', ')} all carry the mark of this entry`
    const needs = `have all but one archived on the service, then for each of these: ${COMMAND} forget ID`
    return heldBy('twin', reason, needs)
  }
  const again = past.flatMap((id) => campaigns.get(id) ?? []).find((one) => planning.runs(one))
  if (again !== undefined) {
    const reason = `campaign ${again.id}, which came before it, runs again`
    return heldBy('twin', reason, 'pause or archive it on the service')
  }
  if (doubt !== null) return doubted(key, doubt)
  const isPaused = valueNow(record, campaign, 'status') === 'paused'
  if (isPaused && written.status !== 'paused' && raise.values.status === undefined) {
    const needs = 'write status: running into the entry, or have it resumed there'
    return heldBy('state', 'it is paused on the service, so nothing is raised', needs)
  }
  const isOther = (body: unknown) => JSON.stringify(body) !== JSON.stringify(raise.body)
  const young = planning
    .openOf(campaignId)
    .find(({ at, body }) => at > input.now - LATE_ARRIVAL && isOther(body))
  if (young !== undefined) {
    const until = isoTime(young.at + LATE_ARRIVAL)
    return later(`an earlier write may still arrive; nothing else is raised before ${until}`)
  }
  const state = input.effects.stateOf(key)
  if (state.kind === 'vanished') {
    const reason = `gone from ${state.uploads} feeds in a row, so nothing is raised`
    return heldBy(
      'state',
      reason,
      'have the feed carry it again, or end the campaign under removed:',
    )
  }
  const widens = raise.changes.find((change) => change.widens)
  if (widens === undefined || input.allowWiden.has(key)) return null
  const reason = `the last value of ${widens.path} goes: ${widens.before} -> any`
  return heldBy('widen', reason, `${COMMAND} apply --yes --allow-widen ${quoted(key)}`)
}

function doubted(key: string, doubt: string): Held {
  const needs = `look at it on the service, then: ${COMMAND} resolve ${quoted(key)} --checked`
  return heldBy('doubt', doubt, needs)
}
