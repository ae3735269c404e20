// Says for a posting which criterion of a targeting takes it or leaves it out. Pure.

import {
  type CanonicalTargeting,
  CRITERIA,
  type Criterion,
  canonical,
  isEmpty,
  listText,
  selector,
  type TargetedPosting,
  valuesIn,
} from './targeting.ts'

/** PostingVerdict says whether a targeting takes a posting, and by which criterion. */
export interface PostingVerdict {
  isTaken: boolean
  /** The criteria that take the posting, or the criteria that leave it out. */
  by: Criterion[]
  /** The criteria in `by` with their values, as text for people. */
  reason: string
}

/** verdictOf judges a posting by the same rules as `selector`. */
export function verdictOf(targeting: CanonicalTargeting, posting: TargetedPosting): PostingVerdict {
  const { requisitionIds } = targeting
  const requisition = posting.requisitionId.trim()
  const isPinned = requisitionIds.includes(requisition)
  const isTaken = selector(targeting)(posting)
  const filters = filtersIn(targeting)
  const against = filters.filter((name) => !meets(targeting, name, posting))
  if (isPinned && against.length > 0)
    return {
      isTaken,
      by: ['requisitionIds'],
      reason: `requisitionIds has ${requisition}`,
    }
  if (isTaken)
    return {
      isTaken,
      by: filters,
      reason:
        filters.map((name) => `${name} ${limitedList(targeting, name)}`).join('; ') ||
        'every posting',
    }
  const by: Criterion[] = against.length === 0 ? ['requisitionIds'] : against
  const reason = by.map((name) => whyNot(targeting, name, posting)).join('; ')
  return { isTaken, by, reason }
}

/** filtersIn returns the criteria that filter, without `requisitionIds`, which add postings. */
export const filtersIn = (targeting: CanonicalTargeting): Criterion[] =>
  CRITERIA.filter((name) => name !== 'requisitionIds' && !isEmpty(targeting, name))

/** meets returns whether a posting meets one criterion alone. */
export const meets = (targeting: CanonicalTargeting, name: Criterion, posting: TargetedPosting) =>
  selector({ ...canonical({}), [name]: targeting[name] })(posting)

function whyNot(targeting: CanonicalTargeting, name: Criterion, posting: TargetedPosting): string {
  const wanted = limitedList(targeting, name)
  const has = postingValue(name, posting)
  const wants = `${name} wants ${wanted}`
  if (name === 'jobDescKeywords') return `${wants}, and its description has none of them`
  return has === '' ? `${wants}, and the posting has none` : `${wants}, and the posting has ${has}`
}

/** postingValue returns what a posting has for a criterion; empty if it has nothing. */
export function postingValue(name: Criterion, posting: TargetedPosting): string {
  const { city, state, postalCode, title, description, externalCampaignId, requisitionId } = posting
  const values: Record<Criterion, string> = {
    cities: [city, state].filter((text) => text.trim() !== '').join(' '),
    stateProvCodes: state,
    postalCodes: postalCode,
    jobTitles: title,
    jobDescKeywords: description,
    externalCampaignId,
    requisitionIds: requisitionId,
  }
  return values[name].trim()
}

const MOST_VALUES = 5

function limitedList(targeting: CanonicalTargeting, name: Criterion): string {
  const values = valuesIn(targeting, name)
  const more = values.length - MOST_VALUES
  return `${listText(values.slice(0, MOST_VALUES))}${more > 0 ? ` and ${more} more` : ''}`
}
