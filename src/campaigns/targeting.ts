// Owns the meaning of targeting (specification section 2, "Targeting object"): which postings it selects, its canonical
// form, how we read and send it, and whether a change can spend more. Pure.

import type { FieldPaths } from '../domain/mapping.ts'
import { combinedSpend, normalized, type Spend } from './fields.ts'
import { pluralsOf } from './plurals.ts'
import { readableText } from './readable-text.ts'
import type { City, Targeting } from './service/port.ts'

/** TargetedPosting holds the fields of a posting that targeting tests; a field is empty if the feed has no value. */
export type TargetedPosting = Required<Omit<FieldPaths, 'id'>>

/** CanonicalTargeting has every criterion, in the order of the specification. An empty criterion does not filter. */
export interface CanonicalTargeting {
  readonly cities: readonly City[]
  readonly externalCampaignId: string
  readonly requisitionIds: readonly string[]
  readonly jobDescKeywords: readonly string[]
  readonly jobTitles: readonly string[]
  readonly postalCodes: readonly string[]
  readonly stateProvCodes: readonly string[]
}

export type Criterion = keyof CanonicalTargeting
type ListCriterion = Exclude<Criterion, 'cities' | 'externalCampaignId'>

export const CRITERIA = [
  'cities',
  'externalCampaignId',
  'requisitionIds',
  'jobDescKeywords',
  'jobTitles',
  'postalCodes',
  'stateProvCodes',
] as const satisfies readonly Criterion[]

const idSpelling = (text: string) => text.trim()
const codeSpelling = (text: string) => normalized(text).toUpperCase()

/** SPELLING unifies the values of each list. It removes only differences that have no meaning in the specification. */
const SPELLING: Record<ListCriterion, (text: string) => string> = {
  requisitionIds: idSpelling,
  jobDescKeywords: normalized,
  jobTitles: normalized,
  postalCodes: codeSpelling,
  stateProvCodes: codeSpelling,
}

/**
 * canonical returns one form for all targetings with the same meaning: an absent list is empty, and values have one
 * spelling, are sorted, and appear once. The specification does not say how case matters in texts, so their case stays.
 */
export function canonical(targeting: Targeting): CanonicalTargeting {
  const list = (name: ListCriterion) =>
    unique((targeting[name] ?? []).map(SPELLING[name]).filter((value) => value !== ''))
  const cities = (targeting.cities ?? [])
    .map(({ name, stateProvCode }) => ({
      name: normalized(name),
      stateProvCode: codeSpelling(stateProvCode),
    }))
    .filter((city) => city.name !== '')
  return {
    cities: unique(cities.map((c) => JSON.stringify([c.stateProvCode, c.name]))).map((text) => {
      const [stateProvCode, name] = JSON.parse(text) as [string, string]
      return { name, stateProvCode }
    }),
    externalCampaignId: idSpelling(targeting.externalCampaignId ?? ''),
    requisitionIds: list('requisitionIds'),
    jobDescKeywords: list('jobDescKeywords'),
    jobTitles: list('jobTitles'),
    postalCodes: list('postalCodes'),
    stateProvCodes: list('stateProvCodes'),
  }
}

export const isEmpty = (targeting: CanonicalTargeting, name: Criterion) =>
  targeting[name].length === 0

/** filterCount counts the criteria that are not empty, without the external campaign id. */
export const filterCount = (targeting: CanonicalTargeting): number =>
  CRITERIA.filter((name) => name !== 'externalCampaignId' && !isEmpty(targeting, name)).length

export const isSame = (a: CanonicalTargeting, b: CanonicalTargeting) =>
  JSON.stringify(a) === JSON.stringify(b)

/**
 * wholeTargeting returns what an update sends. A service can replace the targeting or merge it by key, so the update
 * names every list, including the empty ones.
 */
export const wholeTargeting = (wanted: CanonicalTargeting): Targeting => ({ ...wanted })

