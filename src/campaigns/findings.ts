// What differs between file and service and nothing is written for: campaigns that spend outside the file,
// and entries whose campaign cannot spend. Pure.

import { isoTime } from '../lib/clock.ts'
import { named } from './absence.ts'
import { valueNow } from './compare.ts'
import { endsBy, type Field, showValue } from './fields.ts'
import { type MaySpend, showMoney } from './ledger.ts'
import { type CampaignSight, COMMAND, type Finding, quoted } from './plan.ts'
import type { Planning } from './planning.ts'
import type { CampaignRecord } from './port.ts'

/** Of many campaigns outside the file, so many are named. */
const NAMED = 5

export function findingsOf(planning: Planning): Finding[] {
  return [...unlisted(planning), ...twins(planning), ...idle(planning), ...unmanaged(planning)]
}

function unlisted(planning: Planning): Finding[] {
  const { campaigns, input, ledger } = planning
  return planning.unlisted.flatMap((record) => {
    const { key, campaignId } = record
    const campaign = campaigns.get(campaignId)
    if (campaign === undefined || !planning.runs(campaign)) return []
    const today = (isoTime(input.now) ?? '').slice(0, 10)
    const line = `- { externalCampaignId: ${JSON.stringify(key)}, endDate: ${today} }`
    const spends = showMoney(ledger.get(campaignId) ?? null)
    return {
      ...{ code: 'unlisted', key, campaignId, isTold: true, maySpend: spends },
      text: `it is not in the file any more, and campaign ${campaignId} is still running, up to ${spends}`,
      needs: `add it again, list it under removed: ${line}, or: ${COMMAND} forget ${quoted(key)}`,
    }
  })
}

function twins(planning: Planning): Finding[] {
  const { absence, campaigns, input, ledger } = planning
  return input.records.flatMap(({ key, campaignId, past }) => {
    const earlier = past.flatMap((id) => campaigns.get(id) ?? [])
    return [...absence.marked(key), ...earlier]
      .filter((one) => planning.runs(one))
      .map((twin) => ({
        ...{ code: 'twin', key, campaignId: twin.id, isTold: true },
        text: `campaign ${named(twin)} runs beside ${campaignId}, and both belong to this entry`,
        needs: `pause or archive one on the service; to manage that one instead: ${COMMAND} adopt ${quoted(key)} ${twin.id}`,
        maySpend: showMoney(ledger.get(twin.id) ?? null),
      }))
  })
}

/** The file wants it to run, and it cannot. */
function idle(planning: Planning): Finding[] {
  const { campaigns, input, records } = planning
  return input.desired.campaigns.flatMap(({ key, values }) => {
    const record = records.get(key)
    const campaign = record && campaigns.get(record.campaignId)
    if (record === undefined || campaign === undefined || record.succeeding) return []
    const status = valueNow(record, campaign, 'status')
    const at = {
      code: 'idle',
      key,
      campaignId: record.campaignId,
      maySpend: null,
      isTold: true,
    } as const
    const successor = `${COMMAND} create ${quoted(key)} --new makes a successor`
    if ((status === 'paused' && values.status !== 'paused') || status === 'archived') {
      const needs =
        status === 'paused'
          ? 'write status: running into the entry, or status: paused if it is meant'
          : successor
      return {
        ...at,
        text: `campaign ${record.campaignId} is ${status} on the service, so it spends nothing`,
        needs,
      }
    }
    if (!planning.isOver(record)) return []
    const end = showValue('endDate', valueNow(record, campaign, 'endDate'))
    const needs = `write a later endDate, or endDate: none, to go on with it; ${successor}`
    // As the file says itself: nobody has to be told.
    const isMeant = typeof values.endDate === 'string' && endsBy(values.endDate) < input.now
    const text = `campaign ${record.campaignId} is over since ${end}`
    return { ...at, text, needs, isTold: !isMeant }
  })
}

/** Running campaigns of the account that belong to no entry. */
function unmanaged(planning: Planning): Finding[] {
  const { absence, input } = planning
  const named_ = new Set(input.desired.campaigns.map(({ campaignId }) => campaignId))
  const twinIds = new Set(
    input.records.flatMap(({ key }) => absence.marked(key).map(({ id }) => id)),
  )
  const all = absence.loose.filter(
    (one) => planning.runs(one) && !twinIds.has(one.id) && !named_.has(one.id),
  )
  if (all.length === 0) return []
  const amounts = all.map(({ id }) => planning.strangerSpends(id))
  const total: MaySpend = amounts.includes(null)
    ? null
    : amounts.reduce((sum: number, one) => sum + (one ?? 0), 0)
  const more = all.length > NAMED ? ` and ${all.length - NAMED} more` : ''
  return [
    {
      ...{
        code: 'unmanaged',
        key: null,
        campaignId: null,
        isTold: true,
        maySpend: showMoney(total),
      },
      text: `${all.length === 1 ? '1 campaign runs' : `${all.length} campaigns run`} in no entry of the file, up to ${showMoney(total)}: ${all.slice(0, NAMED).map(named).join(', ')}${more}`,
      needs: `${COMMAND} export shows them as entries; ${COMMAND} forget ID leaves one out of this for good`,
    },
  ]
}

/** A campaign of an entry, for people who look. */
export function sightOf(planning: Planning, record: CampaignRecord): CampaignSight {
  const { key, campaignId } = record
  const campaign = planning.campaigns.get(campaignId)
  const show = (field: Field) => {
    const value = campaign === undefined ? record.written[field] : valueNow(record, campaign, field)
    return value == null ? null : showValue(field, value)
  }
  return {
    ...{ key, campaignId, name: show('name'), status: show('status'), budget: show('budget') },
    ...{
      period: show('period'),
      endDate: show('endDate'),
      spend: campaign?.spend?.toFixed(2) ?? null,
    },
    runs: campaign !== undefined && planning.runs(campaign),
    maySpend: showMoney(planning.ledger.get(campaignId) ?? null),
  }
}
