// Owns every write to the service: the row before it, the one call, reading by id afterwards, and the end
// of the row. A crash at any point loses nothing, makes nothing twice, and leaves a line that says so.

import { toWire } from '../lib/amount.ts'
import type { Clock } from '../lib/clock.ts'
import type {
  Campaign,
  CampaignAnswer,
  CampaignApi,
  CampaignCreate,
  CampaignUpdate,
  Listing,
  Targeting,
} from '../service/port.ts'
import type { Part } from './compare.ts'
import type { Desired } from './desired.ts'
import { createdValues } from './fields.ts'
import { isReduction, type PlanItem } from './plan.ts'
import type {
  CampaignRecord,
  CampaignStore,
  CampaignWrite,
  FeedSide,
  NewWrite,
  Outcome,
} from './port.ts'
import { adoptedRecord, agreedBudget } from './record.ts'
import { canonical, isSame } from './targeting.ts'
import { tokenIn } from './token.ts'
import { verify, whyNotIts, withoutMoved, withWritten } from './verify.ts'

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
  /** What was uploaded, as the history knows it now. */
  feeds: () => FeedSide
}

/** `signal` ends what is being sent. */
export type SenderParts = ReconcilerParts & Pick<PersonParts, 'by' | 'signal'>

/** What a person's word or direct call works with. */
export interface PersonParts extends ReconcilerParts {
  desired: Desired
  /** Why the file cannot be used: its guards and entries are not known, and `desired` is empty. */
  unusable?: Error | null
  /** For the history: who ran which command. */
  by: string
  signal: AbortSignal
}

export interface Result {
  key: string
  campaignId: string | null
  /** `stale`: it is not any more what was approved. */
  outcome: 'created' | 'updated' | 'adopted' | 'stale' | 'failed' | 'unknown'
  reason: string | null
  /** It was to lower what may be spent. */
  isReduction: boolean
  /** The service limits calls: nothing but reductions is sent on. */
  isTemporary?: boolean
}

/** `answer`: what the service said last. */
export const resultOf = (
  item: Pick<PlanItem, 'key' | 'campaignId' | 'action' | 'spend'>,
  outcome: Result['outcome'],
  reason: string | null,
  answer?: CampaignAnswer<unknown>,
): Result => ({
  ...{ key: item.key, campaignId: item.campaignId, outcome, reason },
  isReduction: isReduction(item),
  ...(answer && { isTemporary: isLimited(answer) }),
})

/** What of an item or a part is written down and sent. */
export type Update = Omit<Part, 'isBlind' | 'changes'> & { why: string }

/** `after`: what was read after a write, as far as it was. */
export interface Sent {
  result: Result
  after: Campaign | null
  /** One field of several may be what the service did not take. */
  mayBeField?: boolean
}

export class Sender {
  readonly #parts: SenderParts

  constructor(parts: SenderParts) {
    this.#parts = parts
  }

  /** The row, and the one call, never repeated. What has failed has its end already. */
  async send(row: Omit<NewWrite, 'at' | 'by'>) {
    const { api, store, clock, by, signal } = this.#parts
    // Durable before the first byte leaves: after a crash the row says that the outcome is unknown.
    const id = store.begin({ ...row, at: clock.now(), by })
    const answer =
      row.campaignId === null
        ? await api.create(row.body as CampaignCreate, signal)
        : await api.update(row.campaignId, row.body as CampaignUpdate, signal)
    if (answer.kind === 'failure') {
      // What only our credentials or the route did wrong says nothing of a new entry.
      const isDenied = answer.class === 'credentials' || answer.class === 'missing'
      const isUnsent = row.action === 'create' && answer.effect === 'refused' && isDenied
      this.end(id, isUnsent ? 'not-sent' : answer.effect, answer.reason)
    }
    return { id, answer }
  }

