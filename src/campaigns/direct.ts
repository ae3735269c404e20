// Sends a create or update that a person ordered without the file, and records it in the history.

import type { Clock } from '../lib/clock.ts'
import { NOTHING_KNOWN } from './changes.ts'
import type { CampaignStore } from './port.ts'
import { withWriteBegun, withWriteDone } from './sent.ts'
import type {
  Campaign,
  CampaignAnswer,
  CampaignApi,
  CampaignCreate,
  CampaignUpdate,
} from './service/port.ts'
import { beginCreate, beginWriting, valuesBefore } from './write.ts'

export interface DirectParts {
  api: Pick<CampaignApi, 'get' | 'create' | 'update'>
  store: CampaignStore
  clock: Pick<Clock, 'now'>
  by: string
  signal: AbortSignal
}

/** createDirectly sends one POST. The caller holds the writer lock. */
export async function createDirectly(
  { api, store, clock, by, signal }: DirectParts,
  body: CampaignCreate,
): Promise<CampaignAnswer<Campaign>> {
  beginWriting({ store, clock })
  const key = body.targeting?.externalCampaignId ?? ''
  const id = beginCreate({ store, clock, by }, key, body)
  const answer = await api.create(body, signal)
  if (answer.kind === 'ok') store.end(id, 'done', null, clock.now(), answer.value.id)
  else store.end(id, answer.effect, answer.reason, clock.now())
  return answer
}

/** updateDirectly sends one PUT to a campaign that was just read. The caller holds the writer lock. */
export async function updateDirectly(
  { api, store, clock, by, signal }: DirectParts,
  campaign: Campaign,
  body: CampaignUpdate,
): Promise<CampaignAnswer<Campaign>> {
  beginWriting({ store, clock })
  const bound = store.bindings().find(({ campaignId }) => campaignId === campaign.id)
  const before = valuesBefore(bound ?? NOTHING_KNOWN, campaign, body)
  const at = clock.now()
  const what = { key: bound?.key ?? '', campaignId: campaign.id, action: 'update', body } as const
  const id = store.atomically(() => {
    if (bound !== undefined) store.save(withWriteBegun(bound, body, at))
    return store.begin({ ...what, at, before, actor: 'person', by })
  })
  const answer = await api.update(campaign.id, body, signal)
  store.atomically(() => {
    if (answer.kind === 'ok') store.end(id, 'done', null, clock.now())
    else store.end(id, answer.effect, answer.reason, clock.now())
    if (bound === undefined) return
    if (answer.kind === 'ok') store.save(withWriteDone(bound, body))
    else if (answer.effect !== 'unknown') store.save(bound)
  })
  return answer
}
