// Decides whether the targeting that a service shows after a write can be another form of what we sent. Pure.

import type { Targeting } from './service/port.ts'
import {
  type CanonicalTargeting,
  CRITERIA,
  type Criterion,
  canonical,
  carriedId,
  readTargeting,
} from './targeting.ts'

/**
 * isEchoOf returns whether a shown targeting can be another form of `sent`: it has the same external campaign id, and
 * no criterion is wider.
 */
export function isEchoOf(raw: unknown, sent: CanonicalTargeting): boolean {
  if (carriedId(raw) !== sent.externalCampaignId) return false
  return CRITERIA.every((name) => name === 'externalCampaignId' || !isWider(raw, name, sent))
}

/**
 * isWider returns whether a criterion shows a value that we did not send, or is empty although we sent values. A
 * criterion that cannot be read is not wider, except `requisitionIds`.
 */
function isWider(raw: unknown, name: Criterion, sent: CanonicalTargeting): boolean {
  const value = Object.hasOwn(Object(raw), name) ? Object(raw)[name] : undefined
  const wanted = new Set(texts(sent, name))
  const shown = isNothing(value) ? canonical({}) : readTargeting({ [name]: value })
  const values = shown === null ? null : texts(shown, name)
  const isMore = values?.some((one) => !wanted.has(one)) ?? false
  // Requisition ids add postings (OR). The other criteria filter (AND), so that an empty one selects any value.
  if (name === 'requisitionIds') return values === null || isMore
  return wanted.size > 0 && (isMore || values?.length === 0)
}

/** isNothing returns whether a value has no text in it: `null`, `""`, `[]` or `[null]`. */
const isNothing = (value: unknown): boolean =>
  value == null || value === '' || (Array.isArray(value) && value.every(isNothing))

/** texts returns the values of a criterion in lower case: a service can show another case. */
function texts(targeting: CanonicalTargeting, name: Criterion): string[] {
  const { [name]: values } = targeting as Targeting & CanonicalTargeting
  const all = typeof values === 'string' ? [values] : values
  return all.map((one) => JSON.stringify(one).toLowerCase())
}
