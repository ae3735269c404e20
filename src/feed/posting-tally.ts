// Counts what a feed contains and notices ids that are missing or used twice. Its memory is bounded,
// however many postings there are: ids are kept as hashes, which are sorted in a file when they are many.

import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { short } from './fault.ts'
import type { HeldIndex } from './index-place.ts'
import { type FeedContent, MAX_CAMPAIGN_IDS } from './port.ts'
import { DistinctCount, hash64, PostingIndexBuilder } from './posting-index.ts'
import type { Posting } from './posting-reader.ts'

const MOST_EXAMPLES = 3
/** Slots of the table that remembers ids for examples, at first and at most; what it forgets is still counted. */
const FIRST_SLOTS = 1 << 10
const MOST_SLOTS = 1 << 16

export class PostingTally implements Disposable {
  readonly #indexTo: string | HeldIndex | null
  #postings = 0
  #withoutId = 0
  readonly #campaigns = new Map<string, number>()
  #campaignsLeftOut = false
  readonly #requisitions: DistinctCount
  readonly #index: PostingIndexBuilder
  #recentLow = new Uint32Array(FIRST_SLOTS)
  #recentHigh = new Uint32Array(FIRST_SLOTS)
  readonly #duplicates = new Set<string>()

  /** `indexTo`: path of a new file for the posting index, or memory; null: none is written. */
  constructor(indexTo: string | HeldIndex | null = null) {
    const directory = typeof indexTo === 'string' ? dirname(indexTo) : tmpdir()
    this.#indexTo = indexTo
    this.#index = new PostingIndexBuilder(directory)
    this.#requisitions = new DistinctCount(directory)
  }

  /** Throws `NoRoom`, as `finish` does. */
  add({ values, content }: Posting): void {
    this.#postings++
    const { id, externalCampaignId: campaign, requisitionId } = values
    if (requisitionId !== undefined) this.#requisitions.add(requisitionId)
    if (campaign !== undefined) this.#countCampaign(campaign)
    if (id === undefined) {
      this.#withoutId++
      const [high, low] = hash64(`content ${content}`)
      this.#index.add(high, low, content)
      return
    }
    const [high, low] = hash64(id)
    this.#index.add(high, low, content)
    this.#noticeDuplicate(id, high, low)
  }

  /** Writes the index as well. */
  finish(): Omit<FeedContent, 'root' | 'records'> {
    const { duplicates } = this.#index.finish(this.#indexTo)
    return {
      postings: this.#postings,
      withoutId: this.#withoutId,
      duplicates,
      externalCampaignIds: Object.fromEntries(this.#campaigns),
      requisitionIds: this.#requisitions.finish(),
      warnings: this.#warnings(duplicates),
    }
  }

  /** Takes the index away again. */
  discard(): void {
    this.#index.discard()
  }

  [Symbol.dispose](): void {
    this.#index[Symbol.dispose]()
    this.#requisitions[Symbol.dispose]()
  }

  #countCampaign(campaign: string): void {
    const count = this.#campaigns.get(campaign)
    if (count === undefined && this.#campaigns.size >= MAX_CAMPAIGN_IDS)
      this.#campaignsLeftOut = true
    else this.#campaigns.set(campaign, (count ?? 0) + 1)
  }

  #noticeDuplicate(id: string, high: number, low: number): void {
    if (this.#postings > this.#recentLow.length) this.#widen()
    const slot = low % this.#recentLow.length
    const seen = this.#recentLow[slot] === low && this.#recentHigh[slot] === high
    if (seen && this.#duplicates.size < MOST_EXAMPLES) this.#duplicates.add(id)
    this.#recentLow[slot] = low
    this.#recentHigh[slot] = high
  }

  #widen(): void {
    const [lows, highs] = [this.#recentLow, this.#recentHigh]
    if (lows.length === MOST_SLOTS) return
    this.#recentLow = new Uint32Array(MOST_SLOTS)
    this.#recentHigh = new Uint32Array(MOST_SLOTS)
    for (const [i, low] of lows.entries()) {
      this.#recentLow[low % MOST_SLOTS] = low
      this.#recentHigh[low % MOST_SLOTS] = highs[i] as number
    }
  }

  #warnings(duplicates: number): string[] {
    const warnings: string[] = []
    // Postings without an id are indexed by content; equal ones are no duplicate ids.
    if (duplicates > 0 && this.#withoutId === 0) {
      const examples = [...this.#duplicates].map((id) => `"${short(id, 40)}"`).join(', ')
      const such = examples === '' ? '' : `, such as ${examples}`
      warnings.push(`${counted(duplicates, 'posting')} with an id that another one has${such}`)
    }
    if (this.#withoutId > 0) {
      warnings.push(
        this.#withoutId === this.#postings
          ? 'no posting has an id; name its path in fields.id'
          : `${counted(this.#withoutId, 'posting')} without an id`,
      )
    }
    if (this.#campaignsLeftOut) {
      const most = MAX_CAMPAIGN_IDS.toLocaleString('en-US')
      warnings.push(`more than ${most} campaign ids; the further ones are not counted`)
    }
    return warnings
  }
}

function counted(count: number, thing: string): string {
  return `${count.toLocaleString('en-US')} ${thing}${count === 1 ? '' : 's'}`
}
