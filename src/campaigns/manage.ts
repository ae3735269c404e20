// Plans what is written to a campaign that belongs to an entry. Its reductions are items at once; what can
// raise spending is judged later, and held by a reason and the one command that decides. Pure.

import { isoTime, MINUTE } from '../lib/clock.ts'
import type { Campaign } from '../service/port.ts'
import { whyForeign } from './absence.ts'
import { compare, type Difference, type Goal, type Part, valueNow } from './compare.ts'
import { goalOf, selectionOf } from './creating.ts'
import type { DesiredCampaign, Removal } from './desired.ts'
import { type MaySpend, maySpendWith, showMoney } from './ledger.ts'
import { COMMAND, type Held, quoted } from './plan.ts'
import { heldBy, later, type Planning } from './planning.ts'
import type { CampaignRecord } from './port.ts'

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
  const { key, campaignId } = record
  const found = compare(goalOf(entry, record), record, campaign, planning.openOf(campaignId))
  report(planning, record, found.differences)
  for (const { field, from, to } of found.fixed) {
    const reason = `${field}: ${from} cannot become ${to}: the service does not allow changing this after creation`
    const needs = `${COMMAND} create ${quoted(key)} --new stops campaign ${campaignId} and makes a successor as the file says`
    planning.add({ key, campaignId, held: heldBy('fixed', reason, needs) })
  }
  const { reduce, neutral, raise } = found
  const isSame = reduce === null && neutral === null && raise === null
  if (isSame && found.fixed.length + found.differences.length === 0) planning.unchanged++
  if (reduce !== null) {
    add(planning, record, campaign, reduce, { held: null, approval })
    if (planning.input.countsReductions && !approval)
      planning.ledger.set(campaignId, spendsAfter(planning, record, campaign, reduce))
  }
  const isArchived = valueNow(record, campaign, 'status') === 'archived'
  const archived = isArchived
    ? heldBy('state', 'it is archived on the service', 'have it resumed there first')
    : null
  if (neutral !== null) add(planning, record, campaign, neutral, { held: archived, approval })
  if (raise === null) {
    if (record.doubt !== null)
      planning.add({ key, campaignId, held: doubted(record, record.doubt) })
    return
  }
  // A raise is counted on top of what the entry lowers.
  const lowered = reduce !== null && planning.input.countsReductions ? reduce.values : {}
  const whole = { ...raise, values: { ...lowered, ...raise.values } }
  const after = spendsAfter(planning, record, campaign, whole)
  planning.raises.push(() => {
    const held =
      archived ??
      whyNotRaised(planning, record, campaign, raise) ??
      refusedBy(planning, record, campaign, raise, after)
    add(planning, record, campaign, raise, { held, approval: approval || raise.isBlind, after })
  })
}

/** Ends the campaign of an entry under `removed`; an end that came earlier is as good. */
export function end(
  planning: Planning,
  { endDate }: Removal,
  record: CampaignRecord,
  campaign: Campaign,
): void {
  const found = compare(
    { values: { endDate } },
    record,
    campaign,
    planning.openOf(record.campaignId),
  )
  const isLater = (one: Difference) =>
    !one.isConflict && (one.service === 'no end' || one.service > one.file)
  const { reduce } = found
  report(planning, record, found.differences.filter(isLater))
  if (reduce === null) planning.unchanged++
  else
    add(planning, record, campaign, reduce, {
      held: null,
      approval: false,
      why: 'listed under removed',
    })
}

/** A person asked for a successor: the campaign is paused. Answers whether that is seen already. */
export function stop(planning: Planning, record: CampaignRecord, campaign: Campaign): boolean {
  if (valueNow(record, campaign, 'status') !== 'running' || planning.isOver(record)) return true
  const running: CampaignRecord = { ...record, written: { ...record.written, status: 'running' } }
  const goal: Goal = { values: { status: 'paused' } }
  const { reduce } = compare(goal, running, campaign, [])
  if (reduce !== null)
    add(planning, record, campaign, reduce, {
      held: null,
      approval: false,
      why: 'its successor takes its place',
    })
  return false
}

function report(
  planning: Planning,
  { key, campaignId }: CampaignRecord,
  all: readonly Difference[],
): void {
  for (const { field, file, service, isConflict, isKept } of all) {
    const needs = `write ${service} into the file, or: ${COMMAND} resolve ${quoted(key)} --revert`
    const at = { key, campaignId }
    if (isConflict) {
      const reason = `${field}: the file says ${file} now, and it was changed on the service to ${service}`
      planning.add({ ...at, held: heldBy('conflict', reason, needs) })
      continue
    }
    planning.findings.push({
      ...{ ...at, code: isKept ? 'kept' : 'drift', maySpend: null, isTold: !isKept },
      text: `${field} was changed on the service from ${file} to ${service}; it is left alone`,
      needs: isKept ? null : `${needs}, or ${COMMAND} resolve ${quoted(key)} --accept`,
    })
  }
}

