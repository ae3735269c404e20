// Answers which postings of the last uploads a campaign covers, and why a campaign covers a posting or leaves it out.

import type { Config } from '../config/config.ts'
import type { FieldPaths } from '../domain/mapping.ts'
import { nearest } from '../lib/nearest.ts'
import type { CampaignRun, CampaignSeen } from '../ops/campaigns/run.ts'
import type { Entry } from './desired.ts'
import { NO_POSTING } from './effects.ts'
import { feedSideOf } from './feed-side.ts'
import { readCampaigns } from './last-known.ts'
import { filtersIn, meets, type PostingVerdict, postingValue, verdictOf } from './reasons.ts'
import {
  type CanonicalTargeting,
  type Criterion,
  selector,
  type TargetedPosting,
  valuesIn,
} from './targeting.ts'

const FIELDS = [
  ...(['id', 'externalCampaignId', 'requisitionId', 'title', 'city'] as const),
  ...(['state', 'postalCode', 'description'] as const),
]
const forever = new AbortController().signal

/** CriterionCount says how many of the postings with the entry's id one criterion takes. */
export interface CriterionCount {
  name: Criterion
  takes: number
  /** The values that no such posting has, each with the most similar one that a posting has; null: none is similar. */
  unmet: { value: string; near: string | null }[]
}

export interface Covers {
  key: string
  campaignId: string | null
  /** What the service said at the last look; null: not known. */
  covered: number | null
  /** ISO 8601 UTC of the last look; null: there was none. */
  at: string | null
  counted: number
  /** The postings that carry the entry's id. */
  carrying: number
  postings: number
  isAtMost: boolean
  /** The file has another targeting, which is not sent yet. */
  isOlder: boolean
  criteria: CriterionCount[]
  problems: string[]
  rows: Omit<FieldPaths, 'description'>[]
}

/** coversOf counts and lists the postings that an entry's campaign covers by its targeting that was sent last. */
export async function coversOf(config: Config, entry: Entry, limit: number): Promise<Covers> {
  const { key } = entry
  const { sent, seen, at } = knownOf(config, key)
  const targeting = sent ?? entry.targeting
  const side = feedSideOf(config)
  const selects = targeting === null ? () => false : selector(targeting)
  const filters = targeting === null ? [] : filtersIn(targeting)
  const counts = new Map(filters.map((name) => [name, new Unmet(name, targeting)]))
  const found = { postings: 0, counted: 0, carrying: 0 }
  const rows: Covers['rows'] = []
  const take = (values: FieldPaths) => {
    const posting = { ...NO_POSTING, ...values }
    found.postings++
    const isCarrying = posting.externalCampaignId.trim() === key
    if (isCarrying) {
      found.carrying++
      for (const one of counts.values()) one.see(posting)
    }
    if (!selects(posting)) return
    found.counted++
    const { description: _, ...row } = values
    if (rows.length < limit) rows.push(row)
  }
  const problems = await side.read({ fields: FIELDS, needed: [], take }, forever)
  const isOlder =
    sent !== null &&
    entry.targeting !== null &&
    JSON.stringify(sent) !== JSON.stringify(entry.targeting)
  const criteria = [...counts.values()].map((one) => one.result()).filter(isTold)
  const covered = seen?.coverage?.covered ?? null
  const campaignId = seen?.campaignId ?? entry.campaignId
  const { isAtMost } = side
  return { key, campaignId, covered, at, ...found, isAtMost, isOlder, criteria, problems, rows }
}

/** The id itself is always met by the postings that carry it. */
const isTold = ({ name }: CriterionCount) => name !== 'externalCampaignId'

/** Most values of postings that are kept, to find similar ones. */
const MOST_SEEN = 2000

/** Unmet finds the values of a criterion that no posting meets. */
class Unmet {
  readonly #name: Criterion
  readonly #singles: { value: string; targeting: CanonicalTargeting; isMet: boolean }[]
  readonly #seen = new Set<string>()
  #takes = 0

  constructor(name: Criterion, targeting: CanonicalTargeting | null) {
    this.#name = name
    const values = targeting === null ? [] : valuesIn(targeting, name)
    const list = targeting?.[name]
    this.#singles = values.map((value, n) => {
      const one = Array.isArray(list) ? [list[n]] : list
      return {
        value,
        targeting: { ...(targeting as CanonicalTargeting), [name]: one },
        isMet: false,
      }
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

/** lastKnown returns the bindings and the last run of the history; none without a history. */
function lastKnown(config: Config) {
  const none = { bindings: [], run: null as CampaignRun | null }
  return readCampaigns(
    config,
    (known) => ({ bindings: known.bindings(), run: known.lastRun() }),
    none,
  )
}

function knownOf(config: Config, key: string) {
  const { bindings, run } = lastKnown(config)
  const bound = bindings.find((one) => one.key === key)
  const seen: CampaignSeen | null = run?.entries.find((one) => one.key === key) ?? null
  return { sent: bound?.sent.targeting ?? null, seen, at: run?.at ?? null }
}

/** WhyEntry says what an entry's campaign does with a posting. */
export interface WhyEntry extends PostingVerdict {
  key: string
  campaignId: string | null
  /** The state of the campaign on the service, such as `running`; null: not known, or there is no campaign. */
  status: string | null
  /** The file has another targeting, which gives another verdict once it is sent; null: there is none. */
  later: PostingVerdict | null
}

export interface WhyPosting {
  posting: Omit<FieldPaths, 'description'>
  /** The entries that take the posting, or carry its id. */
  entries: WhyEntry[]
  /** The number of the other entries, which leave it out because of their external campaign id. */
  others: number
  /** The entry with the most similar id, if no entry has the posting's id; null: none is similar. */
  near: string | null
}

/** The most postings that one id is explained for. */
const MOST_POSTINGS = 5

/** whyOf explains the postings of the last uploads with this id or requisition id. */
export async function whyOf(config: Config, entries: readonly Entry[], id: string) {
  const found: FieldPaths[] = []
  const take = (values: FieldPaths) => {
    const isIt = values.id?.trim() === id || values.requisitionId?.trim() === id
    if (isIt && found.length < MOST_POSTINGS) found.push(values)
  }
  const side = feedSideOf(config)
  const problems = await side.read({ fields: FIELDS, needed: [], take }, forever)
  const { bindings, run } = lastKnown(config)
  const sent = new Map(bindings.map((one) => [one.key, one.sent.targeting]))
  const seen = new Map(run?.entries.map((one) => [one.key, one]))
  const explained = found.map(({ description, ...posting }): WhyPosting => {
    const whole = { ...NO_POSTING, ...posting, description: description ?? '' }
    const all = entries.flatMap((entry): WhyEntry[] => {
      const { key, targeting } = entry
      const inForce = sent.get(key) ?? targeting
      if (inForce === null) return []
      const verdict = verdictOf(inForce, whole)
      const next = targeting === null ? verdict : verdictOf(targeting, whole)
      if (!verdict.isTaken && !next.isTaken && whole.externalCampaignId.trim() !== key) return []
      const { campaignId = entry.campaignId, status = null } = seen.get(key) ?? {}
      const later = next.isTaken === verdict.isTaken ? null : next
      return [{ key, campaignId, status, ...verdict, later }]
    })
    const keys = entries.map(({ key }) => key)
    const carried = whole.externalCampaignId.trim()
    const near = keys.includes(carried) || carried === '' ? null : nearest(carried, keys)
    return { posting, entries: all, others: entries.length - all.length, near }
  })
  return { id, feeds: side.latest.length, isAtMost: side.isAtMost, postings: explained, problems }
}
