// Creates or updates a campaign as a person ordered without the file, and records it in the history.

import type { Clock } from '../lib/clock.ts'
import { NOTHING_KNOWN } from './field-changes.ts'
import type { CampaignStore } from './port.ts'
import type { Recorder } from './recorder.ts'
import { withWriteBegun, withWriteDone } from './sent.ts'
import type {
  Campaign,
  CampaignAnswer,
  CampaignApi,
  CampaignCreate,
  CampaignUpdate,
} from './service/port.ts'
import { valuesBefore } from './write.ts'

/** createDirectly sends one POST. The caller holds the writer lock. */
export async function createDirectly(
  body: CampaignCreate,
  { api, recorder }: { api: CampaignApi; recorder: Recorder },
  signal: AbortSignal,
): Promise<CampaignAnswer<Campaign>> {
  recorder.prepare()
  const id = recorder.beginCreate(body.targeting?.externalCampaignId ?? '', body)
  const answer = await api.create(body, signal)
  recorder.end(id, endingOf(answer))
  return answer
}

/** updateDirectly sends one PUT to a campaign that was just read. The caller holds the writer lock. */
export async function updateDirectly(
  { campaign, body }: { campaign: Campaign; body: CampaignUpdate },
  {
    api,
    store,
    clock,
    recorder,
  }: { api: CampaignApi; store: CampaignStore; clock: Clock; recorder: Recorder },
  signal: AbortSignal,
): Promise<CampaignAnswer<Campaign>> {
  recorder.prepare()
  const bound = store.bindings().find(({ campaignId }) => campaignId === campaign.id)
  const before = valuesBefore(bound ?? NOTHING_KNOWN, campaign, body)
  const id = store.atomically(() => {
    if (bound !== undefined) store.save(withWriteBegun(bound, body, clock.now()))
    const key = bound?.key ?? ''
    return recorder.begin({ key, campaignId: campaign.id, action: 'update', body, before })
  })
  const answer = await api.update(campaign.id, body, signal)
  store.atomically(() => {
    recorder.end(id, endingOf(answer))
    if (bound === undefined) return
    if (answer.kind === 'ok') store.save(withWriteDone(bound, body))
    else if (answer.effect !== 'unknown') store.save(bound)
  })
  return answer
}

function endingOf(answer: CampaignAnswer<Campaign>) {
  if (answer.kind === 'failure') return { outcome: answer.effect, reason: answer.reason }
  return { outcome: 'done', reason: null, campaignId: answer.value.id } as const
}
