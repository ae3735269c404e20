// This file decides which postings a targeting selects (specification section 2, "Targeting object"). It shares no code
// with the client. Where the text leaves a choice, one matching value of a list is enough; codes and city names match
// in any case, ids match exactly, and the words of a title match in their order.

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

/** targetingTest prepares a targeting for many postings. */
export function targetingTest(targeting: SandboxTargeting | null): Test {
  if (targeting === null) return () => true
  const tests = criteria(targeting)
  const isInside: Test = (posting) => tests.every((test) => test(posting))
  const pinned = new Set(targeting.requisitionIds.map((id) => id.trim()))
  if (pinned.size === 0) return isInside
  return (posting) =>
    pinned.has(posting.requisitionId.trim()) || (tests.length > 0 && isInside(posting))
}

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

/** A title is wanted as its words in a row, each as the set of its forms. */
type WantedTitle = ReadonlySet<string>[]

/** titleTest finds the wanted words in a row. A singular also matches its plural; a plural matches only itself. */
function titleTest(titles: readonly string[]): Test {
  /** byFirst finds the wanted titles that can begin with a word. */
  const byFirst = new Map<string, WantedTitle[]>()
  for (const wanted of new Set(titles.map((title) => words(title).join(' ')))) {
    const forms = words(wanted).map((word) => new Set([word, ...pluralForms(word)]))
    for (const first of forms[0] ?? []) byFirst.set(first, [...(byFirst.get(first) ?? []), forms])
  }
  return ({ title }) => {
    const have = words(title)
    return have.some((word, from) =>
      spellings(word).some((spelling) =>
        byFirst
          .get(spelling)
          ?.some((wanted) =>
            wanted.every((forms, i) => spellings(have[from + i] ?? '').some((s) => forms.has(s))),
          ),
      ),
    )
  }
}

/** spellings lets "NET" match ".NET". ".NET" does not match "NET". */
const spellings = (word: string) => (word.startsWith('.') ? [word, word.slice(1)] : [word])

/** words splits a text and keeps the marks that distinguish C++, C# and .NET from C and NET. */
const words = (text: string) => fold(text).match(/\.?[\p{L}\p{N}]+[+#]*/gu) ?? []
/** fold compares texts in any case, in Unicode form NFC, and with any white space as one space. */
const fold = (text: string) => text.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase()
const placeOf = (city: string, state: string) => `${fold(city)}|${fold(state)}`
