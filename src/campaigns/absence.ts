// Owns the proof that a campaign is not there already, without which none is made: which campaigns of the
// account might be the one of an entry. Pure.

import type { Campaign } from '../service/port.ts'
import type { DesiredCampaign } from './desired.ts'
import { plain, rawOf } from './fields.ts'
import type { PlanInput } from './planning.ts'
import { keysOf, ownersOf } from './record.ts'
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
  readonly #others: ReadonlyMap<string, string | null>
  /** By id: the key that our own history made it for. */
  readonly #madeFor: ReadonlyMap<string | null, string>
  /** Campaigns that no record has and no person put aside. */
  readonly unowned: readonly Campaign[]
  readonly #owners: ReadonlyMap<string, string>
  readonly #marked: ReadonlyMap<string | undefined, readonly Campaign[]>
  readonly #byName: ReadonlyMap<string, readonly Campaign[]>

  constructor(input: AbsenceInput) {
    const { desired, identity, records, others, campaigns } = input
    this.#input = input
    const done = input.creates.filter(({ outcome }) => outcome === 'done')
    this.#madeFor = new Map(done.map(({ campaignId, key }) => [campaignId, key]))
    this.#others = new Map(others.map(({ id, key }) => [id, key]))
    const owned = new Set(records.flatMap(({ campaignId, past }) => [campaignId, ...past]))
    this.unowned = [...campaigns.values()].filter(
      ({ id }) => !owned.has(id) && this.#others.get(id) !== NOBODYS,
    )
    const tokened = this.unowned.filter(({ name }) => tokenIn(name) !== null)
    const keys = tokened.length > 0 ? keysOf(desired, records) : new Set<string>()
    this.#owners = ownersOf(identity, keys)
    this.#marked = Map.groupBy(tokened, (one) => this.ownerOf(one))
    this.#byName = Map.groupBy(this.unowned, ({ name }) => plain(bareName(name ?? '')))
  }

  /** The key whose mark a campaign without a record carries. */
  ownerOf({ name }: Campaign): string | undefined {
    return this.#owners.get(tokenIn(name) ?? '')
  }

  /** Campaigns beside the recorded one that carry a token of the key. */
  marked(key: string): readonly Campaign[] {
    return this.#marked.get(key) ?? []
  }

  /** Campaigns that look like the one of an entry: by its mark, or by what is left of its name. */
  resembling({ key, name }: DesiredCampaign): Campaign[] {
    const wanted = plain(name)
    const starts = Array.from(wanted, (_, n) => wanted.slice(0, n + 1))
    return [...this.marked(key), ...starts.flatMap((start) => this.#byName.get(start) ?? [])]
  }

  /** What might be the campaign of an entry, the likeliest first; those that a person ruled out are not. */
  candidates(key: string, name: string): Campaign[] {
    const { facts, newEntries } = this.#input
    const ruledOut = new Set(newEntries.get(key))
    const marked = new Set(this.marked(key))
    const wanted = plain(name)
    const isMade = ({ id }: Campaign) => this.#madeFor.get(id) === key
    const rank = (one: Campaign) =>
      marked.has(one) || isMade(one) ? 0 : isLike(wanted, one.name) ? 1 : isMarked(one.name) ? 2 : 3
    const mayBeIts = (one: Campaign) => {
      const other = this.#others.get(one.id)
      // It was there before this database, or no name proves anything.
      const mayBeAny = facts?.isCounted !== true || facts.keepsTokens === false || other === null
      const isMeant = other === key || isMarked(one.name) || isLike(wanted, one.name)
      const carried = carriedId(rawOf(one, 'targeting'))
      return mayBeAny || isMeant || carried === key || isMade(one)
    }
    return this.unowned
      .filter((one) => !ruledOut.has(one.id) && mayBeIts(one))
      .sort((a, b) => rank(a) - rank(b))
  }
}

/** The same name, or what is left of it when it is cut; a name that is not known is like any. */
function isLike(wanted: string, name: unknown): boolean {
  if (typeof name !== 'string') return true
  const shown = plain(bareName(name))
  return shown !== '' && wanted.startsWith(shown)
}
