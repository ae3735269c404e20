// Compares names of elements and attributes with the names that feeds commonly use.

/** ASCII matches names without accents, so `folded` need not decompose their characters. */
const ASCII = /^[\0-\x7f]*$/
/** LETTERS says how people write letters that have no decomposition in Unicode where they leave out accents. */
const LETTERS: Record<string, string> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ı: 'i',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
}

export function withoutPrefix(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** folded removes case, accents, `_` and `-`, so that `JobReference` and `job_reference` are equal. */
export function folded(name: string): string {
  const plain = name.toLowerCase().replace(/[_-]/g, '')
  if (ASCII.test(plain)) return plain
  return plain
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[łøđıßæœ]/g, (letter) => LETTERS[letter] ?? letter)
}

/** localName returns the folded name without its prefix. */
export function localName(name: string): string {
  return folded(withoutPrefix(name))
}

/** parts returns the folded words of a name: `offre-emploi`, `jobOffer` and `JOB_OFFER` have two words each. */
export function parts(name: string): string[] {
  return withoutPrefix(name)
    .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1_')
    .split(/[_.-]+/)
    .map(folded)
    .filter((part) => part !== '')
}
