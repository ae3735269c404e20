// What a person says about one campaign: that it belongs to an entry, that an entry is new, that one is
// left alone, and what becomes of a difference. Nothing here writes to the service.

import type { Campaign, CampaignFailure, Listing } from '../service/port.ts'
import { Absence, isStopped, NOBODYS } from './absence.ts'
import { compare } from './compare.ts'
import { COMMAND, quoted } from './plan.ts'
import { isUnsettled, memoryOf } from './planning.ts'
import type { CampaignRecord } from './port.ts'
import {
  adoptedRecord,
  asRead,
  keysOf,
  managedCampaigns,
  named,
  noFacts,
  ownersOf,
  sinceOf,
  whyForeign,
} from './record.ts'
import { type PersonParts, Sender } from './send.ts'
import { whyNoSuccessor } from './successor.ts'
import { hasSameMark, tokenIn } from './token.ts'
import {
  askSuccessor,
  done,
  endWait,
  giveUp,
  keepCampaign,
  refused,
  takeBack,
  tooEarly,
  WITHOUT_ID,
  whyWrongAccount,
} from './word.ts'

export interface Refusal {
  kind: 'refused'
  reason: string
  hint: string
  /** It may be said later. */
  isEarly?: boolean
  /** The command line is not enough. */
  isUsage?: boolean
  /** The mistakes of the campaigns file that keep it from being used. */
  unusable?: readonly string[]
}

export type Decision =
  | { kind: 'done'; text: string; campaignId: string | null }
  | Refusal
  | CampaignFailure

/** A campaign that carries the mark of an entry. */
export interface Marked {
  key: string
  campaign: Campaign
}

export class Decider {
  readonly #parts: PersonParts

  constructor(parts: PersonParts) {
    this.#parts = parts
  }

