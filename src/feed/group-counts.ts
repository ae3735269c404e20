// Counts the added and removed postings of a difference by campaign id, state and city.

import { type Difference, GROUPS, MAX_GROUP_VALUES } from '../domain/difference.ts'
import type { PostingTexts } from './posting-stream.ts'

export class GroupCounts {
  readonly by: Difference['by'] = {
    externalCampaignId: new Map(),
    state: new Map(),
    city: new Map(),
  }

  added(values: PostingTexts): void {
    this.#count(values, 'added')
  }

  removed(values: PostingTexts): void {
    this.#count(values, 'removed')
  }

  /**
   * left counts a posting of the newer version for each of its values that was counted before. Call `removed` for all
   * removed postings first, because a value is gone if no posting of the newer version has it.
   */
  left(values: PostingTexts): void {
    for (const group of GROUPS) {
      const known = this.by[group].get(values[group] ?? '')
      if (known !== undefined) known.left++
    }
  }

  #count(values: PostingTexts, what: 'added' | 'removed'): void {
    for (const group of GROUPS) {
      const value = values[group]
      if (value === undefined) continue
      const counts = this.by[group]
      const known = counts.get(value)
      if (known !== undefined) known[what]++
      else if (counts.size < MAX_GROUP_VALUES)
        counts.set(value, { added: 0, removed: 0, left: 0, [what]: 1 })
    }
  }
}
