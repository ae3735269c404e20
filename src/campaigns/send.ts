// Owns every write to the service: the row before it, the one call, reading by id afterwards, and the end
// of the row. A crash at any point loses nothing, makes nothing twice, and leaves a line that says so.

import { toWire } from '../lib/amount.ts'
import type { Clock } from '../lib/clock.ts'
import type {
  Campaign,
  CampaignApi,
  CampaignCreate,
  CampaignFailure,
  CampaignUpdate,
  Listing,
} from '../service/port.ts'
import { adoptedRecord } from './adopting.ts'
import type { Part } from './compare.ts'
import type { Values } from './fields.ts'
import type { PlanItem } from './plan.ts'
import type { CampaignRecord, CampaignStore } from './port.ts'
import type { CanonicalTargeting } from './targeting.ts'
import { tokenIn } from './token.ts'
import { verify, whyNotIts, withWritten } from './verify.ts'

export interface ReconcilerParts {
  api: CampaignApi
  /** Every campaign of the account, archived ones too. */
  list: (signal: AbortSignal) => Promise<Listing>
  store: CampaignStore
  clock: Clock
  /** Address and identity of the configuration. */
  account: string
  /** The identity alone, from which tokens follow. */
  identity: string
}

export interface Result {
  key: string
  campaignId: string | null
  /** `stale`: it is not any more what was approved. */
  outcome: 'created' | 'updated' | 'adopted' | 'stale' | 'failed' | 'unknown'
  reason: string | null
  /** It was to lower what may be spent. */
  isReduction: boolean
  /** The service limits calls, or cannot be reached: nothing but reductions is sent on. */
  isTemporary?: boolean
}

/** What of an item or a part is written down and sent. */
export type Update = Pick<Part, 'body' | 'before' | 'values' | 'targeting' | 'spend'> & {
  why: string
}

export class Sender {
  readonly #parts: ReconcilerParts
  readonly #by: string
  readonly #signal: AbortSignal

  constructor(parts: ReconcilerParts, by: string, signal: AbortSignal) {
    this.#parts = parts
    this.#by = by
    this.#signal = signal
  }

