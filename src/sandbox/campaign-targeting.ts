// The service's own reading of targeting (specification section 2, "Targeting object"), written independently of the
// client's. Where the text leaves a choice: any value of a list may match; codes and city names match in any case, ids
// exactly, a title's words in order.

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

/** A word of the wanted title matches itself and its plural; a plural matches itself only. */
function titleMatches(wanted: string, title: string): boolean {
  const [want, have] = [words(wanted), words(title)]
  if (want.length === 0) return false
  return have.some((_, from) =>
    want.every((word, i) => {
      const found = have[from + i] ?? ''
      const forms = [word, `${word}s`, pluralize.plural(word)]
      // "NET" is found in ".NET", and ".NET" only with its dot.
      return forms.includes(found) || forms.includes(found.replace(/^\./, ''))
    }),
  )
}

/** Words keep the marks that distinguish C++, C# and .NET from C and NET. */
const words = (text: string) => text.toLowerCase().match(/\.?[\p{L}\p{N}]+[+#]*/gu) ?? []
const fold = (text: string) => text.trim().toLowerCase()