/** briefTargeting returns the criteria that are not empty: a new campaign is sent with them, and people see them. */
export const briefTargeting = (wanted: CanonicalTargeting): Targeting =>
  Object.fromEntries(
    CRITERIA.filter((name) => !isEmpty(wanted, name)).map((name) => [name, wanted[name]]),
  )

export type Selector = (posting: TargetedPosting) => boolean

/**
 * selector prepares a test for many postings. A posting is selected if it meets every criterion that is not empty,
 * where one value of a list is enough, or if it has one of the requisition ids. A targeting without any criterion
 * selects every posting. A targeting with only requisition ids selects only the postings that have them. Ids are
 * compared exactly, everything else without case.
 */
export function selector(targeting: CanonicalTargeting): Selector {
  const tests = filterTests(targeting)
  const isInside = (posting: TargetedPosting) => tests.every((test) => test(posting))
  const pinned = new Set(targeting.requisitionIds)
  if (pinned.size === 0) return isInside
  return (posting) =>
    pinned.has(posting.requisitionId.trim()) || (tests.length > 0 && isInside(posting))
}

/**
 * filterTests returns a test for each criterion that is not empty. `requisitionIds` does not filter, so it has none.
 */
function filterTests(targeting: CanonicalTargeting): Selector[] {
  const tests: Selector[] = []
  const { externalCampaignId, cities, stateProvCodes, postalCodes } = targeting
  if (externalCampaignId !== '')
    tests.push((posting) => posting.externalCampaignId.trim() === externalCampaignId)
  if (cities.length > 0) {
    const wanted = new Set(cities.map((c) => cityInState(c.name, c.stateProvCode)))
    tests.push(({ city, state }) => wanted.has(cityInState(city, state)))
  }
  const [states, zips] = [new Set(stateProvCodes), new Set(postalCodes)]
  if (states.size > 0) tests.push(({ state }) => states.has(codeSpelling(state)))
  if (zips.size > 0) tests.push(({ postalCode }) => zips.has(codeSpelling(postalCode)))
  if (targeting.jobDescKeywords.length > 0) {
    const keywords = targeting.jobDescKeywords.map(fold)
    tests.push(({ description }) => {
      const text = fold(readableText(description))
      return keywords.some((keyword) => text.includes(keyword))
    })
  }
  if (targeting.jobTitles.length > 0) {
    const patterns = targeting.jobTitles.map(titlePattern)
    tests.push(({ title }) => {
      const text = fold(title)
      return patterns.some((pattern) => pattern.test(text))
    })
  }
  return tests
}

/**
 * titlePattern matches whole words in a row, whatever stands between them. A singular word also matches its plural, but
 * a plural not its singular. A dot before a word and the signs of C++ and C# belong to the word.
 */
