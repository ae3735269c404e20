// Makes the plan: finds the campaign of each entry, compares, and lets the guards hold what can raise
// spending. Reductions are never held. Pure: what it knows of the service was listed or read before.

import { isoTime } from '../lib/clock.ts'
import type { Campaign } from '../service/port.ts'
import { create, whyUnknown } from './creation.ts'
import type { DesiredCampaign, Removal } from './desired.ts'
import { FIELDS, rawOf } from './fields.ts'
import { type CampaignState, campaignState, feedFindings, findingsOf } from './findings.ts'
import { showMoney } from './ledger.ts'
import { campaignOf, isHeld, UpdatePlanner } from './manage.ts'
import {
  COMMAND,
  heldBy,
  isReady,
  isReduction,
  later,
  type Plan,
  type PlanItem,
  quoted,
} from './plan.ts'
import { isUnsettled, type PlanInput, Planning, whyNotGone } from './planning.ts'
import type { CampaignRecord, CampaignWrite } from './port.ts'
import { adoptedRecord, named, namesAnother, wayFrom } from './record.ts'
import { whyStopped } from './refused.ts'
import { readTargeting } from './targeting.ts'

export function makePlan(input: PlanInput): { plan: Plan; campaigns: CampaignState[] } {
  const { account, desired, facts, fileSha256, now, seen, allowWiden } = input
  const planning = new Planning(input)
  const before = showMoney(planning.ledger.total())
  for (const entry of desired.campaigns) consider(planning, entry)
  for (const removal of desired.removed) remove(planning, removal)
  for (const sent of planning.creates.values()) outside(planning, sent)
  for (const judge of planning.raises) judge()
  const items = planning.items.sort((a, b) => rank(a) - rank(b))
  const count = (isMeant: (item: PlanItem) => boolean) => items.filter(isMeant).length
  const plan: Plan = {
    planVersion: 2,
    createdAt: isoTime(now) ?? '',
    ...{ fileSha256, items, allowWiden: [...allowWiden] },
    stopped: whyStopped(account, facts?.account),
    listing: {
      complete: seen.incomplete === null,
      campaigns: seen.listed.size,
      reason: seen.incomplete,
    },
    findings: [...planning.findings, ...findingsOf(planning)],
    feed: feedFindings(planning),
    summary: {
      reduce: count((item) => isReady(item) && isReduction(item)),
      update: count((item) => isReady(item) && item.method === 'PUT' && !isReduction(item)),
      create: count((item) => isReady(item) && item.action === 'create'),
      held: count(({ held }) => held !== null && held.code !== 'unknown'),
      unknown: count(({ held }) => held?.code === 'unknown'),
      unchanged: planning.unchanged,
    },
    exposure: {
      before,
      after: showMoney(planning.ledger.total()),
      limit: showMoney(desired.guards.maxExposure),
    },
  }
  return { plan, campaigns: input.records.map((record) => campaignState(planning, record)) }
}

function consider(planning: Planning, entry: DesiredCampaign) {
  const { key, campaignId } = entry
  const { seen } = planning.input
  const record = planning.records.get(key)
  const owner = campaignId === null ? undefined : planning.byId.get(campaignId)
  if (owner !== undefined && owner.key !== key) {
    const its = planning.input.desired.campaigns.find((one) => one.key === owner.key)
    const isFree = its === undefined ? !planning.keys.has(owner.key) : namesAnother(its, owner)
    if (record === undefined && isFree) {
      const why = `the entry ${owner.key} is called ${key} now`
      return takeOver(planning, entry, { ...owner, key, succeeding: false }, why)
    }
    const reason = `campaign ${campaignId} belongs to the entry ${owner.key}`
    const needs =
      record !== undefined && planning.movesOn(record)
        ? `${COMMAND} apply --yes, then plan again: campaign ${record.campaignId} goes to another entry first`
        : `correct campaignId${wayFrom(owner, key, record === undefined)}`
    return planning.hold(key, campaignId, heldBy('foreign', reason, needs))
  }
  if (record !== undefined) {
    if (campaignId !== null && record.campaignId !== campaignId) {
      const reason = `the file names campaign ${campaignId}, and campaign ${record.campaignId} is managed for this entry; nothing is written to either`
      const needs = `${COMMAND} adopt ${quoted(key)} ${campaignId}, or correct campaignId`
      return planning.hold(key, record.campaignId, heldBy('conflict', reason, needs))
    }
    const campaign = campaignOf(planning, record)
    if (isHeld(campaign)) {
      const isSought = record.succeeding && campaign.code === 'lost'
      const held = isSought ? whyNotGone(record, planning.input.now) : campaign
      return held === null ? create(planning, entry) : planning.hold(key, record.campaignId, held)
    }
    const managed = new UpdatePlanner(planning, record, campaign)
    if (!record.succeeding) return managed.follow(entry, false)
    return managed.stop() ? create(planning, entry) : undefined
  }
  if (campaignId === null || isUnsettled(planning.creates.get(key))) return create(planning, entry)
  const found = planning.campaigns.get(campaignId)
  if (found?.id === campaignId) return adopt(planning, entry, found)
  const failed = seen.failed.get(campaignId)
  const reason =
    found === undefined
      ? `campaign ${campaignId} is not on the service`
      : `the service answers with campaign ${found.id} when it is asked for ${campaignId}`
  const wrong = heldBy('entry', reason, 'correct its campaignId', 'campaignId')
  planning.hold(key, campaignId, failed === undefined ? wrong : later(failed))
}

