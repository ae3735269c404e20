// Creates the campaign of an entry, as a person confirmed.

import { bindingOf } from './bind.ts'
import { changeLines } from './change-text.ts'
import type { Entry } from './desired.ts'
import { isEchoOf } from './echo.ts'
import { changesOf } from './field-changes.ts'
import { FIELDS, wireOf } from './fields.ts'
import { hasMark, markOf, withMark } from './mark.ts'
import type { CampaignStore } from './port.ts'
import type { Recorder } from './recorder.ts'
import type { Seen } from './seen.ts'
import { sentOf } from './sent.ts'
import type { CampaignApi, CampaignCreate } from './service/port.ts'
import { briefTargeting } from './targeting.ts'
import { isLimited, type WriteResult } from './write.ts'

/**
 * createCampaign sends one POST and never repeats it. If the result is not known, a later plan finds the campaign by
 * its mark, or plans to create it again after an hour.
 */
export async function createCampaign(
  entry: Entry,
  {
    api,
    store,
    recorder,
    identity,
    seen,
  }: { api: CampaignApi; store: CampaignStore; recorder: Recorder; identity: string; seen: Seen },
  signal: AbortSignal,
): Promise<WriteResult> {
  const { key } = entry
  const mark = markOf(identity, key)
  const body = bodyOf(entry, mark)
  const id = recorder.beginCreate(key, body)
  const answer = await api.create(body, signal)
  const ended = (outcome: WriteResult['outcome'], reason: string | null): WriteResult => {
    const campaignId = answer.kind === 'ok' ? answer.value.id : null
    return { key, campaignId, action: 'create', outcome, reason, isLimited: isLimited(answer) }
  }
  if (answer.kind === 'failure') {
    const { effect: outcome, reason } = answer
    recorder.end(id, { outcome, reason })
    return ended(outcome, reason)
  }
  const created = answer.value
  const campaignId = created.id
  const isOld = seen.campaign(campaignId) != null || store.released().has(campaignId)
  const read = await api.get(campaignId, signal)
  const shown = read.kind === 'ok' ? read.value : created
  const isOurs = !isOld && shown.id === campaignId && hasMark(shown.name, mark)
  if (!isOurs) {
    const reason = `the service answered with campaign ${campaignId}, which ${isOld ? 'existed before' : 'does not carry our mark'}`
    store.atomically(() => {
      recorder.end(id, { outcome: 'unknown', reason, campaignId })
      // The campaign might still be ours: while it is released, the entry gets no second campaign.
      if (!isOld) store.release(campaignId, key)
    })
    return ended('unknown', reason)
  }
  const { targeting: wanted } = entry
  const { targeting } = shown.other
  const isEcho = wanted !== null && isEchoOf(targeting, wanted)
  const echo = isEcho ? { targeting: wanted, text: JSON.stringify(targeting) } : null
  const bound = bindingOf(key, shown, { sent: sentOf(body), shown: echo, mark, repeatAt: null })
  // An entry without a period orders a campaign with a one-time budget.
  const ordered = { ...entry, values: { period: 'once', ...entry.values } }
  const other = changeLines(changesOf(ordered, shown, bound))
  const outcome = other.length === 0 ? 'done' : 'not-as-sent'
  const reason = other.length === 0 ? null : mismatchText(other)
  store.atomically(() => {
    recorder.end(id, { outcome, reason, campaignId })
    store.save(bound)
  })
  return ended(outcome, reason)
}

const mismatchText = (lines: readonly string[]) =>
  `the service created it otherwise, shown here with what was sent: ${lines.join('; ')}`

/** bodyOf returns the body that creates a campaign. The service decides the fields that the entry leaves out. */
function bodyOf({ values, targeting }: Entry, mark: string): CampaignCreate {
  const wire = FIELDS.map((field) => [field, wireOf(field, values[field] ?? null)] as const)
  const name = withMark(String(values.name), mark)
  return {
    ...Object.fromEntries(wire.filter(([, value]) => value !== null)),
    name,
    ...(targeting && { targeting: briefTargeting(targeting) }),
  }
}