  /** What a process left behind that died while it sent may have arrived. */
  sweep(): void {
    const { store } = this.#parts
    for (const { id, outcome, campaignId, body } of store.open()) {
      if (outcome !== 'sending') continue
      const record = store.records().find((one) => one.campaignId === campaignId)
      store.atomically(() => {
        this.end(id, 'unknown', 'the process ended while it was sent')
        if (record !== undefined && body?.targeting) store.save(mayHave(record, body.targeting))
      })
    }
  }

  end(id: number, outcome: Outcome, reason: string | null, campaignId?: string): void {
    const { store, clock } = this.#parts
    store.end(id, outcome, reason, clock.now(), campaignId)
  }

  /** `now`: as it was read by id just before. */
  async update(record: CampaignRecord, now: Campaign, update: Update): Promise<Sent> {
    const sent = await this.#put(record, now, update)
    const parts = Object.keys(update.body).map((field) => only(update, field))
    if (!sent.mayBeField || update.spend !== 'down' || parts.length < 2) return sent
    // A field that the service refuses, or fails at, does not keep the others from being lowered.
    let after: Campaign | null = null
    const reasons: string[] = []
    for (const part of parts) {
      const current = this.#parts.store.record(record.key) ?? record
      const one = await this.#put(current, after ?? now, part)
      after = one.after ?? after
      if (one.result.outcome !== 'updated')
        reasons.push(`${Object.keys(part.body).join()}: ${one.result.reason}`)
    }
    if (reasons.length === 0)
      return { result: { ...sent.result, outcome: 'updated', reason: null }, after }
    return { result: { ...sent.result, reason: reasons.join('; ') }, after }
  }

