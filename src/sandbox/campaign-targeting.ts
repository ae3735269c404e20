// This file decides which postings a targeting selects (specification section 2, "Targeting object"). It shares no code
// with the client. Where the text leaves a choice, one matching value of a list is enough; codes and city names match
// in any case, ids match exactly, and the words of a title match in their order.

import pluralize from 'pluralize'
import type { SandboxTargeting } from './campaign-body.ts'

export interface SandboxPosting {
  externalCampaignId: string
  requisitionId: string
  title: string
  description: string
  city: string
  state: string
  postalCode: string
}

export function isTargeted(targeting: SandboxTargeting | null, posting: SandboxPosting): boolean {
  if (targeting === null) return true
  const { requisitionIds, externalCampaignId, cities } = targeting
  const tests: boolean[] = []
  if (externalCampaignId) tests.push(posting.externalCampaignId === externalCampaignId)
  if (cities.length > 0) {
    const place = `${fold(posting.city)}|${fold(posting.state)}`
    tests.push(cities.some((c) => `${fold(c.name)}|${fold(c.stateProvCode)}` === place))
  }
  const lists: [string[], (wanted: string) => boolean][] = [
    [targeting.stateProvCodes, (code) => fold(code) === fold(posting.state)],
    [targeting.postalCodes, (code) => fold(code) === fold(posting.postalCode)],
    [targeting.jobDescKeywords, (word) => fold(posting.description).includes(fold(word))],
    [targeting.jobTitles, (title) => titleMatches(title, posting.title)],
  ]
  for (const [values, matches] of lists) if (values.length > 0) tests.push(values.some(matches))
  if (requisitionIds.length === 0) return tests.every(Boolean)
  const pinned = requisitionIds.includes(posting.requisitionId)
  return pinned || (tests.length > 0 && tests.every(Boolean))
}

/** titleMatches finds the wanted words in a row. A singular also matches its plural; a plural matches only itself. */
function titleMatches(wanted: string, title: string): boolean {
  const [want, have] = [words(wanted), words(title)]
  if (want.length === 0) return false
  return have.some((_, from) =>
    want.every((word, i) => {
      const found = have[from + i] ?? ''
      const forms = [word, `${word}s`, pluralize.plural(word)]
      // "NET" matches ".NET", but ".NET" does not match "NET".
      return forms.includes(found) || forms.includes(found.replace(/^\./, ''))
    }),
  )
}

/** words splits a text and keeps the marks that distinguish C++, C# and .NET from C and NET. */
const words = (text: string) => text.toLowerCase().match(/\.?[\p{L}\p{N}]+[+#]*/gu) ?? []
const fold = (text: string) => text.trim().toLowerCase()
