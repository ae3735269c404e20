// Counts what a feed contains, and finds ids that are missing or used twice. Its memory is bounded, however
// many postings there are.

import { short } from '../xml/fault.ts'
import { Entries, MOST_ENTRIES, NEW } from './entries.ts'
import { FIELDS, isAddress } from './field-paths.ts'
import { type FeedContent, type FoundPaths, MAX_CAMPAIGN_IDS } from './port.ts'
import type { PostingValues } from './posting-values.ts'
import { TakenPaths } from './taken-paths.ts'

const ID = FIELDS.indexOf('id')
const CAMPAIGN = FIELDS.indexOf('externalCampaignId')
const REQUISITION = FIELDS.indexOf('requisitionId')
const MOST_EXAMPLES = 3

export interface Tally extends Omit<FeedContent, 'root' | 'records'> {
  fields: FoundPaths
  /** For the posting index; null: the feed has more postings than it can hold, or their content was not hashed. */
  index: Entries | null
}

export class PostingTally {
  #postings = 0
  #withoutId = 0
  /** Which campaign ids there are; what belongs to each, in the same order. */
  readonly #campaignIds = new Entries(false, MAX_CAMPAIGN_IDS)
  readonly #campaigns: [id: string, postings: number][] = []
  readonly #requisitions = new Entries(false)
  readonly #ids: Entries
  readonly #duplicates = new Set<string>()
  /** Postings with the id of an earlier one. */
  #repeated = 0
  readonly #taken = new TakenPaths()
  readonly #hashed: boolean
  readonly #isIdNamed: boolean

  /**
   * `hashed`: the content of postings is given, so that they can be told apart without ids. `isIdNamed`: a person named
   * the path of the ids.
   */
  constructor(hashed = true, isIdNamed = false) {
    this.#hashed = hashed
    this.#isIdNamed = isIdNamed
    this.#ids = new Entries(hashed)
  }

  /** See `TakePosting`. */
  add(values: PostingValues, content: number): void {
    this.#postings++
    this.#taken.add(values)
    if (values.has(CAMPAIGN)) this.#countCampaign(values)
    if (values.has(REQUISITION)) this.#requisitions.add(values.hash(REQUISITION), 0, false)
    if (!values.has(ID)) {
      this.#withoutId++
      if (this.#hashed) this.#ids.addContent(content)
      return
    }
    const isRepeated = this.#ids.add(values.hash(ID), content, true) !== NEW
    if (!isRepeated) return
    this.#repeated++
    if (this.#duplicates.size < MOST_EXAMPLES) this.#duplicates.add(values.text(ID))
  }

  finish(): Tally {
    const shared = this.#sharedAddress()
    const ids = shared !== null && this.#hashed ? this.#ids.byContent() : this.#ids
    const { leftOut, repeated, unknown } = ids
    const withoutId = shared === null ? this.#withoutId : this.#postings
    const isKnown = unknown === 0 && (this.#hashed || withoutId === 0)
    const fields = this.#taken.all()
    return {
      postings: this.#postings,
      withoutId,
      duplicates: isKnown ? repeated : null,
      externalCampaignIds: Object.fromEntries(this.#campaigns),
      requisitionIds: this.#requisitions.count,
      fields: shared === null ? fields : { ...fields, id: null },
      warnings: this.#warnings(shared),
      index: leftOut > 0 || !this.#hashed ? null : ids,
    }
  }

  /** The path of an address that most postings have, which is no id of theirs; null: there is none. */
  #sharedAddress(): string | null {
    const path = this.#taken.of('id')
    if (this.#isIdNamed || path === null || !isAddress(path)) return null
    return this.#ids.isShared(this.#postings) ? path : null
  }

  #countCampaign(values: PostingValues): void {
    const { leftOut } = this.#campaignIds
    const known = this.#campaignIds.add(values.hash(CAMPAIGN), 0, false)
    const campaign = this.#campaigns[known]
    if (campaign !== undefined) campaign[1]++
    else if (this.#campaignIds.leftOut === leftOut) this.#campaigns.push([values.text(CAMPAIGN), 1])
  }

  #warnings(shared: string | null): string[] {
    const warnings: string[] = []
    const { leftOut, unknown } = this.#ids
    if (leftOut > 0) {
      const what = unknown > 0 ? 'changes and duplicate ids' : 'changes'
      warnings.push(`more than ${numbered(MOST_ENTRIES)} postings; ${what} are not counted`)
    }
    if (shared !== null) {
      warnings.push(
        `no posting has an id of its own (${shared} is shared): name its path in fields.id`,
      )
    } else if (unknown === 0 && this.#repeated > 0) {
      const examples = [...this.#duplicates].map((id) => `"${short(id, 40)}"`).join(', ')
      const such = examples === '' ? '' : `, such as ${examples}`
      warnings.push(`${counted(this.#repeated, 'posting')} with an id that another one has${such}`)
    }
    if (shared === null && this.#withoutId > 0) {
      warnings.push(
        this.#withoutId === this.#postings
          ? 'no posting has an id; name its path in fields.id'
          : `${counted(this.#withoutId, 'posting')} without an id`,
      )
    }
    if (this.#requisitions.leftOut > 0) {
      warnings.push(
        `more than ${numbered(MOST_ENTRIES)} requisition ids; the further ones are not counted`,
      )
    }
    if (this.#campaignIds.leftOut > 0) {
      const most = numbered(MAX_CAMPAIGN_IDS)
      warnings.push(`more than ${most} campaign ids; the further ones are not counted`)
    }
    return warnings
  }
}

/** Only where it is wanted: the first number costs 8 MB of ICU's data. */
const numbered = (count: number) => count.toLocaleString('en-US')

function counted(count: number, thing: string): string {
  return `${numbered(count)} ${thing}${count === 1 ? '' : 's'}`
}
