// This file decides which postings a targeting selects (specification section 2, "Targeting object"). It shares no code
// with the client. The specification leaves choices, and the sandbox chooses: one matching value of a list is enough;
// codes and city names match in any case, ids match exactly, and the words of a title match in their order.

import type { SandboxTargeting } from './body.ts'
import { pluralForms } from './plural-forms.ts'
import { readableText } from './readable-text.ts'

export interface SandboxPosting {
  /** id is empty if the feed has none. */
  id: string
  externalCampaignId: string
  requisitionId: string
  title: string
  description: string
  city: string
  state: string
  postalCode: string
}

type Test = (posting: SandboxPosting) => boolean

/**
 * targetingTest returns a function that says whether a targeting selects a posting. A posting with one of the
 * targeting's requisition ids is selected whatever the other criteria say. Null selects all postings.
 */
export function targetingTest(targeting: SandboxTargeting | null): Test {
  if (targeting === null) return () => true
  const tests = criteria(targeting)
  const meetsCriteria: Test = (posting) => tests.every((test) => test(posting))
  const pinned = new Set(targeting.requisitionIds.map((id) => id.trim()))
  if (pinned.size === 0) return meetsCriteria
  return (posting) =>
    pinned.has(posting.requisitionId.trim()) || (tests.length > 0 && meetsCriteria(posting))
}

/** criteria returns a test for each criterion that the targeting has, except requisition ids. */
function criteria(targeting: SandboxTargeting): Test[] {
  const tests: Test[] = []
  const { externalCampaignId, cities, stateProvCodes, postalCodes } = targeting
  const campaign = externalCampaignId?.trim() ?? ''
  if (campaign !== '') tests.push((posting) => posting.externalCampaignId.trim() === campaign)
  if (cities.length > 0) {
    const places = new Set(cities.map((city) => placeOf(city.name, city.stateProvCode)))
    tests.push(({ city, state }) => places.has(placeOf(city, state)))
  }
  const states = new Set(stateProvCodes.map(fold))
  if (states.size > 0) tests.push(({ state }) => states.has(fold(state)))
  const codes = new Set(postalCodes.map(fold))
  if (codes.size > 0) tests.push(({ postalCode }) => codes.has(fold(postalCode)))
  const keywords = targeting.jobDescKeywords.map(fold)
  if (keywords.length > 0) {
    tests.push(({ description }) => {
      const text = fold(readableText(description))
      return keywords.some((keyword) => text.includes(keyword))
    })
  }
  if (targeting.jobTitles.length > 0) tests.push(titleTest(targeting.jobTitles))
  return tests
}

/** WantedTitle has a set for each word of a title: the word and its plurals. */
type WantedTitle = ReadonlySet<string>[]

/**
 * titleTest tests whether a title has the words of one of the wanted titles in a row. A singular also matches its
 * plural, and a plural matches only itself.
 */
function titleTest(titles: readonly string[]): Test {
  /** byFirst has the wanted titles by each word with which they can begin. */
  const byFirst = new Map<string, WantedTitle[]>()
  for (const wanted of new Set(titles.map((title) => words(title).join(' ')))) {
    const forms = words(wanted).map((word) => new Set([word, ...pluralForms(word)]))
    for (const first of forms[0] ?? []) byFirst.set(first, [...(byFirst.get(first) ?? []), forms])
  }
  return ({ title }) => {
    const have = words(title)
    const hasAt = (from: number, wanted: WantedTitle) =>
      wanted.every((forms, i) => spellings(have[from + i] ?? '').some((word) => forms.has(word)))
    return have.some((first, from) =>
      spellings(first)
        .flatMap((word) => byFirst.get(word) ?? [])
        .some((wanted) => hasAt(from, wanted)),
    )
  }
}

/** spellings lets ".NET" in a title match the wanted "NET", too. "NET" does not match the wanted ".NET". */
const spellings = (word: string) => (word.startsWith('.') ? [word, word.slice(1)] : [word])

/** words returns the words of a text, with the marks that distinguish C++, C# and .NET from C and NET. */
const words = (text: string) => fold(text).match(/\.?[\p{L}\p{N}]+[+#]*/gu) ?? []
/** fold writes a text in lower case, in Unicode form NFC, and with one space for any white space. */
const fold = (text: string) => text.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase()
const placeOf = (city: string, state: string) => `${fold(city)}|${fold(state)}`
