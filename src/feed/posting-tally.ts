// Counts what a feed contains and notices ids that are missing or used twice. Its memory is some
// bytes a posting plus at most MAX_CAMPAIGN_IDS campaign ids.

import { short } from './fault.ts'
import { type FeedContent, MAX_CAMPAIGN_IDS, type PostingIndex } from './port.ts'
import { DistinctCount, hash64, PostingIndexBuilder } from './posting-index.ts'
import type { Posting } from './posting-reader.ts'

const MOST_EXAMPLES = 3
/** Slots of the table that remembers ids for examples; what it forgets is still counted. */
const RECENT_IDS = 1 << 16

export class PostingTally {
  #postings = 0
  #withoutId = 0
  readonly #campaigns = new Map<string, number>()
  #campaignsLeftOut = false
  readonly #requisitions = new DistinctCount()
  readonly #index = new PostingIndexBuilder()
  readonly #recentLow = new Uint32Array(RECENT_IDS)
  readonly #recentHigh = new Uint32Array(RECENT_IDS)
  readonly #duplicates = new Set<string>()

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

  finish(): {
    content: Omit<FeedContent, 'root' | 'records'>
    index: PostingIndex
  } {
    const { index, duplicates } = this.#index.finish()
    return {
      content: {
        postings: this.#postings,
        externalCampaignIds: Object.fromEntries(this.#campaigns),
        requisitionIds: this.#requisitions.finish(),
        warnings: this.#warnings(duplicates),
      },
      index,
    }
  }

  #countCampaign(campaign: string): void {
    const count = this.#campaigns.get(campaign)
    if (count === undefined && this.#campaigns.size >= MAX_CAMPAIGN_IDS)
      this.#campaignsLeftOut = true
    else this.#campaigns.set(campaign, (count ?? 0) + 1)
  }

  #noticeDuplicate(id: string, high: number, low: number): void {
    const slot = low % RECENT_IDS
    const seen = this.#recentLow[slot] === low && this.#recentHigh[slot] === high
    if (seen && this.#duplicates.size < MOST_EXAMPLES) this.#duplicates.add(id)
    this.#recentLow[slot] = low
    this.#recentHigh[slot] = high
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