  /** `now`: as it was read by id just before. Answers what was read after it, as far as it was. */
  async update(
    record: CampaignRecord,
    now: Campaign,
    update: Update,
  ): Promise<{ result: Result; after: Campaign | null }> {
    const { api, store, clock } = this.#parts
    const { key, campaignId } = record
    const { body, spend, why } = update
    const agreed = record.written.budget
    const isAgreed = 'budget' in body && typeof agreed === 'number'
    const before = { ...update.before, ...(isAgreed && { agreedBudget: toWire(agreed) }) }
    const at = clock.now()
    const id = store.begin({
      at,
      key,
      campaignId,
      action: 'update',
      body,
      before,
      spend,
      why,
      by: this.#by,
    })
    const ended = (
      outcome: Result['outcome'],
      reason: string | null,
      failure?: CampaignFailure,
    ) => ({
      result: {
        key,
        campaignId,
        outcome,
        reason,
        isReduction: spend === 'down',
        isTemporary: failure?.class === 'temporary' && failure.status !== null,
      },
      after: null,
    })
    const doubtful = (reason: string, failure?: CampaignFailure) => {
      store.atomically(() => {
        store.end(id, 'unknown', reason, clock.now())
        if (update.targeting !== null)
          store.save({ ...record, uncertain: [...record.uncertain, update.targeting] })
      })
      return ended('unknown', reason, failure)
    }
    const answer = await api.update(campaignId, body, this.#signal)
    if (answer.kind === 'failure') {
      if (answer.effect === 'unknown') return doubtful(answer.reason, answer)
      store.end(id, answer.effect, answer.reason, clock.now())
      return ended('failed', answer.reason, answer)
    }
    const read = await api.get(campaignId, this.#signal)
    if (read.kind === 'failure')
      return doubtful(`it was accepted, and could not be read afterwards: ${read.reason}`, read)
    const after = read.value
    const seen = verify(update, now, after)
    if (seen.unchanged.length > 0) {
      const { result } = doubtful(
        `it was accepted, and the service still shows the old ${seen.unchanged.join(', ')}`,
      )
      return { result, after }
    }
    store.atomically(() => {
      const settled = withWritten(record, update, seen.forms)
      store.save({ ...settled, doubt: seen.doubt ?? record.doubt })
      this.#giveUp(campaignId, id, body)
      store.end(id, 'done', seen.doubt, clock.now())
      this.#noteToken(record.token, 'name' in body ? after : null)
    })
    return {
      result: {
        key,
        campaignId,
        outcome: 'updated',
        reason: seen.doubt,
        isReduction: spend === 'down',
      },
      after,
    }
  }

  /** One POST, never repeated. `known`: ids that were there before it. */
  async create(
    item: PlanItem,
    known: ReadonlySet<string>,
  ): Promise<{ result: Result; after: Campaign | null }> {
    const { api, store, clock } = this.#parts
    const { key, before, spend, why } = item
    const body = item.body as CampaignCreate
    const at = clock.now()
    // Durable before the first byte leaves: from here on a crash leaves "nobody knows".
    const id = store.begin({
      at,
      key,
      campaignId: null,
      action: 'create',
      body,
      before,
      spend,
      why,
      by: this.#by,
    })
    const ended = (outcome: Result['outcome'], reason: string, isTemporary = false) => ({
      result: { key, campaignId: null, outcome, reason, isReduction: false, isTemporary },
      after: null,
    })
    const answer = await api.create(body, this.#signal)
    if (answer.kind === 'failure') {
      const { effect, reason } = answer
      // What only our credentials or the route did wrong says nothing of the entry.
      const isDenied = answer.class === 'credentials' || answer.class === 'missing'
      store.end(id, effect === 'refused' && isDenied ? 'not-sent' : effect, reason, clock.now())
      // Without any answer the next call may well succeed; one that says "later" means all of them.
      const isLimited = answer.class === 'temporary' && answer.status !== null
      return ended(effect === 'unknown' ? 'unknown' : 'failed', reason, isLimited)
    }
    const read = await api.get(answer.value.id, this.#signal)
    const shown = [answer.value, ...(read.kind === 'ok' ? [read.value] : [])]
    const odd = shown
      .map((one) => whyNotIts(one, answer.value.id, body, known))
      .find((one) => one !== null)
    if (odd !== undefined) {
      store.end(id, 'unknown', odd, clock.now())
      return ended('unknown', odd)
    }
    const after = shown.at(-1) as Campaign
    const doubt = this.remember(key, after, body, item, id)
    const result = {
      key,
      campaignId: after.id,
      outcome: 'created',
      reason: doubt,
      isReduction: false,
    } as const
    return { result, after }
  }

  /** The campaign is the one of the create. Answers what is doubtful about it. */
  remember(
    key: string,
    campaign: Campaign,
    body: CampaignCreate,
    made: { values: Values; targeting: CanonicalTargeting | null },
    writeId: number,
  ): string | null {
    const { store, clock } = this.#parts
    const earlier = store.record(key)
    const values = { ...made.values }
    const { forms, doubt } = verify({ body, values, targeting: made.targeting }, null, campaign)
    const token = tokenIn(body.name)
    const record: CampaignRecord = {
      ...{
        ...adoptedRecord(key, campaign),
        origin: 'created',
        token,
        written: values,
        forms,
        doubt,
      },
      targeting: made.targeting,
      past: earlier === null ? [] : [...earlier.past, earlier.campaignId],
    }
    store.atomically(() => {
      store.save(record)
      store.keepWord(key, null)
      store.removeOther(campaign.id)
      store.end(writeId, 'done', doubt, clock.now(), campaign.id)
      this.#noteToken(token, campaign)
    })
    return doubt
  }

  /** What an earlier write without an answer sent is now in the past, as far as this one covers it. */
  #giveUp(campaignId: string, id: number, body: CampaignUpdate): void {
    const { store } = this.#parts
    for (const write of store.open())
      if (
        write.campaignId === campaignId &&
        write.id < id &&
        write.outcome === 'unknown' &&
        write.body !== null
      )
        if (Object.keys(write.body).every((field) => field in body))
          store.end(write.id, 'given-up', write.reason, write.endedAt ?? write.at)
  }

  #noteToken(token: string | null, campaign: Campaign | null): void {
    const { store } = this.#parts
    const facts = store.account()
    if (token === null || facts === null || typeof campaign?.name !== 'string') return
    const keepsTokens = tokenIn(campaign.name) === token
    if (keepsTokens !== facts.keepsTokens) store.saveAccount({ ...facts, keepsTokens })
  }
}
