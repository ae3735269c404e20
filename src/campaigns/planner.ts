// Makes the plan: finds the campaign of each entry, compares, and lets the guards hold what can raise
// spending. Reductions are never held. Pure: what it knows of the service was listed or read before.

import { DAY, isoTime } from '../lib/clock.ts'
import { isDue, isRecent } from '../lib/due.ts'
import type { Campaign } from '../service/port.ts'
import { creationOf, tokenFor, whyLetGo, whyNotWhole, whyRenamed } from './creation.ts'
import { type DesiredCampaign, type Removal, wantedTargeting } from './desired.ts'
import { selectionOf } from './effects.ts'
import { FIELDS, rawOf } from './fields.ts'
import { type CampaignState, campaignState, feedFindings, findingsOf } from './findings.ts'
import { maySpendWith, showMoney } from './ledger.ts'
import { campaignOf, isHeld, UpdatePlanner } from './manage.ts'
import {
  COMMAND,
  type Held,
  isReady,
  isReduction,
  type Plan,
  type PlanItem,
  quoted,
} from './plan.ts'
import {
  heldBy,
  isUnsettled,
  LATEST_LISTING,
  later,
  type PlanInput,
  Planning,
  WITHOUT_ID,
  whyNotGone,
} from './planning.ts'
import type { CampaignRecord, CampaignWrite } from './port.ts'
import { adoptedRecord, named, namesAnother, wayFrom } from './record.ts'
import { whyStopped } from './refused.ts'
import { readTargeting } from './targeting.ts'
import { bareName } from './token.ts'

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

/** The one way to a new campaign: what was sent before without a known end comes first. */
function create(planning: Planning, entry: DesiredCampaign) {
  const { key, campaignId } = entry
  const { input, ledger } = planning
  const sent = planning.creates.get(key)
  if (isUnsettled(sent)) return planning.hold(key, null, whyUnknown(planning, sent))
  if (campaignId !== null) {
    const reason = `a successor was asked for, and the entry names campaign ${campaignId}`
    const needs = `${WITHOUT_ID}, or to keep it: ${COMMAND} adopt ${quoted(key)} ${campaignId}`
    return planning.hold(key, campaignId, heldBy('conflict', reason, needs, 'successor'))
  }
  const { effects, facts, now } = input
  planning.raises.push(() => {
    const made = creationOf(entry, tokenFor(planning, key))
    const postings = selectionOf(effects, null, wantedTargeting(entry))
    const why = planning.truncated ?? whyNotCreated(planning, entry)
    const guard =
      why === null && (ledger.share(postings, effects) ?? ledger.create(key, made.values))
    const last = planning.creates.get(key)
    const isSame = JSON.stringify(last?.body) === JSON.stringify(made.body)
    const isRefused = last?.outcome === 'refused' && isRecent(last.at, now, DAY) && isSame
    const isFirst = facts?.approvedAt == null
    const first = isFirst ? '; the first plan of a database is approved by a person' : ''
    planning.add({
      ...{ key, action: 'create', method: 'POST', spend: 'up', postings, ...made },
      held: guard ? heldBy('guard', guard.reason, guard.needs, guard.guard) : why,
      money: { before: '0.00', after: showMoney(maySpendWith(made.values, now)) },
      approval: isFirst || isRefused,
      why: isRefused
        ? `the service refused it at ${isoTime(last.at)}: ${last.reason}`
        : `new in the file${first}`,
    })
  })
}

/** What would hold a new campaign of the entry now; null: nothing. Nothing else can be planned with it. */
export function heldCreation(planning: Planning, entry: DesiredCampaign): Held | null {
  create(planning, entry)
  for (const judge of planning.raises) judge()
  return planning.items.find(({ key }) => key === entry.key)?.held ?? null
}

function whyNotCreated(planning: Planning, entry: DesiredCampaign): Held | null {
  const { absence, input } = planning
  const { key, name } = entry
  const { incomplete } = input.seen
  if (incomplete !== null) return later(`the listing is not complete: ${incomplete}`)
  const renamed = input.newEntries.has(key) ? null : whyRenamed(planning, entry)
  if (renamed !== null) return renamed
  const { count, likeliest: candidates } = absence.candidates(key, name, MOST)
  const [likeliest] = candidates
  if (likeliest === undefined)
    return (
      whyNotWhole(entry, input.now) ??
      whyShared(input, key) ??
      whyTooEarly(input) ??
      whyNotListed(planning, key) ??
      whyLetGo(planning, key)
    )
  const more = count > MOST ? ` and ${count - MOST} more` : ''
  const all = candidates.map(named).join(', ')
  const needs = `${COMMAND} adopt ${quoted(key)} ${likeliest.id} if that is it; ${COMMAND} create ${quoted(key)} --new if none of them is`
  return heldBy('absence', `it may be there already: ${all}${more}`, needs, 'candidates')
}

/** Candidates that are named. */
const MOST = 5

/** Whoever made campaigns of this account from another database may make this one, too. */
function whyShared({ records, newEntries, made }: PlanInput, key: string): Held | null {
  const shared = records.find(
    ({ campaignId, origin, token }) =>
      origin === 'adopted' && token !== null && !made.has(campaignId),
  )
  if (shared === undefined || newEntries.has(key)) return null
  const reason = `another database made campaign ${shared.campaignId}, so it may make this one too`
  const needs = `${COMMAND} create ${quoted(key)} --new; if that database is gone for good: ${COMMAND} adopt --marked --yes`
  return heldBy('absence', reason, needs, 'another database')
}

/** A listing alone proves no absence while it may be late. */
function whyTooEarly({ unknownCreatesUntil, now }: PlanInput): Held | null {
  const until = unknownCreatesUntil === null ? now : unknownCreatesUntil + LATEST_LISTING
  if (isDue(until, now, LATEST_LISTING)) return null
  return later(
    `the state directory was restored or copied, or the host started again, and lists may not show yet what was created before: it is created from ${isoTime(until)} on`,
  )
}

/** A direct create that was answered: the campaign is there, and lists may show it later. */
function whyNotListed({ byId, campaigns, creates, input, records }: Planning, key: string) {
  const { at = 0, campaignId = null, outcome } = creates.get(key) ?? {}
  const isKnown = campaignId === null || campaigns.has(campaignId) || byId.has(campaignId)
  const isSettled = outcome !== 'done' || isKnown || records.has(key) || input.newEntries.has(key)
  if (isSettled || isDue(at + LATEST_LISTING, input.now, LATEST_LISTING)) return null
  return later(
    `campaign ${campaignId} was made for it at ${isoTime(at)}, and lists may not show it yet`,
  )
}

function whyUnknown({ absence, input }: Planning, { key, at, body, reason }: CampaignWrite): Held {
  const alike = [...new Set(absence.resembling({ key, name: bareName(body?.name ?? '') }))]
  const [first] = alike
  const missed = input.seen.incomplete ?? 'no complete listing shows it so far'
  const looked = first ? `it may be ${alike.slice(0, MOST).map(named).join(', ')}` : missed
  const said = reason === null ? '' : ` (${reason})`
  const why = `whether it was created at ${isoTime(at)} is not known${said}: ${looked}`
  const needs = `look on the service, then: ${COMMAND} adopt ${quoted(key)} ${first?.id ?? 'ID'}, or ${COMMAND} create ${quoted(key)} --new`
  return heldBy('unknown', why, needs, '', true)
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
