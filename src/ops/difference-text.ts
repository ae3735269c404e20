// Says in words what differs between two versions of a feed. Pure.

import type {
  ChangedPosting,
  DifferenceSummary,
  Group,
  GroupSummary,
} from '../domain/difference.ts'
import { countOf } from '../lib/units.ts'

export type DifferenceKind = keyof DifferenceSummary['named']

/** DIFFERENCE_KINDS are in the order in which people read them. */
export const DIFFERENCE_KINDS = ['removed', 'added', 'changed'] as const satisfies DifferenceKind[]

/** fieldsText names what differs in a changed posting. */
export const fieldsText = ({ fields }: ChangedPosting): string =>
  fields.length === 0 ? 'white space or a comment' : fields.join(', ')

/** NOUNS name one value, and several values, of each group. */
export const NOUNS: Record<Group, readonly [one: string, several: string]> = {
  externalCampaignId: ['campaign', 'campaigns'],
  state: ['state', 'states'],
  city: ['city', 'cities'],
}

/** How many values of a group the line names. */
const MOST_NAMED = 2

/** differenceLine sums up a difference: `removed: 600 of 1,000 postings, 412 of campaign NUR-Q1, all of 2 cities`. */
export function differenceLine({ by, postings, totals }: DifferenceSummary): string {
  const { added, changed, removed } = totals
  if (added + changed + removed === 0) return 'no posting differs'
  const { city, externalCampaignId: campaign, state } = by
  const isAll = removed === postings.older
  const whole = isAll
    ? `all ${countOf(removed, 'posting')}`
    : `${countOf(removed)} of ${countOf(postings.older, 'posting')}`
  const told =
    removed === 0
      ? []
      : [
          `removed: ${whole}`,
          ...(campaign.count > 0 ? largest('externalCampaignId', campaign) : largest('city', city)),
          ...(isAll ? [] : [gone('state', state), gone('city', city)].flat()),
        ]
  const counts = Object.entries({ added, changed }).filter(([, count]) => count > 0)
  return [
    ...(told.length === 0 ? [] : [told.join(', ')]),
    ...counts.map(([what, count]) => `${what}: ${countOf(count)}`),
  ].join('; ')
}

/** largest names the values that lost the most postings: `412 of campaign NUR-Q1`. */
function largest(group: Group, { values }: GroupSummary): string[] {
  const [one] = NOUNS[group]
  return values
    .filter(({ removed }) => removed > 0)
    .slice(0, MOST_NAMED)
    .map(
      ({ isGone, removed, value }) =>
        `${isGone ? 'all ' : ''}${countOf(removed)} of ${one} ${value}`,
    )
}

/** gone counts the values that have lost all of their postings: `all of 2 cities`. */
function gone(group: Group, { gone: count }: GroupSummary): string[] {
  const [one, several] = NOUNS[group]
  return count === 0 ? [] : [`all of ${countOf(count)} ${count === 1 ? one : several}`]
}