  /** The campaign belongs to the entry from now on. */
  async adopt(key: string, id: string): Promise<Decision> {
    const { api, store, identity } = this.#parts
    const wrong = whyWrongAccount(this.#parts)
    if (wrong !== null) return wrong
    const records = store.records()
    const owner = records.find(({ campaignId }) => campaignId === id)
    if (owner?.key === key && (owner.succeeding || isUnsettled(store.newestCreate(key))))
      return done(keepCampaign(this.#parts, owner), id)
    if (owner !== undefined) {
      const hint = `${COMMAND} forget ${quoted(owner.key)} lets it go`
      return refused(`campaign ${id} belongs to ${owner.key} already`, hint)
    }
    const answer = await api.get(id, this.#parts.signal)
    if (answer.kind === 'failure') return answer
    const campaign = answer.value
    if (campaign.id !== id) {
      const reason = `the service answers with campaign ${campaign.id} when it is asked for ${id}`
      return refused(reason, 'nothing was changed')
    }
    const owners = ownersOf(identity, keysOf(this.#parts.desired, records).add(key))
    const marked = owners.get(tokenIn(campaign.name) ?? '') ?? key
    if (marked !== key) {
      const reason = `campaign ${named(campaign)} carries the mark of ${marked}`
      return refused(reason, `${COMMAND} adopt ${quoted(marked)} ${id}`)
    }
    this.#take(key, campaign, campaign)
    const back = `to undo this: ${COMMAND} forget ${quoted(key)}`
    return done(`campaign ${id} belongs to ${key} now; ${back}`, id)
  }

  /** Campaigns that carry the mark of an entry which has none. */
  async marked(): Promise<{ kind: 'found'; pairs: Marked[] } | Refusal | CampaignFailure> {
    const { list, store, identity } = this.#parts
    const wrong = whyWrongAccount(this.#parts)
    if (wrong !== null) return wrong
    const { desired, clock, signal } = this.#parts
    const listing = await list(signal)
    if (listing.kind === 'failure') return listing
    const memory = memoryOf(store, clock.now())
    const absence = new Absence({ ...memory, identity, desired, campaigns: listing.campaigns })
    const owned = new Set(memory.records.map(({ key }) => key))
    const pairs = [...keysOf(desired)].flatMap((key) => {
      const [campaign, another] = absence.marked(key)
      const isOnly =
        another === undefined || (campaign && isStopped(another) && !isStopped(campaign))
      const isClear = campaign !== undefined && isOnly && !owned.has(key)
      return isClear ? [{ key, campaign }] : []
    })
    return { kind: 'found', pairs }
  }

  /** Adopts what `marked` found: this database takes the place of the one that made them. */
  adoptAll(pairs: readonly Marked[]): void {
    const { store } = this.#parts
    store.atomically(() => {
      for (const { key, campaign } of pairs) this.#take(key, campaign)
      for (const record of store.records())
        if (record.origin === 'adopted' && record.token !== null)
          store.save({ ...record, origin: 'recovered' })
    })
  }

  /**
   * The entry is made anew by the next apply. A campaign that it has is stopped first; with `isGone`, said of one
   * that is not there, nothing is stopped.
   */
  async isNew(key: string, isGone = false): Promise<Decision> {
    const { store, list, api } = this.#parts
    const wrong = whyWrongAccount(this.#parts)
    if (wrong !== null) return wrong
    const entry = this.#parts.desired.campaigns.find((one) => one.key === key)
    const isSent = isUnsettled(store.newestCreate(key))
    if (entry === undefined && !isSent)
      return refused(`${key} is no entry of the campaigns file`, 'write the entry first')
    if (entry !== undefined && entry.campaignId !== null)
      return refused(
        `the entry names campaign ${entry.campaignId}`,
        `${WITHOUT_ID}, then say it again`,
      )
    const listing = await list(this.#parts.signal)
    if (listing.kind === 'failure') return listing
    const record = store.record(key)
    const owned = new Set(store.records().flatMap(({ campaignId, past }) => [campaignId, ...past]))
    const free = [...listing.campaigns.keys()].filter((id) => !owned.has(id))
    // A successor that was sent without an answer is settled before the word counts again.
    if (entry !== undefined && record !== null && !(record.succeeding && isSent)) {
      const answer = await api.get(record.campaignId, this.#parts.signal)
      if (answer.kind !== 'ok' && answer.class !== 'missing') return answer
      const hint = `${COMMAND} create ${quoted(key)} --new stops it and makes a successor`
      if (answer.kind === 'ok' && isGone)
        return refused(`campaign ${named(answer.value)} is there`, hint)
      const not =
        answer.kind === 'ok'
          ? await whyNoSuccessor(this.#parts, entry, record, answer.value, free)
          : this.#lost(record, listing)
      return not ?? done(askSuccessor(this.#parts, record, free), record.campaignId)
    }
    const early = endWait(this.#parts, key, listing, owned)
    if (early !== null) return early
    if (entry === undefined) return done(`no campaign of ${key} is waited for any more`, null)
    store.atomically(() => {
      store.keepNewEntry(key, free)
      this.#note(key, null, 'none of the campaigns that are there is this one: it is new')
    })
    return done(`${key} is new; the next apply creates it: ${COMMAND} apply --yes`, null)
  }

  /** The campaign of a key, or the campaign with this id, belongs to no entry. */
  forget(keyOrId: string): Decision {
    const { store } = this.#parts
    const wrong = whyWrongAccount(this.#parts)
    if (wrong !== null) return wrong
    const record = store.record(keyOrId)
    if (record === null) {
      const hint = `${COMMAND} create ${quoted(keyOrId)} --new ends the wait for it`
      if (isUnsettled(store.newestCreate(keyOrId)))
        return refused(`whether a campaign of ${keyOrId} was created is not known`, hint)
      if (store.records().some(({ campaignId }) => campaignId === keyOrId))
        return refused(`campaign ${keyOrId} belongs to an entry`, 'name its externalCampaignId')
      const word = takeBack(this.#parts, keyOrId)
      if (word !== null) return word
      store.atomically(() => {
        store.removeOther(keyOrId)
        store.addOther({ id: keyOrId, key: NOBODYS })
        this.#note('', keyOrId, 'it belongs to no entry')
      })
      return done(`campaign ${keyOrId} counts as belonging to no entry`, keyOrId)
    }
    const { key, campaignId, past } = record
    store.atomically(() => {
      store.remove(key)
      // The entry is not made anew without a new word, should it stay in the file.
      store.keepNewEntry(key, null)
      for (const id of [campaignId, ...past]) store.addOther({ id, key })
      this.#note(key, campaignId, 'it does not belong to the entry any more')
    })
    const back = `to undo this: ${COMMAND} adopt ${quoted(key)} ${campaignId}`
    const text = `campaign ${campaignId} is left as it is and belongs to ${key} no more; ${back}`
    return done(text, campaignId)
  }

  /** Differences between file and service: the file's value is put back, or the service's may stay. */
  async settle(key: string, how: 'revert' | 'accept'): Promise<Decision> {
    const { api, clock, desired, store } = this.#parts
    const wrong = whyWrongAccount(this.#parts)
    if (wrong !== null) return wrong
    const all = managedCampaigns(desired, store, clock.now())
    const managed = all.find(({ record }) => record.key === key)
    if (managed === undefined || managed.goal === null)
      return refused(`no campaign of ${key} is managed`, `${COMMAND} status lists what is`)
    const { record, goal, open } = managed
    const { campaignId } = record
    const answer = await api.get(campaignId, this.#parts.signal)
    if (answer.kind === 'failure') return answer
    const foreign = whyForeign(record, answer.value)
    if (foreign !== null) return refused(foreign, 'nothing was changed')
    const isReverted = how === 'revert'
    const { differences } = compare(goal, record, asRead(record, answer.value), open)
    const chosen = differences.filter(
      ({ kind }) => kind !== 'fixed' && (isReverted || kind !== 'conflict'),
    )
    if (chosen.length === 0) {
      const hint = `${COMMAND} plan shows what does`
      return refused(`nothing of ${key} differs from what was agreed`, hint)
    }
    const [word, side] = isReverted ? (['revert', 'file'] as const) : (['keep', 'service'] as const)
    const said = chosen.map(({ field, raw }) => [field, { word, of: raw }])
    const fields = chosen.map((one) => `${one.field} ${one[side]}`).join(', ')
    store.atomically(() => {
      store.save({ ...record, said: { ...record.said, ...Object.fromEntries(said) } })
      const why = isReverted ? 'as in the file' : 'may stay as on the service'
      this.#note(key, campaignId, `${fields}: ${why}`)
    })
    const next = isReverted
      ? `the next apply writes ${fields} as in the file, as far as the guards allow`
      : `${fields} may stay as it is on the service`
    return done(`${key}: ${next}`, campaignId)
  }

  /** A campaign whose write did more than it should was looked at. */
  checked(key: string): Decision {
    const { store } = this.#parts
    const record = store.record(key)
    if (record === null || record.doubt === null)
      return refused(`nothing about ${key} is in doubt`, `${COMMAND} status lists what is`)
    const { campaignId, doubt } = record
    store.atomically(() => {
      store.save({ ...record, doubt: null })
      this.#note(key, campaignId, `checked: ${doubt}`)
    })
    return done(`campaign ${campaignId} of ${key} may be raised again`, campaignId)
  }

  #take(key: string, campaign: Campaign, read?: Campaign): void {
    const { store, account, clock } = this.#parts
    const earlier = store.record(key)
    const made = store
      .open()
      .filter((one) => one.action === 'create' && one.key === key && isUnsettled(one))
      .find(({ body }) => hasSameMark(body?.name, campaign.name))
    store.atomically(() => {
      if (earlier !== null) store.addOther({ id: earlier.campaignId, key })
      store.remove(key)
      if (made !== undefined)
        new Sender(this.#parts).recordCreated(made, campaign, 'recovered', read)
      else store.save(adoptedRecord(key, campaign, read))
      giveUp(store, key, clock.now())
      store.removeOther(campaign.id)
      store.keepNewEntry(key, null)
      store.saveAccount(store.account() ?? noFacts(account))
      this.#note(key, campaign.id, 'it belongs to the entry')
    })
  }

  /** Why the campaign does not count as lost; null: it does. */
  #lost(record: CampaignRecord, listing: Exclude<Listing, CampaignFailure>): Refusal | null {
    const { store, clock } = this.#parts
    const { campaignId } = record
    if (listing.campaigns.has(campaignId)) {
      const reason = `campaign ${campaignId} is listed, and is not found by its id`
      return refused(reason, 'try again later', true)
    }
    const since = sinceOf(record.missingSince, clock.now())
    if (record.missingSince !== since) store.save({ ...record, missingSince: since })
    return tooEarly(listing, since, `whether campaign ${campaignId} is gone`, clock.now())
  }

  #note(key: string, campaignId: string | null, why: string): void {
    const { store, clock } = this.#parts
    store.decide({ at: clock.now(), key, campaignId, why, by: this.#parts.by })
  }
}
