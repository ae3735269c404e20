// What a person should know and nothing is written for: campaigns that spend outside the file, entries whose
// campaign cannot spend, and feeds and campaigns side by side. Pure.

import { DAY, isoTime } from '../lib/clock.ts'
import { nearest } from '../lib/nearest.ts'
import { valueNow } from './compare.ts'
import { endsBy, type Field, showValue, whyIdle } from './fields.ts'
import { showMoney, sumOf } from './ledger.ts'
import { COMMAND, type Finding, quoted } from './plan.ts'
import type { Planning } from './planning.ts'
import type { CampaignRecord } from './port.ts'
import { keysOf, named, someOf } from './record.ts'

export function findingsOf(planning: Planning): Finding[] {
  return [...unlisted(planning), ...twins(planning), ...idle(planning), ...unmanaged(planning)]
}

function unlisted(planning: Planning): Finding[] {
  const { campaigns, input, ledger } = planning
  const today = (isoTime(input.now) ?? '').slice(0, 10)
  return planning.unlisted.flatMap(({ key, campaignId }) => {
    const campaign = campaigns.get(campaignId)
    if (campaign === undefined || !planning.runs(campaign)) return []
    const line = `- { externalCampaignId: ${JSON.stringify(key)}, endDate: ${today} }`
    const spends = showMoney(ledger.get(campaignId) ?? null)
    return {
      ...{ code: 'unlisted', key, campaignId, isReported: true, maySpend: spends },
      text: `it is not in the file any more, and campaign ${campaignId} is still running, up to ${spends}`,
      needs: `add it again, list it under removed: ${line}, or: ${COMMAND} forget ${quoted(key)}`,
    }
  })
}

function twins(planning: Planning): Finding[] {
  const { absence, campaigns, input, ledger } = planning
  return input.records.flatMap(({ key, campaignId, past }) => {
    const all = [...absence.marked(key), ...past.flatMap((id) => campaigns.get(id) ?? [])]
    const running = all.filter((one) => planning.runs(one))
    return running.map((twin) => ({
      ...{ code: 'twin', key, campaignId: twin.id, isReported: true },
      text: `campaign ${named(twin)} runs beside ${campaignId}, and both belong to this entry`,
      needs: `pause or archive one on the service; to manage that one instead: ${COMMAND} adopt ${quoted(key)} ${twin.id}`,
      maySpend: showMoney(ledger.get(twin.id) ?? null),
    }))
  })
}

/** The file wants it to run, and it cannot. Where the file itself says otherwise, that is told as a difference. */
function idle(planning: Planning): Finding[] {
  const { campaigns, input, records } = planning
  return input.desired.campaigns.flatMap(({ key, values }) => {
    const record = records.get(key)
    const campaign = record && campaigns.get(record.campaignId)
    if (record === undefined || campaign === undefined || record.succeeding) return []
    const { campaignId } = record
    const status = valueNow(record, campaign, 'status')
    const at = { code: 'idle', key, campaignId, maySpend: null } as const
    const successor = `${COMMAND} create ${quoted(key)} --new makes a successor`
    if (status === 'archived' || (status === 'paused' && values.status === undefined)) {
      const resume = 'write status: running into the entry, or status: paused if it is meant'
      const text = `campaign ${campaignId} is ${status} on the service, so it spends nothing`
      return { ...at, text, needs: status === 'paused' ? resume : successor, isReported: true }
    }
    const { endDate } = values
    // No report is needed of an end that the file says itself.
    const isMeant = typeof endDate === 'string' && endsBy(endDate) < input.now
    if (!planning.isOver(record) || (endDate !== undefined && !isMeant)) return []
    const text = `campaign ${campaignId} is over since ${showValue('endDate', valueNow(record, campaign, 'endDate'))}`
    const needs = `write a later endDate, or endDate: none, to go on with it; ${successor}`
    return { ...at, text, needs, isReported: !isMeant }
  })
}