  async #put(record: CampaignRecord, now: Campaign, update: Update): Promise<Sent> {
    const { api, store, clock, by, signal } = this.#parts
    const { key, campaignId } = record
    const { body, targeting, spend, why } = update
    const agreed = 'budget' in body ? agreedBudget(record) : null
    const before = {
      ...update.before,
      ...(agreed !== null && { agreedBudget: toWire(agreed) }),
    }
    const row = { key, campaignId, action: 'update', body, before, spend, why } as const
    const { id, answer } = await this.send(row)
    const doubtful = (reason: string, said: CampaignAnswer<unknown> = answer) => {
      store.atomically(() => {
        this.end(id, 'unknown', reason)
        if (targeting !== null) store.save(mayHave(record, targeting))
      })
      return resultOf(row, 'unknown', reason, said)
    }
    if (answer.kind === 'failure') {
      const { effect, reason } = answer
      const isUnknown = effect === 'unknown'
      return {
        result: isUnknown ? doubtful(reason) : resultOf(row, 'failed', reason, answer),
        after: null,
        mayBeField: !isUnknown || answer.status === 500,
      }
    }
    const read = await api.get(campaignId, signal)
    if (read.kind === 'failure') {
      const reason = `it was accepted, and could not be read afterwards: ${read.reason}`
      return { result: doubtful(reason, read), after: null }
    }
    const after = read.value
    const { unchanged, forms, doubt, moved } = verify(update, now, after)
    if (unchanged.length > 0) {
      const reason = `it was accepted, and the service still shows the old ${unchanged.join(', ')}`
      return { result: doubtful(reason), after }
    }
    store.atomically(() => {
      const written = withoutMoved(withWritten(record, update, forms), moved)
      store.save({ ...written, doubt: doubt ?? record.doubt })
      this.#giveUp(campaignId, id, body)
      this.end(id, 'done', doubt)
      if (answer.mayArriveAgain) {
        const first = store.begin({ ...row, at: clock.now(), by })
        this.end(first, 'given-up', 'the first try had no answer, and may still arrive')
      }
      this.#noteToken(record.token, 'name' in body ? after : null)
    })
    return { result: resultOf(row, 'updated', doubt, answer), after }
  }

  /** `known`: ids that were there before it. */
  async create(item: PlanItem, known: Pick<ReadonlySet<string>, 'has'>): Promise<Sent> {
    const { key, before, spend, why } = item
    const body = item.body as CampaignCreate
    const row = { key, campaignId: null, action: 'create', body, before, spend, why } as const
    const { id, answer } = await this.send(row)
    const ended = (outcome: Result['outcome'], reason: string | null, after: Campaign | null) => ({
      ...{ result: resultOf({ ...row, campaignId: after?.id ?? null }, outcome, reason, answer) },
      after,
    })
    if (answer.kind === 'failure')
      return ended(answer.effect === 'unknown' ? 'unknown' : 'failed', answer.reason, null)
    const made = answer.value
    const read = await this.#parts.api.get(made.id, this.#parts.signal)
    const shown = [made, ...(read.kind === 'ok' ? [read.value] : [])]
    const odd = shown.flatMap((one) => whyNotIts(one, made.id, body, known) ?? [])[0]
    if (odd !== undefined) {
      this.end(id, 'unknown', odd)
      return ended('unknown', odd, null)
    }
    const after = shown.at(-1) ?? made
    const seen = read.kind === 'ok' ? read.value : undefined
    const doubt = this.recordCreated({ ...row, id }, after, 'created', seen, item)
    return ended('created', doubt, after)
  }

  /** The campaign is the one of the create; `read`: as it was read by id, where it was. Answers what is doubtful about it. */
  recordCreated(
    { id, key, ...write }: Pick<CampaignWrite, 'id' | 'key' | 'body'>,
    campaign: Campaign,
    origin: 'created' | 'recovered',
    read?: Campaign,
    made?: Pick<Part, 'values' | 'targeting'>,
  ): string | null {
    const { store } = this.#parts
    const body = write.body as CampaignCreate
    const targeting = made?.targeting ?? (body.targeting ? canonical(body.targeting) : null)
    const written = { ...(made?.values ?? createdValues(body)) }
    const { forms, doubt } = verify({ body, values: written, targeting }, null, campaign)
    const token = tokenIn(body.name)
    const earlier = store.record(key)
    const past = earlier === null ? [] : [...earlier.past, earlier.campaignId]
    const record = { ...adoptedRecord(key, campaign, read), origin, token, written, forms, doubt }
    store.atomically(() => {
      store.save({ ...record, targeting, past })
      store.keepNewEntry(key, null)
      store.removeOther(campaign.id)
      this.end(id, 'done', doubt, campaign.id)
      this.#noteToken(token, campaign)
    })
    return doubt
  }

  /** What an earlier write without an answer sent is now in the past, as far as this one covers it. */
  #giveUp(campaignId: string, id: number, body: CampaignUpdate): void {
    const { store } = this.#parts
    for (const write of store.open()) {
      const isEarlier = write.campaignId === campaignId && write.id < id
      const isCovered = Object.keys(write.body ?? {}).every((field) => field in body)
      if (isEarlier && isCovered && write.outcome === 'unknown')
        store.end(write.id, 'given-up', write.reason, write.endedAt ?? write.at)
    }
  }

  #noteToken(token: string | null, campaign: Campaign | null): void {
    const { store } = this.#parts
    const facts = store.account()
    if (token === null || facts === null || typeof campaign?.name !== 'string') return
    const keepsTokens = tokenIn(campaign.name) === token
    if (keepsTokens !== facts.keepsTokens) store.saveAccount({ ...facts, keepsTokens })
  }
}

/** This targeting may be there in place of the one that was agreed. */
export function mayHave(record: CampaignRecord, targeting: Targeting): CampaignRecord {
  const one = canonical(targeting)
  const others = record.uncertain.filter((known) => !isSame(known, one))
  return { ...record, uncertain: [...others, one] }
}

/** One field of an update. */
function only({ body, values, targeting, ...rest }: Update, field: string): Update {
  const pick = <T extends object>(all: T) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => name === field))
  const picked = { body: pick(body), values: pick(values) }
  return { ...rest, ...picked, targeting: field === 'targeting' ? targeting : null }
}

/** It answers "later", to every call; without any answer the next call may well succeed. */
const isLimited = (answer: CampaignAnswer<unknown>) =>
  answer.kind === 'failure' && answer.class === 'temporary' && answer.status !== null
