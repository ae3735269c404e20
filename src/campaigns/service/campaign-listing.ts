// Lists every campaign of the account, and proves that the list is complete. Pages overlap by one row, so that an edit
// between two pages cannot hide a campaign (measured: none was missed). In an incomplete listing, a missing campaign
// proves nothing.

import { type Clock, SECOND } from '../../lib/clock.ts'
import type {
  Campaign,
  CampaignApi,
  CampaignFailure,
  CampaignListing,
  CampaignPage,
  CampaignQuery,
} from './port.ts'

/**
 * The page sizes, each tried if the service refuses the one before. One page for the whole account is safest; null
 * leaves the size to the service.
 */
const PAGE_SIZES = [1000, 100, null]
/** A search without a status can omit archived campaigns, so the listing also asks for each status. */
const STATUSES = [undefined, 1, 3, 2]
const WAITS = [1 * SECOND, 5 * SECOND, 15 * SECOND]

/** OnPage is called after each page, with the number of campaigns read so far and the service's total. */
export type OnPage = (read: number, total: number | null) => void

interface ListingParts {
  search: CampaignApi['search']
  clock: Clock
  onPage?: OnPage | undefined
}

/**
 * listCampaigns walks through the pages of each search. If an edit might have broken a walk, it walks again after 1, 5
 * and 15 s. If a walk still proves nothing, the listing is incomplete.
 */
export async function listCampaigns(
  { search, clock, onPage = () => {} }: ListingParts,
  signal: AbortSignal,
): Promise<CampaignListing> {
  const campaigns = new Map<string, Campaign>()
  const see = (page: CampaignPage) => {
    for (const campaign of page.campaigns) campaigns.set(campaign.id, campaign)
    onPage(campaigns.size, page.total)
  }
  for (const status of STATUSES) {
    const query = status === undefined ? {} : { status }
    const known = new Set(
      [...campaigns.values()].flatMap((one) => (one.status === status ? [one.id] : [])),
    )
    const isKnown = ({ total, campaigns: rows }: CampaignPage) =>
      total === known.size && rows.every(({ id }) => known.has(id))
    for (let n = 0; ; n++) {
      const walked = await walk({ search, query, see, isKnown }, signal)
      if (walked.kind === 'failure') return walked
      if (walked.kind === 'walked') break
      const wait = walked.kind === 'unfit' ? undefined : WAITS[n]
      if (wait === undefined || signal.aborted) return { ...walked, kind: 'incomplete', campaigns }
      await clock.sleep(wait, signal)
    }
  }
  return { kind: 'complete', campaigns }
}

/**
 * Walked says how a walk ended. `broken` means that an edit might have broken it, so another walk can succeed; `unfit`
 * means that the answers of this service prove nothing.
 */
type Walked = { kind: 'walked' } | { kind: 'broken' | 'unfit'; reason: string }

/**
 * walk reads all pages of one query, and passes each to `see`. A page is the last page if it holds only the last row
 * again, or if it is short and its total equals the number of rows read. If `isKnown` is true for the first page, the
 * walk ends at once.
 */
async function walk(
  {
    search,
    query,
    see,
    isKnown,
  }: {
    search: CampaignApi['search']
    query: CampaignQuery
    see: (page: CampaignPage) => void
    isKnown: (page: CampaignPage) => boolean
  },
  signal: AbortSignal,
): Promise<Walked | CampaignFailure> {
  const ids = new Set<string>()
  let last: string | null = null
  /** The number that `Start` gives the first row: 1 by the specification; 0 if the pages do not fit then. */
  let base = 1
  let sizeIndex = 0
  for (;;) {
    const num = PAGE_SIZES[sizeIndex] ?? null
    const start = last === null ? {} : { start: ids.size - 1 + base }
    const answer = await search({ ...query, ...start, ...(num !== null && { num }) }, signal)
    if (answer.kind === 'failure') {
      const { status } = answer
      if (num === null || last !== null || (status !== 400 && status !== 422)) return answer
      sizeIndex++
      continue
    }
    const page = answer.value
    const saysNothingNew = last === null && isKnown(page)
    see(page)
    if (page.withoutId > 0) return unfit(`a page has campaigns without an id (${page.withoutId})`)
    if (page.fromCache === true) return unfit('the service answered from a cache')
    const rows = page.campaigns.map(({ id }) => id)
    if (last === null && rows.length === 0 && page.total !== 0)
      return unfit('an empty answer without "total": 0 proves nothing')
    if (saysNothingNew) return { kind: 'walked' }
    if (new Set(rows).size < rows.length) return broken('a page held the same campaign twice')
    if (last !== null && rows[0] !== last) {
      // Only the second page shows how Start counts.
      if (base === 0 || rows.some((id) => ids.has(id)))
        return broken(
          'the pages do not fit together; campaigns might be changing, or Start is ignored',
        )
      base = 0
      continue
    }
    const fresh: string[] = last === null ? rows : rows.slice(1)
    if (fresh.some((id) => ids.has(id))) return broken('a campaign came on two pages')
    if (fresh.length === 0) {
      // If the service puts one row on each page, this page has no place for a new row: ask for the next row.
      if (ids.size !== 1) return { kind: 'walked' }
      const next = await search({ ...query, start: 1 + base }, signal)
      if (next.kind === 'failure') return next
      see(next.value)
      return next.value.campaigns.every(({ id }) => ids.has(id))
        ? { kind: 'walked' }
        : unfit('a page holds one campaign only, so the pages cannot overlap')
    }
    for (const id of fresh) ids.add(id)
    last = fresh.at(-1) ?? null
    if (isLast(page, ids.size, num)) return { kind: 'walked' }
  }
}

/**
 * isLast returns whether a page is short, and its `total` and `endNum` agree with the number of rows read. A page that
 * is only short might not be the last page.
 */
function isLast({ total, endNum, campaigns }: CampaignPage, read: number, num: number | null) {
  const isShort = num !== null && campaigns.length < num
  return isShort && total === read && (endNum === null || endNum === total)
}

const broken = (reason: string): Walked => ({ kind: 'broken', reason })
const unfit = (reason: string): Walked => ({ kind: 'unfit', reason })
