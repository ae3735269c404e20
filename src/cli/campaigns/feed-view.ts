// What feeds and campaigns have to do with each other, as sentences for people.

import type { FeedFindings } from '../../campaigns/feed-states.ts'
import type { Selection } from '../../campaigns/plan.ts'

/** Of a long list, so many are named. */
const NAMED = 10

export const NO_FEED = 'no feed was uploaded yet, so no postings are counted'

/** `NUR.xml 1,204 postings (version 118, 2026-11-20T06:00:00.000Z)`. */
export function feedLine({ uploads, postings }: FeedFindings): string {
  const [only, another] = uploads
  if (only === undefined) return NO_FEED
  if (another !== undefined)
    return `${uploads.length} feeds with ${counted(postings, 'posting')}, as uploaded last`
  const { feed, version, uploadedAt } = only
  return `feed ${feed} with ${counted(postings, 'posting')} (version ${version}, uploaded ${uploadedAt})`
}

export function selectionText({ before, after }: Selection): string {
  const shown = (count: number | null) => count?.toLocaleString('en-US') ?? '(unknown)'
  return `postings ${shown(before)} -> ${shown(after)}`
}

export function feedNotices(feed: FeedFindings): string[] {
  const { waiting, gone, stale, overlaps, dead, orphans } = feed
  const soon = waiting.filter(({ startsSoon }) => startsSoon).map(({ key }) => key)
  return [
    ...feed.problems.map((problem) => `postings are not counted: ${problem}`),
    ...list('waiting, no feed has carried them yet', waiting, ({ key }) => key),
    ...list('of these, the campaign starts within two days', soon, (key) => key),
    ...limited(gone, ({ key, kind, uploads, since, pinned }) => {
      const from = since === null ? '' : `, the first at ${since}`
      const still = pinned === 0 ? '' : `; ${counted(pinned, 'pinned requisition')} may still spend`
      return `${key}: ${kind}: ${counted(uploads, 'upload')} in a row without it${from}${still}`
    }),
    ...limited(stale, ({ key, requisitionIds }) => {
      return `${key}: no posting has the pinned ${requisitionIds.slice(0, NAMED).join(', ')}`
    }),
    ...limited(overlaps, ({ keys, postings }) => {
      return `${counted(postings, 'posting')} selected by ${keys}, which bid against each other`
    }),
    ...limited(dead, ({ key, campaignId, why, postings }) => {
      return `${key}: ${counted(postings, 'posting')} look sponsored and are not: campaign ${campaignId} is ${why}`
    }),
    ...limited(orphans, ({ externalCampaignId: id, postings, nearest }) => {
      const meant = nearest === null ? '' : `; did you mean ${nearest}?`
      return `${id}: ${counted(postings, 'posting')} carry it, and no entry of the file has it${meant}`
    }),
  ]
}

function list<T>(what: string, all: readonly T[], name: (one: T) => string): string[] {
  if (all.length === 0) return []
  const left = all.length - NAMED
  return [
    `${what}: ${all.slice(0, NAMED).map(name).join(', ')}${left > 0 ? ` and ${left} more` : ''}`,
  ]
}

function limited<T>(all: readonly T[], say: (one: T) => string): string[] {
  const left = all.length - NAMED
  const said = all.slice(0, NAMED).map(say)
  return left > 0 ? [...said, `and ${left} more of these; --json lists all`] : said
}

export function counted(count: number, thing: string): string {
  return `${count.toLocaleString('en-US')} ${thing}${count === 1 ? '' : 's'}`
}
