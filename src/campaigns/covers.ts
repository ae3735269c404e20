// Answers which postings of the last uploads a campaign covers.

import type { Config } from '../config/config.ts'
import type { FieldPaths } from '../domain/mapping.ts'
import { nearest } from '../lib/nearest.ts'
import type { CampaignSeen } from '../ops/campaigns/run.ts'
import type { Entry } from './desired.ts'
import { NO_POSTING } from './effects.ts'
import { feedSideOf } from './feed-side.ts'
import { lastKnown } from './last-known.ts'
import { POSTING_FIELDS, type PostingRow, rowOf } from './posting-rows.ts'
import { filtersIn, meets, postingValue } from './reasons.ts'
import {
  type CanonicalTargeting,
  type Criterion,
  isSame,
  selector,
  type TargetedPosting,
  valuesIn,
} from './targeting.ts'

/** CriterionCount says how many of the postings with the entry's id one criterion takes. */
interface CriterionCount {
  name: Criterion
  takes: number
  /**
   * The values that no posting with the entry's id has. `near` is the most similar value of such a posting; null if
   * none is similar.
   */
  unmet: { value: string; near: string | null }[]
}

export interface Covers {
  key: string
  campaignId: string | null
  /** The number of postings that the service sponsored at the last look; null if it is not known. */
  covered: number | null
  /** ISO 8601 UTC of the last look; null before the first look. */
  at: string | null
  /** The postings that the campaign covers by our count. */
  counted: number
  /** The postings that carry the entry's id. */
  carrying: number
  postings: number
  /** True if counts are upper limits, because the service might not keep the postings of all feeds. */
  isAtMost: boolean
  /** True if the file has another targeting, which is not sent yet. */
  isOlder: boolean
  criteria: CriterionCount[]
  problems: string[]
  rows: PostingRow[]
}

/**
 * coversOf counts and lists the postings that an entry's campaign covers by the targeting that was sent last. If none
 * was sent, it takes the targeting in the file.
 */
export async function coversOf(
  config: Config,
  { entry, limit }: { entry: Entry; limit: number },
  signal: AbortSignal,
): Promise<Covers> {
  const { key } = entry
  const { sent, seen, at } = knownOf(config, key)
  const targeting = sent ?? entry.targeting
  const side = feedSideOf(config)
  const selects = targeting === null ? () => false : selector(targeting)
  const counters = targeting === null ? [] : countersOf(targeting)
  const found = { postings: 0, counted: 0, carrying: 0 }
  const rows: PostingRow[] = []
  const take = (values: FieldPaths) => {
    const posting = { ...NO_POSTING, ...values }
    found.postings++
    const isCarrying = posting.externalCampaignId.trim() === key
    if (isCarrying) {
      found.carrying++
      for (const one of counters) one.see(posting)
    }
    if (!selects(posting)) return
    found.counted++
    if (rows.length < limit) rows.push(rowOf(values))
  }
  const problems = await side.read({ fields: POSTING_FIELDS, needed: [], take }, signal)
  const isOlder = sent !== null && entry.targeting !== null && !isSame(sent, entry.targeting)
  const criteria = counters.map((one) => one.result())
  const covered = seen?.coverage?.covered ?? null
  const campaignId = seen?.campaignId ?? entry.campaignId
  const { isAtMost } = side
  return { key, campaignId, covered, at, ...found, isAtMost, isOlder, criteria, problems, rows }
}

/** countersOf has no counter for the external campaign id, because every posting that is counted carries it. */
const countersOf = (targeting: CanonicalTargeting): CriterionCounter[] =>
  filtersIn(targeting)
    .filter((name) => name !== 'externalCampaignId')
    .map((name) => new CriterionCounter(name, targeting))

/** A counter keeps at most this many values of postings, to find similar ones. */
const MOST_SEEN = 2000

/** CriterionCounter counts the postings that a criterion takes, and finds the values of it that no posting has. */
class CriterionCounter {
  readonly #name: Criterion
  readonly #singles: { value: string; targeting: CanonicalTargeting; isMet: boolean }[]
  readonly #seen = new Set<string>()
  #takes = 0

  constructor(name: Criterion, targeting: CanonicalTargeting) {
    this.#name = name
    const { [name]: list } = targeting
    this.#singles = valuesIn(targeting, name).map((value, n) => {
      const one = Array.isArray(list) ? [list[n]] : list
      return { value, targeting: { ...targeting, [name]: one }, isMet: false }
    })
  }

  see(posting: TargetedPosting): void {
    let isTaken = false
    for (const one of this.#singles) {
      if (!meets(one.targeting, this.#name, posting)) continue
      one.isMet = true
      isTaken = true
    }
    if (isTaken) this.#takes++
    else if (this.#seen.size < MOST_SEEN && this.#name !== 'jobDescKeywords')
      this.#seen.add(postingValue(this.#name, posting))
  }

  result(): CriterionCount {
    const unmet = this.#singles
      .filter(({ isMet }) => !isMet)
      .map(({ value }) => ({ value, near: nearest(value, this.#seen) }))
    return { name: this.#name, takes: this.#takes, unmet }
  }
}

function knownOf(config: Config, key: string) {
  const { bindings, run } = lastKnown(config)
  const bound = bindings.find((one) => one.key === key)
  const seen: CampaignSeen | null = run?.entries.find((one) => one.key === key) ?? null
  return { sent: bound?.sent.targeting ?? null, seen, at: run?.at ?? null }
}
