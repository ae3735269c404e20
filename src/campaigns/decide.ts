// What a person says about one campaign: that it belongs to an entry, that an entry is new, that one is
// left alone, and what becomes of a difference. Nothing here writes to the service.

import type { Campaign, CampaignCreate, CampaignFailure } from '../service/port.ts'
import { NOBODYS, named, whyForeign } from './absence.ts'
import { adoptedRecord, whyStopped } from './adopting.ts'
import { compare } from './compare.ts'
import { createdValues, goalOf } from './creating.ts'
import { type Decision, done, type Refusal, refused } from './decision.ts'
import type { Desired } from './desired.ts'
import { COMMAND, quoted } from './plan.ts'
import { isUnsettled } from './planning.ts'
import { noFacts } from './remember.ts'
import { renew } from './renew.ts'
import { type ReconcilerParts, Sender } from './send.ts'
import { canonical } from './targeting.ts'
import { tokenIn, tokensOf } from './token.ts'

export class Decider {
  readonly #parts: ReconcilerParts
  readonly #desired: Desired
  readonly #by: string
  readonly #signal: AbortSignal

  constructor(parts: ReconcilerParts, desired: Desired, by: string, signal: AbortSignal) {
    this.#parts = parts
    this.#desired = desired
    this.#by = by
    this.#signal = signal
  }

  /** The campaign belongs to the entry from now on. */
  async adopt(key: string, id: string): Promise<Decision> {
    const { api, store } = this.#parts
    const wrong = this.#wrongAccount()
    if (wrong !== null) return wrong
    const owner = store.records().find(({ campaignId }) => campaignId === id)
    if (owner !== undefined)
      return refused(
        `campaign ${id} belongs to ${owner.key} already`,
        `${COMMAND} forget ${quoted(owner.key)} lets it go`,
      )
    const answer = await api.get(id, this.#signal)
    if (answer.kind === 'failure') return answer
    const campaign = answer.value
    if (campaign.id !== id)
      return refused(
        `the service answers with campaign ${campaign.id} when it is asked for ${id}`,
        'nothing was changed',
      )
    const marked = this.#ownerOf(campaign, key)
    if (marked !== null)
      return refused(
        `campaign ${named(campaign)} carries the mark of ${marked}`,
        `${COMMAND} adopt ${quoted(marked)} ${id}`,
      )
    this.#take(key, campaign)
    return done(
      `campaign ${id} belongs to ${key} now; to undo this: ${COMMAND} forget ${quoted(key)}`,
      id,
    )
  }

  /** Campaigns that carry the mark of an entry which has none, each with its key. */
  async marked(): Promise<
    { kind: 'found'; pairs: { key: string; campaign: Campaign }[] } | Refusal | CampaignFailure
  > {
    const { list, store } = this.#parts
    const wrong = this.#wrongAccount()
    if (wrong !== null) return wrong
    const listing = await list(this.#signal)
    if (listing.kind === 'failure') return listing
    const owned = new Set(store.records().flatMap(({ campaignId, past }) => [campaignId, ...past]))
    const byToken = Map.groupBy(listing.campaigns.values(), ({ name }) => tokenIn(name) ?? '')
    const pairs = this.#keys().flatMap((key) => {
      if (store.record(key) !== null) return []
      const found = tokensOf(this.#parts.identity, key)
        .flatMap((token) => byToken.get(token) ?? [])
        .filter(({ id }) => !owned.has(id))
      const [campaign] = found
      return campaign === undefined || found.length > 1 ? [] : [{ key, campaign }]
    })
    return { kind: 'found', pairs }
  }

  /** Adopts what `marked` found: this database takes the place of the one that made them. */
  adoptAll(pairs: readonly { key: string; campaign: Campaign }[]): void {
    const { store } = this.#parts
    store.atomically(() => {
      for (const { key, campaign } of pairs) this.#take(key, campaign)
      for (const record of store.records())
        if (record.origin === 'adopted' && record.token !== null)
          store.save({ ...record, origin: 'recovered' })
    })
  }

  /** The entry is made anew by the next apply; a campaign that it has is stopped first. */
  async isNew(key: string): Promise<Decision> {
    return (
      this.#wrongAccount() ?? (await renew(this.#parts, this.#desired, key, this.#by, this.#signal))
    )
  }

  /** The campaign of a key, or the campaign with this id, belongs to no entry. */
  forget(keyOrId: string): Decision {
    const { store } = this.#parts
    const wrong = this.#wrongAccount()
    if (wrong !== null) return wrong
    const record = store.record(keyOrId)
    if (record === null) {
      if (store.records().some(({ campaignId }) => campaignId === keyOrId))
        return refused(`campaign ${keyOrId} belongs to an entry`, 'name its externalCampaignId')
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
      // The entry is not made anew without a word, should it stay in the file.
      for (const id of [campaignId, ...past]) store.addOther({ id, key })
      this.#note(key, campaignId, 'it does not belong to the entry any more')
    })
    const back = `to undo this: ${COMMAND} adopt ${quoted(key)} ${campaignId}`
    return done(
      `campaign ${campaignId} is left as it is and belongs to ${key} no more; ${back}`,
      campaignId,
    )
  }