function add(
  planning: Planning,
  record: CampaignRecord,
  campaign: Campaign,
  part: Part,
  {
    held,
    approval,
    why = 'the file changed',
    after = spendsAfter(planning, record, campaign, part),
  }: { held: Held | null; approval: boolean; why?: string; after?: MaySpend },
): void {
  const { key, campaignId } = record
  const { body, before, spend, changes, values, targeting } = part
  planning.add({
    ...{ key, campaignId, action: 'update', method: 'PUT', body, before, spend, changes },
    ...{ values, targeting, held, approval, why },
    money: {
      before: showMoney(planning.ledger.get(campaignId) ?? null),
      after: showMoney(after),
    },
    postings: targeting === null ? null : selectionOf(planning.input.effects, record, targeting),
  })
}

/** What it may spend once the part is done and nothing else happened. */
function spendsAfter(
  { input }: Planning,
  record: CampaignRecord,
  campaign: Campaign,
  { values }: Part,
) {
  const now = (field: 'budget' | 'endDate' | 'period') =>
    values[field] ?? valueNow(record, campaign, field)
  const known = {
    budget: now('budget') ?? null,
    endDate: values.endDate === null ? null : (now('endDate') ?? null),
  }
  return maySpendWith({ ...known, period: now('period') ?? 'monthly' }, input.now)
}

function refusedBy(
  planning: Planning,
  record: CampaignRecord,
  campaign: Campaign,
  raise: Part,
  after: MaySpend,
): Held | null {
  const { ledger, input } = planning
  const { campaignId } = record
  const selected =
    raise.targeting === null ? null : selectionOf(input.effects, record, raise.targeting)
  const refused =
    ledger.share(selected, input.effects) ??
    ledger.raise(campaignId, after, valueNow(record, campaign, 'budget'), raise.values)
  return refused === null ? null : heldBy('guard', refused, CHANGE_GUARD)
}

function whyNotRaised(
  planning: Planning,
  record: CampaignRecord,
  campaign: Campaign,
  raise: Part,
): Held | null {
  const { absence, input, shrunk } = planning
  const { allowWiden, effects, now } = input
  const { key, campaignId, doubt, past } = record
  if (shrunk !== null) return shrunk
  const twins = absence.marked(key).map(({ id }) => id)
  if (twins.length > 0) {
    const needs = `have all but one archived on the service, then for each of these: ${COMMAND} forget ID`
    return heldBy(
      'twin',
      `the campaigns ${[campaignId, ...twins].join(', ')} all carry the mark of this entry`,
      needs,
    )
  }
  const again = past.find(
    (id) => planning.campaigns.has(id) && planning.runs(planning.campaigns.get(id) as Campaign),
  )
  if (again !== undefined)
    return heldBy(
      'twin',
      `campaign ${again}, which came before it, runs again`,
      'pause or archive it on the service',
    )
  if (doubt !== null) return doubted(record, doubt)
  const isPaused = valueNow(record, campaign, 'status') === 'paused'
  if (isPaused && record.written.status !== 'paused' && raise.values.status === undefined)
    return heldBy(
      'state',
      'it is paused on the service, so nothing is raised',
      'write status: running into the entry, or have it resumed there',
    )
  const young = planning
    .openOf(campaignId)
    .find(
      (write) =>
        write.at > now - LATE_ARRIVAL && JSON.stringify(write.body) !== JSON.stringify(raise.body),
    )
  if (young !== undefined)
    return later(
      `an earlier write may still arrive; nothing else is raised before ${isoTime(young.at + LATE_ARRIVAL)}`,
    )
  const state = effects.stateOf(key)
  if (state.kind === 'vanished')
    return heldBy(
      'state',
      `gone from ${state.uploads} feeds in a row, so nothing is raised`,
      'have the feed carry it again, or end the campaign under removed:',
    )
  const widens = raise.changes.find((change) => change.widens)
  if (widens === undefined || allowWiden.has(key)) return null
  const reason = `the last value of ${widens.path} goes: ${widens.before} -> any`
  return heldBy('widen', reason, `${COMMAND} apply --yes --allow-widen ${quoted(key)}`)
}

const doubted = ({ key }: CampaignRecord, doubt: string): Held =>
  heldBy(
    'doubt',
    doubt,
    `look at it on the service, then: ${COMMAND} resolve ${quoted(key)} --checked`,
  )
