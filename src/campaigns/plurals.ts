// Forms the English plurals of a word in a job title: regular endings, and the common irregular nouns.

/** ENDINGS form plurals by the ending of the word. Each ending that fits gives a plural. */
const ENDINGS: ReadonlyArray<readonly [ending: RegExp, plural: string]> = [
  [/$/, 's'],
  [/(?<=[sxz]|[cs]h)$/, 'es'],
  [/(?<=[^aeiou\P{L}][aeiou]z)$/u, 'zes'],
  [/(?<=qui[z])$/, 'zes'],
  [/(?<=[^aeiou\P{L}]o)$/u, 'es'],
  [/(?<=[^aeiou\P{L}]|qu)y$/u, 'ies'],
  [/(?<=(?:[aeo]l|ar|ea|oa|oo|hal|el)|hie)f$/, 'ves'],
  [/(?<=kni|wi|\bli)fe$/, 'ves'],
  [/(?<!hu|ger|ro|sha)man$/, 'men'],
  [/person$/, 'people'],
  [/child$/, 'children'],
  [/sis$/, 'ses'],
  [/(?<=eau)$/, 'x'],
]

/** IRREGULAR maps singular words to the plurals that no ending forms. */
const IRREGULAR: Readonly<Record<string, string>> = {
  ...{ foot: 'feet', tooth: 'teeth', goose: 'geese', mouse: 'mice', dormouse: 'dormice' },
  ...{ louse: 'lice', ox: 'oxen', die: 'dice', passerby: 'passersby', axis: 'axes' },
  ...{ corpus: 'corpora', genus: 'genera', schema: 'schemata', stigma: 'stigmata' },
  ...{ cherub: 'cherubim', ovum: 'ova', dwarf: 'dwarves', wharf: 'wharves' },
  ...changed('us', 'i', 'alumn nucle stimul syllab cact foc radi fung loc bacill termin thesaur'),
  ...changed('a', 'ae', 'alumn antenn formul larv vertebr alg nebul'),
  ...changed(
    'um',
    'a',
    'curricul memorand medi dat strat addend errat bacteri symposi millenni stadi aquari auditori gymnasi ' +
      'honorari moratori planetari crematori consorti referend compendi spectr continu maxim minim optim quant',
  ),
  ...changed('on', 'a', 'criteri phenomen automat gangli'),
  ...changed('ix', 'ices', 'matr append hel'),
  ...changed('ex', 'ices', 'ind vert vort ap cort cod'),
}

/** pluralsOf returns the plurals of a word in lower case. It can add forms that are not words and match nothing. */
export function pluralsOf(word: string): string[] {
  const regular = ENDINGS.flatMap(([ending, plural]) =>
    ending.test(word) ? [word.replace(ending, plural)] : [],
  )
  const irregular = Object.hasOwn(IRREGULAR, word) ? [IRREGULAR[word] as string] : []
  return [...regular, ...irregular]
}

/** changed maps each stem with the ending `singular` to the stem with the ending `plural`. */
function changed(singular: string, plural: string, stems: string): Record<string, string> {
  return Object.fromEntries(
    stems.split(' ').map((stem) => [`${stem}${singular}`, `${stem}${plural}`]),
  )
}
