// This file forms the plurals of a word in a job title (specification section 2, jobTitles). It knows more plurals than
// the library pluralize: the regular plural in -es of words that the library takes for plurals, and classical nouns.

import pluralize from 'pluralize'

/** CLASSICAL has pairs of singular and plural that the library does not know. */
const CLASSICAL =
  'medium/media thesaurus/thesauri corpus/corpora antenna/antennae formula/formulae larva/larvae nebula/nebulae ' +
  'memorandum/memoranda stadium/stadia aquarium/aquaria auditorium/auditoria gymnasium/gymnasia ' +
  'honorarium/honoraria moratorium/moratoria planetarium/planetaria crematorium/crematoria consortium/consortia ' +
  'referendum/referenda compendium/compendia spectrum/spectra continuum/continua maximum/maxima minimum/minima ' +
  'optimum/optima quantum/quanta ganglion/ganglia vortex/vortices apex/apices cortex/cortices helix/helices ' +
  'bureau/bureaux plateau/plateaux tableau/tableaux château/châteaux beau/beaux dwarf/dwarves wharf/wharves ' +
  'dormouse/dormice whiz/whizzes'

const classical = new Map(
  CLASSICAL.split(' ').map((pair) => pair.split('/') as [singular: string, plural: string]),
)

/** pluralForms returns the plurals of a word in lower case. Some of them are not words, and match no title. */
export function pluralForms(word: string): string[] {
  const forms = [`${word}s`, classical.get(word), libraryPlural(word)]
  if (/(?:[sxz]|ch|sh|[^aeiou]o)$/.test(word)) forms.push(`${word}es`)
  return forms.filter((form) => form !== undefined)
}

/** libraryPlural returns the plural of the library, but none for "taxis": the library answers "taxes". */
function libraryPlural(word: string): string | undefined {
  return word.endsWith('taxis') ? undefined : pluralize.plural(word)
}
