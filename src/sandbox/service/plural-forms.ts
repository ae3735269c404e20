// This file forms the plurals of a word in a job title (specification section 2, jobTitles): the plurals of a library,
// the regular -es that it treats as a plural already, and classical nouns that it does not know.

import pluralize from 'pluralize'

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

/** pluralForms returns the plurals of a word in lower case. Some are not words, and no title contains them. */
export function pluralForms(word: string): string[] {
  const forms = [`${word}s`, classical.get(word), byLibrary(word)]
  if (/(?:[sxz]|ch|sh|[^aeiou]o)$/.test(word)) forms.push(`${word}es`)
  return forms.filter((form) => form !== undefined)
}

/** byLibrary leaves out "taxes", which the library takes for the plural of "taxis". */
function byLibrary(word: string): string | undefined {
  return word.endsWith('taxis') ? undefined : pluralize.plural(word)
}