/** Running campaigns of the account that belong to no entry. */
function unmanaged(planning: Planning): Finding[] {
  const { absence, input } = planning
  const meant = new Set([
    ...input.desired.campaigns.map(({ campaignId }) => campaignId),
    ...input.records.flatMap(({ key }) => absence.marked(key).map(({ id }) => id)),
  ])
  const all = absence.unowned.filter((one) => planning.runs(one) && !meant.has(one.id))
  if (all.length === 0) return []
  const maySpend = showMoney(sumOf(all.map(({ id }) => planning.unmanagedSpend(id))))
  const count = all.length === 1 ? '1 campaign runs' : `${all.length} campaigns run`
  const text = `${count} in no entry of the file, up to ${maySpend}: ${someOf(all)}`
  const needs = `${COMMAND} export shows them as entries; ${COMMAND} forget ID leaves one out of this for good`
  return [
    { code: 'unmanaged', key: null, campaignId: null, isReported: true, maySpend, text, needs },
  ]
}

export type CampaignState = ReturnType<typeof campaignState>

/** A campaign of an entry as it was seen last; amounts are decimal texts. */
export function campaignState(planning: Planning, record: CampaignRecord) {
  const { key, campaignId, written } = record
  const campaign = planning.campaigns.get(campaignId)
  const show = (field: Field) => {
    const value = campaign === undefined ? written[field] : valueNow(record, campaign, field)
    return value == null ? null : showValue(field, value)
  }
  return {
    ...{ key, campaignId, name: show('name'), status: show('status'), budget: show('budget') },
    ...{ period: show('period'), endDate: show('endDate') },
    spend: campaign?.spend?.toFixed(2) ?? null,
    runs: campaign !== undefined && planning.runs(campaign),
    maySpend: showMoney(planning.ledger.get(campaignId) ?? null),
  }
}

/** For the largest orphans it is looked whether a known id is meant. */
const COMPARED = 20
/** A campaign that starts this soon should be carried by a feed. */
const SOON = 2 * DAY

export type FeedFindings = ReturnType<typeof feedFindings>

/** Times are ISO 8601 UTC. */
export function feedFindings({ input, campaigns }: Planning) {
  const { desired, records, effects, now } = input
  const states = desired.campaigns.map((one) => ({ ...one, state: effects.stateOf(one.key) }))
  const known = keysOf(desired, records)
  const orphans = new Map<string, number>()
  for (const { ids } of effects.latest)
    for (const [id, postings] of Object.entries(ids))
      if (!known.has(id)) orphans.set(id, (orphans.get(id) ?? 0) + postings)
  return {
    /** Of the last uploads together. */
    postings: effects.postings,
    uploads: effects.latest.map(({ feed, version, uploadedAt, postings }) => ({
      ...{ feed, version, uploadedAt: isoTime(uploadedAt), postings },
    })),
    /** Why postings could not be counted. */
    problems: effects.problems,
    /** Entries that no feed ever carried. */
    waiting: states.flatMap(({ key, state, values }) => {
      const { startDate } = values
      const soon = typeof startDate === 'string' && Date.parse(startDate) - now < SOON
      return state.kind === 'waiting' ? [{ key, startsSoon: soon }] : []
    }),
    /** Entries that the last `uploads` feeds do not carry any more; pinned requisitions may still spend. */
    gone: states.flatMap(({ key, state, targeting }) => {
      if (state.kind !== 'missing' && state.kind !== 'vanished') return []
      const pinned = targeting?.requisitionIds.length ?? 0
      return [{ key, ...state, since: isoTime(state.since), pinned }]
    }),
    /** Pinned requisitions that no posting has. */
    stale: [...effects.stale].map(([key, requisitionIds]) => ({ key, requisitionIds })),
    /** Postings that two entries select. */
    overlaps: [...effects.overlaps].map(([keys, postings]) => ({ keys, postings })),
    /** Postings carry the id, and its campaign cannot sponsor them. */
    dead: records.flatMap(({ key, campaignId }) => {
      const campaign = campaigns.get(campaignId)
      const state = effects.stateOf(key)
      const why = campaign === undefined ? null : whyIdle(campaign, now)
      if (state.kind !== 'live' || why === null) return []
      return [{ key, campaignId, why, postings: state.postings }]
    }),
    /** Ids that feeds carry and nothing manages: no budget is known for them, so none is ever created. */
    orphans: [...orphans]
      .sort(([, a], [, b]) => b - a)
      .map(([id, postings], n) => {
        const near = n < COMPARED ? nearest(id.replace(/\s/g, ''), known) : null
        return { externalCampaignId: id, postings, nearest: near }
      }),
  }
}
