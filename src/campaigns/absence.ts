// Owns the proof that a campaign is not there already, without which none is made: which campaigns of the
// account might be the one of an entry. Pure.

import { groupByEach } from '../lib/group-by-each.ts'
import type { Campaign } from '../service/port.ts'
import type { DesiredCampaign } from './desired.ts'
import { plain, rawOf, readValue } from './fields.ts'
import type { PlanInput } from './planning.ts'
import { keysOf, noFacts, ownedIn, ownersOf } from './record.ts'
import { carriedId } from './targeting.ts'
import { bareName, isMarked, tokenIn } from './token.ts'

/** In `Other.key`: a person said that the campaign belongs to no entry. */
export const NOBODYS = ''

/** `campaigns`: every campaign that was listed or read. */
type AbsenceInput = Pick<
  PlanInput,
  'desired' | 'identity' | 'facts' | 'records' | 'others' | 'newEntries' | 'creates'
> & { campaigns: ReadonlyMap<string, Campaign> }

export class Absence {
  readonly #input: AbsenceInput
  /** Campaigns that no record has and no person gave up. */
  readonly unowned: readonly Campaign[]
  readonly #owners: ReadonlyMap<string, string>
  readonly #marked: ReadonlyMap<string | undefined, readonly Campaign[]>
  /** By plain name; those that a person gave up and that run apart. */
  readonly #byName: ReadonlyMap<string, readonly Campaign[]>
  readonly #asideNamed: ReadonlyMap<string, readonly Campaign[]>
  /** By key: what carries its mark or was made for it, as far as our own history knows, given up or not. */
  readonly #sure: ReadonlyMap<string | undefined, readonly Campaign[]>
  /** By key: what a person gave up for it, and what carries it. */
  readonly #meant: ReadonlyMap<string | null | undefined, readonly Campaign[]>
  /** What may be the campaign of any entry, the likeliest first. */
  readonly #any: readonly Campaign[]
  readonly #anyIds: ReadonlySet<string>
  /** By id: the order of the listing. */
  readonly #places: ReadonlyMap<string, number>

  constructor(input: AbsenceInput) {
    const { desired, identity, records, others, campaigns } = input
    this.#input = input
    const givenUp = new Map(others.map(({ id, key }) => [id, key]))
    const owned = ownedIn(records)
    const free = [...campaigns.values()].filter(({ id }) => !owned.has(id))
    this.unowned = free.filter(({ id }) => givenUp.get(id) !== NOBODYS)
    const aside = free.filter((one) => givenUp.get(one.id) === NOBODYS && !isStopped(one))
    const hasToken = ({ name }: Campaign) => tokenIn(name) !== null
    const tokened = this.unowned.filter(hasToken)
    const isAny = tokened.length > 0 || aside.some(hasToken)
    const keys = isAny ? keysOf(desired, records) : new Set<string>()
    this.#owners = ownersOf(identity, keys)
    this.#marked = Map.groupBy(
      tokened.sort((a, b) => idleness(a) - idleness(b)),
      (one) => this.ownerOf(one),
    )
    const nameOf = ({ name }: Campaign) => plain(bareName(name ?? ''))
    this.#byName = Map.groupBy(this.unowned, nameOf)
    this.#asideNamed = Map.groupBy(aside, nameOf)
    const done = input.creates.filter(({ outcome }) => outcome === 'done')
    const keyOf = new Map(done.map(({ campaignId, key }) => [campaignId, key]))
    // "It belongs to no entry" was said of the entries of that day.
    const all = [...this.unowned, ...aside]
    this.#sure = groupByEach(all, (one) => [this.ownerOf(one), keyOf.get(one.id)])
    const carried = (one: Campaign) => carriedId(rawOf(one, 'targeting'))
    this.#meant = groupByEach(this.unowned, (one) => [givenUp.get(one.id), carried(one)])
    const { isCounted, keepsTokens } = input.facts ?? noFacts('')
    const mayBeAny = (one: Campaign) =>
      // It was there before this database, or no name proves anything.
      !isCounted || keepsTokens === false || givenUp.get(one.id) === null || rankOfAny(one) < 3
    this.#any = this.unowned
      .filter(mayBeAny)
      .sort((a, b) => rankOfAny(a) - rankOfAny(b) || idleness(a) - idleness(b))
    this.#anyIds = new Set(this.#any.map(({ id }) => id))
    this.#places = new Map(this.unowned.map(({ id }, n) => [id, n]))
  }

  /** The key whose mark a campaign without a record carries. */
  ownerOf({ name }: Campaign): string | undefined {
    return this.#owners.get(tokenIn(name) ?? '')
  }

  /** Campaigns beside the recorded one that carry a token of the key, those that run first. */
  marked(key: string): readonly Campaign[] {
    return this.#marked.get(key) ?? []
  }

  /** Campaigns that look like the one of an entry: by its mark, or by what is left of its name. */
  resembling({ key, name }: Pick<DesiredCampaign, 'key' | 'name'>): Campaign[] {
    return [...this.marked(key), ...this.#likeName(name)]
  }

  /**
   * What might be the campaign of an entry, without those that a person ruled out: how many, and the `most`
   * likeliest. Not every campaign is looked at for each entry: an account may have thousands of both.
   */
  candidates(key: string, name: string, most: number): { count: number; likeliest: Campaign[] } {
    const ruledOut = new Set(this.#input.newEntries.get(key))
    const sure = new Set(this.#sure.get(key))
    const alike = new Set([...this.#likeName(name), ...(this.#asideNamed.get(plain(name)) ?? [])])
    const meant = this.#meant.get(key) ?? []
    const rank = (one: Campaign) => (sure.has(one) ? 0 : alike.has(one) ? 1 : rankOfAny(one))
    const isLeft = (one: Campaign) => !ruledOut.has(one.id)
    const its = new Set([...sure, ...alike, ...meant].filter(isLeft))
    const others = this.#any.values().filter((one) => isLeft(one) && !its.has(one))
    const both = [...its, ...others.take(most)]
    const place = (one: Campaign) => this.#places.get(one.id) ?? 0
    const outOfAny = [...ruledOut].filter((id) => this.#anyIds.has(id)).length
    const itsBeside = [...its].filter(({ id }) => !this.#anyIds.has(id)).length
    return {
      count: this.#any.length - outOfAny + itsBeside,
      likeliest: both
        .sort((a, b) => rank(a) - rank(b) || idleness(a) - idleness(b) || place(a) - place(b))
        .slice(0, most),
    }
  }

  /** The same name, or what is left of it where it is cut. */
  #likeName(name: string): Campaign[] {
    const wanted = plain(name)
    const starts = Array.from(wanted, (_, n) => wanted.slice(0, n + 1))
    return starts.flatMap((start) => this.#byName.get(start) ?? [])
  }
}

/** A campaign that was stopped is less likely meant than its successor. */
const idleness = (one: Campaign) =>
  ['running', 'paused', 'archived'].indexOf(String(readValue('status', rawOf(one, 'status'))))

/** Of what may be the campaign of any entry: a name that is not known is like any. */
const rankOfAny = ({ name }: Campaign) => (typeof name !== 'string' ? 1 : isMarked(name) ? 2 : 3)

/** Paused or archived, as far as the service shows it. */
export const isStopped = (one: Campaign) => idleness(one) > 0