  /** Differences between file and service: the file's value is put back, or the service's may stay. */
  async settle(key: string, how: 'revert' | 'accept'): Promise<Decision> {
    const { api, store } = this.#parts
    const record = store.record(key)
    const entry = this.#desired.campaigns.find((one) => one.key === key)
    const wrong = this.#wrongAccount()
    if (wrong !== null) return wrong
    if (record === null || entry === undefined)
      return refused(`no campaign of ${key} is managed`, `${COMMAND} status lists what is`)
    const answer = await api.get(record.campaignId, this.#signal)
    if (answer.kind === 'failure') return answer
    const foreign = whyForeign(record, answer.value)
    if (foreign !== null) return refused(foreign, 'nothing was changed')
    const { differences } = compare(
      ...([goalOf(entry, record), record, answer.value] as const),
      store.open().filter(({ campaignId }) => campaignId === record.campaignId),
    )
    const chosen = differences.filter(({ isConflict }) => how === 'revert' || !isConflict)
    if (chosen.length === 0)
      return refused(
        `nothing of ${key} differs from what was agreed`,
        `${COMMAND} plan shows what does`,
      )
    const said = Object.fromEntries(
      chosen.map(({ field, raw }) => [field, how === 'revert' ? how : { keep: raw }]),
    )
    const fields = chosen.map(({ field }) => field).join(', ')
    store.atomically(() => {
      store.save({ ...record, said: { ...record.said, ...said } })
      this.#note(
        key,
        record.campaignId,
        how === 'revert' ? `${fields}: as in the file` : `${fields}: may stay as on the service`,
      )
    })
    const next =
      how === 'revert'
        ? `the next apply writes ${fields} as in the file, as far as the guards allow`
        : `${fields} may stay as it is on the service`
    return done(`${key}: ${next}`, record.campaignId)
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

  #take(key: string, campaign: Campaign): void {
    const { store, clock } = this.#parts
    const earlier = store.record(key)
    const create = store.creates().find((one) => one.key === key)
    store.atomically(() => {
      if (earlier !== null) store.addOther({ id: earlier.campaignId, key })
      store.remove(key)
      if (isUnsettled(create) && create.body !== null) {
        const body = create.body as CampaignCreate
        const targeting = body.targeting === undefined ? null : canonical(body.targeting)
        const sender = new Sender(this.#parts, this.#by, this.#signal)
        sender.remember(key, campaign, body, { values: createdValues(body), targeting }, create.id)
        const record = store.record(key)
        if (record !== null) store.save({ ...record, origin: 'recovered' })
      } else store.save(adoptedRecord(key, campaign))
      store.removeOther(campaign.id)
      store.keepWord(key, null)
      store.saveAccount(store.account() ?? noFacts(this.#parts.account))
      store.decide({
        at: clock.now(),
        key,
        campaignId: campaign.id,
        why: 'it belongs to the entry',
        by: this.#by,
      })
    })
  }

  #keys(): string[] {
    const { campaigns, removed } = this.#desired
    return [...new Set([...campaigns, ...removed].map(({ key }) => key))]
  }

  #ownerOf({ name }: Campaign, key: string): string | null {
    const { identity, store } = this.#parts
    const token = tokenIn(name)
    if (token === null || tokensOf(identity, key).includes(token)) return null
    const recorded = store.records().find((one) => one.token === token && one.key !== key)
    return (
      recorded?.key ?? this.#keys().find((one) => tokensOf(identity, one).includes(token)) ?? null
    )
  }

  #wrongAccount(): Refusal | null {
    const { account, store } = this.#parts
    const stopped = whyStopped(account, store.account()?.account ?? account)
    return stopped === null ? null : refused(stopped.reason, stopped.needs)
  }

  #note(key: string, campaignId: string | null, why: string): void {
    const { store, clock } = this.#parts
    store.decide({ at: clock.now(), key, campaignId, why, by: this.#by })
  }
}