function adopt(planning: Planning, entry: DesiredCampaign, found: Campaign) {
  const record = adoptedRecord(entry.key, found)
  const owner = planning.absence.ownerOf(found)
  if (owner === undefined || owner === entry.key) {
    const why = `campaign ${named(found)} is managed from now on`
    // What is approved is what the plan shows of it: nothing is known that somebody's change is told from.
    const shown = FIELDS.map((field) => [field, rawOf(found, field) ?? null] as const)
    const targeting = readTargeting(rawOf(found, 'targeting') ?? 0)
    return takeOver(planning, entry, record, why, { ...Object.fromEntries(shown), targeting })
  }
  const reason = `campaign ${named(found)} carries the mark of the entry ${owner}`
  planning.hold(entry.key, found.id, heldBy('foreign', reason, 'correct its campaignId'))
}

/** A campaign that was not this entry's before: a person approves it, with everything that is sent. */
function takeOver(
  planning: Planning,
  entry: DesiredCampaign,
  record: CampaignRecord,
  why: string,
  before: PlanItem['before'] = {},
) {
  const { key, campaignId } = record
  const campaign = campaignOf(planning, record)
  if (isHeld(campaign)) return planning.hold(key, campaignId, campaign)
  planning.add({ key, campaignId, action: 'adopt', why, before, approval: true })
  new UpdatePlanner(planning, record, campaign).follow(entry, true)
}

/** A create without an answer that no entry waits for may spend all the same. */
function outside(planning: Planning, sent: CampaignWrite) {
  const { key } = sent
  const isSaid = planning.items.some((item) => item.key === key && item.held?.code === 'unknown')
  if (!isUnsettled(sent) || isSaid || key === '') return
  const why = whyUnknown(planning, sent)
  const kept = planning.records.get(key)?.campaignId
  const needs = `look on the service, then: ${COMMAND} adopt ${quoted(key)} ${kept} ends the wait for it`
  planning.hold(key, null, kept === undefined ? why : { ...why, needs })
}

function remove(planning: Planning, removal: Removal) {
  const { key } = removal
  const record = planning.records.get(key)
  if (record !== undefined) {
    const campaign = campaignOf(planning, record)
    if (!isHeld(campaign)) return new UpdatePlanner(planning, record, campaign).end(removal)
    const needs = `nothing, or when it is gone for good: ${COMMAND} forget ${quoted(key)}`
    const held = campaign.code === 'lost' ? { ...campaign, needs } : campaign
    return planning.hold(key, record.campaignId, held)
  }
  const made = planning.creates.get(key)
  if (isUnsettled(made)) {
    const needs = `nothing, or when it is found on the service: ${COMMAND} adopt ${quoted(key)} ID, or when it is not: ${COMMAND} create ${quoted(key)} --new`
    return planning.hold(key, null, { ...whyUnknown(planning, made), needs })
  }
  const marked = planning.absence.marked(key)
  const [first] = marked
  const known = first && `${marked.map(named).join(', ')} may be it`
  planning.findings.push({
    ...{ code: 'no-campaign', key, campaignId: first?.id ?? null, maySpend: null },
    text: `to be ended, and ${known ?? 'no campaign is known for it'}`,
    needs: first === undefined ? null : `${COMMAND} adopt ${quoted(key)} ${first.id}`,
    isReported: first !== undefined,
  })
}

/**
 * What is taken over, since its own writes need it, and sends nothing; then reductions, neutral changes,
 * raises, creates, and last what waits for a person.
 */
function rank({ action, spend, held }: PlanItem): number {
  if (held !== null) return 6
  if (action === 'update') return { down: 1, neutral: 2, up: 3, unknown: 3 }[spend]
  return action === 'adopt' ? 0 : action === 'create' ? 4 : 5
}
