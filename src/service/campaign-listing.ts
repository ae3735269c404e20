// Owns reading every campaign of the account, and the proof that it was every one. Pages overlap by one
// row, so that an edit between two pages cannot hide a campaign (measured: none
// was missed). Absence counts for nothing in a listing that is not complete.

import { type Clock, SECOND } from '../lib/clock.ts'
import type {
  Campaign,
  CampaignApi,
  CampaignFailure,
  CampaignPage,
  CampaignQuery,
  Listing,
} from './port.ts'

/** An account that fits one page has no paging problem; smaller where the service refuses it. */
const PAGES = [1000, 100, null]
/** The default of a search may leave archived campaigns out, so each status is asked for as well. */
const PASSES = [undefined, 1, 3, 2]
const WAITS = [1 * SECOND, 5 * SECOND, 15 * SECOND]

/** A walk that an edit broke is repeated after 1, 5 and 15 s; then the listing is incomplete. */
export async function listCampaigns(
  api: Pick<CampaignApi, 'search'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<Listing> {
  const campaigns = new Map<string, Campaign>()
  const see = (page: CampaignPage) => {
    for (const campaign of page.campaigns) campaigns.set(campaign.id, campaign)
  }
  for (const status of PASSES) {
    const query = status === undefined ? {} : { status }
    const known = new Set(
      [...campaigns.values()].flatMap((one) => (one.status === status ? [one.id] : [])),
    )
    const isKnown = ({ total, campaigns: rows }: CampaignPage) =>
      total === known.size && rows.every(({ id }) => known.has(id))
    for (let n = 0; ; n++) {
      const walked = await walk(api, query, see, isKnown, signal)
      if (walked.kind === 'failure') return walked
      if (walked.kind === 'walked') break
      const wait = walked.final ? undefined : WAITS[n]
      if (wait === undefined || signal.aborted) return { ...walked, kind: 'incomplete', campaigns }
      await clock.sleep(wait, signal)
    }
  }
  return { kind: 'complete', campaigns }
}

type Walked = { kind: 'walked' } | { kind: 'broken'; reason: string; final: boolean }

/**
 * Reads one query to its end: a page that holds the last row and nothing else, or one that is short and
 * whose total is what was read. A first page whose rows and total are known already says nothing new.
 */
async function walk(
  api: Pick<CampaignApi, 'search'>,
  query: CampaignQuery,
  see: (page: CampaignPage) => void,
  isKnown: (page: CampaignPage) => boolean,
  signal: AbortSignal,
): Promise<Walked | CampaignFailure> {
  const ids = new Set<string>()
  let last: string | null = null
  /** Number of the first row as `Start` counts it; 1 by the specification's words, 0 where those fail. */
  let base = 1
  let size = 0
  for (;;) {
    const num = PAGES[size] ?? null
    const start = last === null ? {} : { start: ids.size - 1 + base }
    const answer = await api.search({ ...query, ...start, ...(num !== null && { num }) }, signal)
    if (answer.kind === 'failure') {
      const { status } = answer
      if (num === null || last !== null || (status !== 400 && status !== 422)) return answer
      size++
      continue
    }
    const page = answer.value
    const saysNothingNew = last === null && isKnown(page)
    see(page)
    if (page.withoutId > 0)
      return broken(`a page has campaigns without an id (${page.withoutId})`, true)
    if (page.fromCache === true) return broken('the service answered from a cache', true)
    const rows = page.campaigns.map(({ id }) => id)
    if (saysNothingNew) return { kind: 'walked' }
    if (new Set(rows).size < rows.length) return broken('a page held the same campaign twice')
    if (last !== null && rows[0] !== last) {
      // Only the second page can tell how Start counts.
      if (base === 0 || rows.some((id) => ids.has(id)))
        return broken(
          'the pages do not fit together; campaigns may be changing, or Start is ignored',
        )
      base = 0
      continue
    }
    const fresh: string[] = last === null ? rows : rows.slice(1)
    if (fresh.some((id) => ids.has(id))) return broken('a campaign came on two pages')
    if (fresh.length === 0) {
      // With pages of one row, the overlap is all that a page can hold.
      if (ids.size !== 1) return { kind: 'walked' }
      const next = await api.search({ ...query, start: 1 + base }, signal)
      if (next.kind === 'failure') return next
      see(next.value)
      return next.value.campaigns.every(({ id }) => ids.has(id))
        ? { kind: 'walked' }
        : broken('a page holds one campaign only, so the pages cannot overlap', true)
    }
    for (const id of fresh) ids.add(id)
    last = fresh.at(-1) ?? null
    if (isLast(page, ids.size, num)) return { kind: 'walked' }
  }
}

/** By three documented numbers that agree; a short page alone may not be the last. */
function isLast({ total, endNum, campaigns }: CampaignPage, read: number, num: number | null) {
  const isShort = num !== null && campaigns.length < num
  return isShort && total === read && (endNum === null || endNum === total)
}

function broken(reason: string, final = false): Walked {
  return { kind: 'broken', reason, final }
}
