// Owns finding secret values, and fragments of them, in a text. Values and text are compared by their letters
// and digits alone, so that padding, quotes, line breaks and the alphabet of a Base64 do not matter.

/** A text's letters and digits in lower case (hosts and hex digits come in either), and where each was. */
export interface Folded {
  text: string
  at: readonly number[]
}

interface KnownSecret {
  literal: string
  folded: string
  /** Whether a fragment of it is as secret as the whole. */
  partly: boolean
}

/** What is looked for: values as a whole, and where each fragment is in which secret. */
interface Index {
  whole: KnownSecret[]
  fragments: Map<string, [KnownSecret, at: number][]>
}

/** A shorter value occurs by chance. */
const SHORTEST = 4
/** Letters and digits of a fragment that give something away. */
const FRAGMENT = 8
/** Up to this length all fragments are found; of a longer value its start, and whatever has 15 characters. */
const ALL_FRAGMENTS = 256
/** So often a fragment is looked for in a secret that repeats itself. */
const MOST_PLACES = 32
/** A whole value of this length does not occur by chance in a name that somebody chose. */
export const LONG = 12

type Hide = (from: number, to: number) => void

export class SecretSet {
  /** Folded when they are added, once: the index is made anew after each form. */
  readonly #secrets = new Map<string, KnownSecret>()
  readonly #most: number
  readonly #mostCharacters: number
  #characters = 0
  /** Made when a text is searched, of what is known then. */
  #index: Index | null = null

  /** `most`: how many values are kept, and how many characters of them all; the oldest are forgotten. */
  constructor(most = Number.POSITIVE_INFINITY, mostCharacters = Number.POSITIVE_INFINITY) {
    this.#most = most
    this.#mostCharacters = mostCharacters
  }

  /** `partly` false: its parts, such as a date or a region, are not secret. */
  add(literal: string, partly = true): void {
    if (literal.length < SHORTEST) return
    this.#index = null
    this.#forget(literal)
    this.#secrets.set(literal, { literal, folded: fold(literal).text, partly })
    this.#characters += literal.length
    for (const oldest of this.#secrets.keys()) {
      const isTooMuch = this.#characters > this.#mostCharacters && oldest !== literal
      if (this.#secrets.size <= this.#most && !isTooMuch) break
      this.#forget(oldest)
    }
  }

  #forget(literal: string): void {
    if (this.#secrets.delete(literal)) this.#characters -= literal.length
  }

  /** Calls `hide` for every part of `text` that holds a secret, or unless `onlyWhole` a fragment of one. */
  find(text: string, folded: Folded, onlyWhole: boolean, hide: Hide): void {
    if (onlyWhole && folded.text.length < LONG) return
    this.#index ??= indexOf([...this.#secrets.values()])
    const hideFolded = (from: number, to: number) =>
      hide(folded.at[from] ?? 0, (folded.at[to - 1] ?? 0) + 1)
    for (const { literal, folded: whole } of this.#index.whole) {
      if (onlyWhole && whole.length < LONG) continue
      // Of punctuation alone.
      if (whole.length < SHORTEST)
        for (const from of placesOf(literal, text)) hide(from, from + literal.length)
      else for (const from of placesOf(whole, folded.text)) hideFolded(from, from + whole.length)
    }
    /** Up to where a part of each secret was found: what lies within that part is not looked at again. */
    const ends = new Map<KnownSecret, number>()
    for (let place = 0; place + FRAGMENT <= folded.text.length; place++) {
      const places = this.#index.fragments.get(gram(folded.text, place)) ?? []
      const found = places.flatMap(([secret, at]) => {
        if (place + FRAGMENT <= (ends.get(secret) ?? 0)) return []
        const [from, to] = widest(folded.text, place, secret.folded, at)
        if (!onlyWhole || to - from >= Math.max(LONG, secret.folded.length)) hideFolded(from, to)
        return [[secret, to] as const]
      })
      for (const [secret, to] of found) ends.set(secret, Math.max(to, ends.get(secret) ?? 0))
    }
  }
}

export function fold(text: string): Folded {
  const at: number[] = []
  let folded = ''
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isUpper = code >= 0x41 && code <= 0x5a
    const isKept = isUpper || (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)
    if (!isKept && (code < 0xa1 || UNSEEN.test(text[i] as string))) continue
    folded += isUpper ? String.fromCharCode(code + 32) : text[i]
    at.push(i)
  }
  return { text: folded, at }
}

/** Characters beyond ASCII that nobody sees. */
const UNSEEN = /[\p{Cf}\p{Z}]/u

const isWhole = ({ folded, partly }: KnownSecret) => !partly || folded.length < FRAGMENT
const gram = (text: string, at: number) => text.slice(at, at + FRAGMENT)

function indexOf(secrets: readonly KnownSecret[]): Index {
  const fragments: Index['fragments'] = new Map()
  for (const secret of secrets) {
    const { length } = secret.folded
    if (isWhole(secret)) continue
    const step = length <= ALL_FRAGMENTS ? 1 : FRAGMENT
    for (let at = 0; at + FRAGMENT <= length; at += step) {
      const key = gram(secret.folded, at)
      const places = fragments.get(key)
      if (places === undefined) fragments.set(key, [[secret, at]])
      else if (places.at(-MOST_PLACES)?.[0] !== secret) places.push([secret, at])
    }
  }
  return { whole: secrets.filter(isWhole), fragments }
}

/** How far text and secret agree around a fragment that both hold. */
function widest(
  text: string,
  place: number,
  secret: string,
  at: number,
): [from: number, to: number] {
  let before = 0
  while (before < at && before < place && secret[at - before - 1] === text[place - before - 1])
    before++
  let end = FRAGMENT
  while (at + end < secret.length && secret[at + end] === text[place + end]) end++
  return [place - before, place + end]
}

function* placesOf(part: string, text: string): Generator<number> {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) yield at
}
