// What a person says about one campaign: that it belongs to an entry, that an entry is new, that one is
// left alone, and what becomes of a difference. Nothing here writes to the service; a word that is refused throws
// `FeedsyncError`.

import type { Campaign } from '../service/port.ts'
import { Absence, isStopped, NOBODYS } from './absence.ts'
import { compare } from './compare.ts'
import { COMMAND, quoted } from './plan.ts'
import { memoryOf } from './planning.ts'
import {
  adoptedRecord,
  asRead,
  keysOf,
  managedCampaigns,
  named,
  noFacts,
  ownersOf,
  whyForeign,
} from './record.ts'
import { answered, checkAccount, refused } from './refused.ts'
import { type PersonParts, Sender } from './send.ts'
import { hasSameMark, tokenIn } from './token.ts'
import { assign, type Decision, decided, sayNew, sentFor } from './word.ts'

/** A campaign that carries the mark of an entry. */
export interface Marked {
  key: string
  campaign: Campaign
}

export class Decider {
  readonly #parts: PersonParts

  constructor(parts: PersonParts) {
    checkAccount(parts)
    this.#parts = parts
  }

  /** The campaign belongs to the entry from now on. */
  async adopt(key: string, id: string): Promise<Decision> {
    const { api, store, identity, desired, signal } = this.#parts
    const records = store.records()
    const owner = records.find(({ campaignId }) => campaignId === id)
    if (owner?.key === key && (owner.succeeding || sentFor(store, key).length > 0)) {
      assign(this.#parts, { ...owner, succeeding: false }, 'it stays, and no successor is made')
      return { text: `campaign ${id} stays with ${key}, and no successor is made`, campaignId: id }
    }
    if (owner !== undefined) {
      const hint = `${COMMAND} forget ${quoted(owner.key)} lets it go`
      throw refused(`campaign ${id} belongs to ${owner.key} already`, hint)
    }
    const campaign = answered(await api.get(id, signal)).value
    if (campaign.id !== id) {
      const reason = `the service answers with campaign ${campaign.id} when it is asked for ${id}`
      throw refused(reason, 'nothing was changed')
    }
    const owners = ownersOf(identity, keysOf(desired, records).add(key))
    const marked = owners.get(tokenIn(campaign.name) ?? '') ?? key
    if (marked !== key) {
      const reason = `campaign ${named(campaign)} carries the mark of ${marked}`
      throw refused(reason, `${COMMAND} adopt ${quoted(marked)} ${id}`)
    }
    this.#take(key, campaign, campaign)
    const back = `to undo this: ${COMMAND} forget ${quoted(key)}`
    return { text: `campaign ${id} belongs to ${key} now; ${back}`, campaignId: id }
  }

  /** Campaigns that carry the mark of an entry which has none. */
  async marked(): Promise<Marked[]> {
    const { list, store, identity, desired, clock, signal } = this.#parts
    const { campaigns } = answered(await list(signal))
    const memory = memoryOf(store, clock.now())
    const absence = new Absence({ ...memory, identity, desired, campaigns })
    const owned = new Set(memory.records.map(({ key }) => key))
    return [...keysOf(desired)].flatMap((key) => {
      const [campaign, another] = absence.marked(key)
      const isOnly =
        another === undefined || (campaign && isStopped(another) && !isStopped(campaign))
      const isClear = campaign !== undefined && isOnly && !owned.has(key)
      return isClear ? [{ key, campaign }] : []
    })
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

  /** As `sayNew`. */
  isNew(key: string, isGone = false): Promise<Decision> {
    return sayNew(this.#parts, key, isGone)
  }

  /** The campaign of a key, or the campaign with this id, belongs to no entry. */
  forget(keyOrId: string): Decision {
    const { store } = this.#parts
    const record = store.record(keyOrId)
    if (record === null) return this.#forgetOther(keyOrId)
    const { key, campaignId, past } = record
    this.#decided(key, campaignId, 'it does not belong to the entry any more', () => {
      store.remove(key)
      // The entry is not made anew without a new word, should it stay in the file.
      store.keepNewEntry(key, null)
      for (const id of [campaignId, ...past]) store.addOther({ id, key })
    })
    const back = `to undo this: ${COMMAND} adopt ${quoted(key)} ${campaignId}`
    const text = `campaign ${campaignId} is left as it is and belongs to ${key} no more; ${back}`
    return { text, campaignId }
  }

  /** An entry without a campaign is not new any more, or a campaign in no entry counts for none. */
  #forgetOther(text: string): Decision {
    const { store, desired } = this.#parts
    const hint = `${COMMAND} create ${quoted(text)} --new ends the wait for it`
    if (sentFor(store, text).length > 0)
      throw refused(`whether a campaign of ${text} was created is not known`, hint)
    const records = store.records()
    if (records.some(({ campaignId }) => campaignId === text))
      throw refused(`campaign ${text} belongs to an entry`, 'name its externalCampaignId')
    const folded = (one: string) => one.normalize('NFC').toLowerCase()
    const meant = [...keysOf(desired, records)].find((key) => folded(key) === folded(text))
    if (meant === undefined) {
      this.#decided('', text, 'it belongs to no entry', () => {
        store.removeOther(text)
        store.addOther({ id: text, key: NOBODYS })
      })
      return { text: `campaign ${text} counts as belonging to no entry`, campaignId: text }
    }
    if (!store.newEntries().has(text)) {
      const id = store.record(meant)?.campaignId
      const way = `forget ${quoted(meant)} lets campaign ${id} of ${meant} go`
      const other = id === undefined ? 'status lists what has one' : way
      throw refused(`${text} has no campaign`, `${COMMAND} ${other}`)
    }
    this.#decided(text, null, 'it is not made anew', () => store.keepNewEntry(text, null))
    return { text: `that ${text} is new counts no longer`, campaignId: null }
  }

  /** Differences between file and service: the file's value is put back, or the service's may stay. */
  async settle(key: string, how: 'revert' | 'accept'): Promise<Decision> {
    const { api, clock, desired, store, signal } = this.#parts
    const all = managedCampaigns(desired, store, clock.now())
    const managed = all.find(({ record }) => record.key === key)
    if (managed === undefined || managed.goal === null)
      throw refused(`no campaign of ${key} is managed`, `${COMMAND} status lists what is`)
    const { record, goal, open } = managed
    const { campaignId } = record
    const campaign = answered(await api.get(campaignId, signal)).value
    const foreign = whyForeign(record, campaign)
    if (foreign !== null) throw refused(foreign, 'nothing was changed')
    const isReverted = how === 'revert'
    const { differences } = compare(goal, record, asRead(record, campaign), open)
    const chosen = differences.filter(
      ({ kind }) => kind !== 'fixed' && (isReverted || kind !== 'conflict'),
    )
    if (chosen.length === 0) {
      const hint = `${COMMAND} plan shows what does`
      throw refused(`nothing of ${key} differs from what was agreed`, hint)
    }
    const [word, side] = isReverted ? (['revert', 'file'] as const) : (['keep', 'service'] as const)
    const said = chosen.map(({ field, raw }) => [field, { word, of: raw }])
    const fields = chosen.map((one) => `${one.field} ${one[side]}`).join(', ')
    const why = isReverted ? 'as in the file' : 'may stay as on the service'
    this.#decided(key, campaignId, `${fields}: ${why}`, () =>
      store.save({ ...record, said: { ...record.said, ...Object.fromEntries(said) } }),
    )
    const next = isReverted
      ? `the next apply writes ${fields} as in the file, as far as the guards allow`
      : `${fields} may stay as it is on the service`
    return { text: `${key}: ${next}`, campaignId }
  }

  /** A campaign whose write did more than it should was looked at. */
  checked(key: string): Decision {
    const { store } = this.#parts
    const record = store.record(key)
    if (record === null || record.doubt === null)
      throw refused(`nothing about ${key} is in doubt`, `${COMMAND} status lists what is`)
    const { campaignId, doubt } = record
    this.#decided(key, campaignId, `checked: ${doubt}`, () =>
      store.save({ ...record, doubt: null }),
    )
    return { text: `campaign ${campaignId} of ${key} may be raised again`, campaignId }
  }

  #take(key: string, campaign: Campaign, read?: Campaign): void {
    const { store, account } = this.#parts
    const earlier = store.record(key)
    const made = sentFor(store, key).find(({ body }) => hasSameMark(body?.name, campaign.name))
    store.atomically(() => {
      if (earlier !== null) store.addOther({ id: earlier.campaignId, key })
      store.remove(key)
      if (made !== undefined)
        new Sender(this.#parts).recordCreated(made, campaign, 'recovered', read)
      const record = store.record(key) ?? adoptedRecord(key, campaign, read)
      assign(this.#parts, record, 'it belongs to the entry')
      store.saveAccount(store.account() ?? noFacts(account))
    })
  }

  #decided(key: string, campaignId: string | null, why: string, change: () => void): void {
    decided(this.#parts, { key, campaignId, why }, change)
  }
}