function titlePattern(title: string): RegExp {
  const words = fold(title).match(/\.?[\p{L}\p{N}]+[+#]*/gu) ?? []
  // A title without any word matches nothing.
  if (words.length === 0) return /(?!)/
  const each = words.map((word) => {
    const forms = [word, ...pluralsOf(word)].map(literally).join('|')
    const before = word.startsWith('.') ? '' : '(?<![\\p{L}\\p{N}])'
    return `${before}(?:${forms})(?![\\p{L}\\p{N}+#])`
  })
  return new RegExp(each.join('[^\\p{L}\\p{N}]*'), 'u')
}

const literally = (word: string) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/**
 * readTargeting reads the targeting that the service shows. It returns null if one of the values cannot be read,
 * because the meaning of the targeting is then not known.
 */
export function readTargeting(raw: unknown): CanonicalTargeting | null {
  if (raw === null) return canonical({})
  if (typeof raw !== 'object' || Array.isArray(raw)) return null
  const found: Record<string, unknown> = {}
  for (const name of CRITERIA) {
    const value = Object.hasOwn(raw, name) ? (raw as Record<string, unknown>)[name] : undefined
    if (value === undefined || value === null) continue
    const values = name === 'externalCampaignId' ? [value] : value
    const isValid = name === 'cities' ? isCity : isText
    if (!Array.isArray(values) || !values.every(isValid)) return null
    const texts = name === 'cities' ? values : values.map(String)
    found[name] = name === 'externalCampaignId' ? texts[0] : texts
  }
  return canonical(found as Targeting)
}

/**
 * carriedId returns the external campaign id of a shown targeting, even if other criteria cannot be read; else `''`.
 */
export function carriedId(raw: unknown): string {
  const { externalCampaignId } = Object(raw) as Record<string, unknown>
  return isText(externalCampaignId) ? idSpelling(String(externalCampaignId)) : ''
}

const isText = (value: unknown) => typeof value === 'string' || typeof value === 'number'

const isCity = (value: unknown): value is City => {
  const { name, stateProvCode } = Object(value) as Record<string, unknown>
  return typeof name === 'string' && normalized(name) !== '' && typeof stateProvCode === 'string'
}

/** targetingSpend returns how a change of targeting can affect spending. `before` is null if it is not known. */
export function targetingSpend(
  before: CanonicalTargeting | null,
  after: CanonicalTargeting,
): Spend {
  if (before === null) return 'up'
  const all = CRITERIA.map((name) => criterionSpend(name, before, after))
  // Requisition ids alone select nothing else, so any other criterion adds postings.
  return isPinned(before) && !isPinned(after) && !isSame(before, after) ? 'up' : combinedSpend(all)
}

/** isPinned returns whether a targeting has only requisition ids. */
const isPinned = (one: CanonicalTargeting) =>
  !isEmpty(one, 'requisitionIds') &&
  CRITERIA.every((name) => name === 'requisitionIds' || isEmpty(one, name))

function criterionSpend(
  name: Criterion,
  before: CanonicalTargeting,
  after: CanonicalTargeting,
): Spend {
  const [oldValues, newValues] = [valuesIn(before, name), valuesIn(after, name)]
  const isMore = newValues.some((value) => !oldValues.includes(value))
  const isLess = oldValues.some((value) => !newValues.includes(value))
  if (!isMore && !isLess) return 'neutral'
  // Requisition ids add postings (OR). The other criteria filter (AND), and an empty one selects any value.
  if (name !== 'requisitionIds' && newValues.length === 0) return 'up'
  if (name !== 'requisitionIds' && oldValues.length === 0) return 'down'
  return isMore ? 'up' : 'down'
}

/** targetingTexts returns the criteria that change, as text for people. `before` is null if it is not known. */
export function targetingTexts(before: CanonicalTargeting | null, after: CanonicalTargeting) {
  return CRITERIA.flatMap((name) => {
    const [from, to] = [before === null ? [] : valuesIn(before, name), valuesIn(after, name)]
    const none = name === 'requisitionIds' ? 'none' : 'any'
    if (listText(from) === listText(to)) return []
    return [
      { name, from: before === null ? null : listText(from) || none, to: listText(to) || none },
    ]
  })
}

/** listText joins values with commas. It quotes a value that contains a comma. */
export const listText = (values: readonly string[]) =>
  values.map((value) => (/[,"]/.test(value) ? JSON.stringify(value) : value)).join(', ')

/** valuesIn returns the values of one criterion as text for people; none if the criterion is empty. */
export const valuesIn = (targeting: CanonicalTargeting, name: Criterion): string[] => {
  if (name === 'cities') return targeting.cities.map((c) => `${c.name} ${c.stateProvCode}`.trim())
  if (name === 'externalCampaignId') return [targeting.externalCampaignId].filter(Boolean)
  return [...targeting[name]]
}

const fold = (text: string) => normalized(text).toLowerCase()
const cityInState = (city: string, state: string) => `${fold(city)}\n${codeSpelling(state)}`
const unique = (values: readonly string[]) => [...new Set(values)].sort()
