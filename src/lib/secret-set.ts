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

/** A shorter value occurs by chance. */
const SHORTEST = 4
/** Letters and digits of a fragment that give something away. */
const FRAGMENT = 8
/** Up to this length all fragments are found; of a longer value its start, and whatever has 15 characters. */
const ALL_FRAGMENTS = 256
/** A whole value of this length does not occur by chance in a name that somebody chose. */
const LONG = 12

type Hide = (from: number, to: number) => void

export class SecretSet {
  readonly #secrets = new Map<string, KnownSecret>()
  readonly #most: number
  /** Where each fragment is in which secret: made when it is needed, of what is known then. */
  #fragments: Map<string, [KnownSecret, at: number][]> | null = null

  /** `most`: how many values are kept; the oldest are forgotten. */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most
  }

  /** `partly` false: its parts, such as a date or a region, are not secret. */
  add(literal: string, partly = true): void {
    if (literal.length < SHORTEST) return
    this.#fragments = null
    this.#secrets.delete(literal)
    this.#secrets.set(literal, { literal, folded: fold(literal).text, partly })
    for (const oldest of this.#secrets.keys()) {
      if (this.#secrets.size <= this.#most) break
      this.#secrets.delete(oldest)
    }
  }

  /** Calls `hide` for every stretch of `text` that holds a secret, or unless `onlyWhole` a fragment of one. */
  find(text: string, folded: Folded, onlyWhole: boolean, hide: Hide): void {
    const hideFolded = (from: number, to: number) =>
      hide(folded.at[from] ?? 0, (folded.at[to - 1] ?? 0) + 1)
    for (const secret of this.#secrets.values()) {
      const { length } = secret.folded
      if (onlyWhole && length < LONG) continue
      // Of punctuation alone.
      if (length < SHORTEST)
        for (const from of placesOf(secret.literal, text)) hide(from, from + secret.literal.length)
      else if (isWhole(secret))
        for (const from of placesOf(secret.folded, folded.text)) hideFolded(from, from + length)
    }
    this.#fragments ??= fragmentsOf([...this.#secrets.values()])
    for (let place = 0; place + FRAGMENT <= folded.text.length; place++)
      for (const [secret, at] of this.#fragments.get(gram(folded.text, place)) ?? []) {
        const [from, to] = widest(folded.text, place, secret.folded, at)
        if (!onlyWhole || to - from >= Math.max(LONG, secret.folded.length)) hideFolded(from, to)
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

function fragmentsOf(secrets: readonly KnownSecret[]): Map<string, [KnownSecret, number][]> {
  const found = new Map<string, [KnownSecret, number][]>()
  for (const secret of secrets) {
    const { length } = secret.folded
    if (length < SHORTEST || isWhole(secret)) continue
    const step = length <= ALL_FRAGMENTS ? 1 : FRAGMENT
    for (let at = 0; at + FRAGMENT <= length; at += step) {
      const key = gram(secret.folded, at)
      const places = found.get(key)
      if (places === undefined) found.set(key, [[secret, at]])
      else places.push([secret, at])
    }
  }
  return found
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
