// What a byte of UTF-8 text can be, as a table that the readers ask once a byte. A byte of 0x80 or more
// begins or continues a character that has to be looked at as a whole.

/** The space, `<`, `>`, `&`, `"`, `'`, `/`, `=`, `!`, `?`, `[`, `]`, `-`, `;`, `#`. */
export const BLANK = 0x20
export const LT = 0x3c
export const GT = 0x3e
export const AMPERSAND = 0x26
export const QUOTE = 0x22
export const APOSTROPHE = 0x27
export const SLASH = 0x2f
export const EQUALS = 0x3d
export const BANG = 0x21
export const QUESTION = 0x3f
export const CLOSE_BRACKET = 0x5d
export const SEMICOLON = 0x3b
export const HASH = 0x23
export const CR = 0x0d

/** NameStartChar (production 4), as far as a byte can tell. */
export const NAME_START = 1
/** NameChar (4a), as far as a byte can tell. */
export const NAME_CHAR = 2
/** S (3). */
export const SPACE = 4
/** Ends plain character data: `<`, `&`, and `]`, which may begin `]]>` (14), and control characters. */
export const TEXT_STOP = 8
/** Ends plain attribute values: `<`, `&`, quotes of either kind (10), and control characters. */
export const VALUE_STOP = 16
/** What Char (2) leaves out of ASCII. 0 is the sentinel behind the input, too. */
export const CONTROL = 32

export const CLASSES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  const high = byte >= 0x80
  const control = byte < 0x20 && !/[\t\r\n]/.test(character)
  return (
    (high || /[A-Za-z_:]/.test(character) ? NAME_START : 0) |
    (high || /[A-Za-z_:0-9.-]/.test(character) ? NAME_CHAR : 0) |
    (/[ \t\r\n]/.test(character) ? SPACE : 0) |
    (control || /[<&\]]/.test(character) ? TEXT_STOP : 0) |
    (control || /[<&"']/.test(character) ? VALUE_STOP : 0) |
    (control ? CONTROL : 0)
  )
})

/** Whether the byte at `at` is of one of the classes. */
export function isOf(data: Uint8Array, at: number, classes: number): boolean {
  return ((CLASSES[data[at] as number] as number) & classes) !== 0
}

/** Whether `data` has exactly these bytes at `at`. */
export function equal(bytes: Uint8Array, data: Uint8Array, at: number): boolean {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== data[at + i]) return false
  return true
}

/** Behind the S (3) at `from`, if any. */
export function afterSpace(data: Uint8Array, from: number): number {
  let at = from
  while (((CLASSES[data[at] as number] as number) & SPACE) !== 0) at++
  return at
}

/** Hot: where the Name (5) that begins at `from` ends, as far as bytes can tell. */
export function nameEnd(data: Uint8Array, from: number): number {
  let at = from
  while (((CLASSES[data[at] as number] as number) & NAME_CHAR) !== 0) at++
  return at
}

/** Hot: the `length` bytes at `at`, four of them at most, as one word: the first is the lowest. */
export function wordAt(view: DataView, at: number, length: number): number {
  const word = view.getInt32(at, true)
  return length >= 4 ? word : word & ~(-1 << (length << 3))
}

/** The same of more bytes; the last word is filled up with 0, or 0. */
export function wordsOf(view: DataView, at: number, length: number): Int32Array {
  return Int32Array.from({ length: (length >> 2) + 1 }, (_, i) =>
    wordAt(view, at + 4 * i, length - 4 * i),
  )
}

/** Hot: whether the `length` bytes at `at` are those of `words` from `from` on. A word follows the last one. */
export function sameBytes(
  words: Int32Array,
  from: number,
  length: number,
  view: DataView,
  at: number,
): boolean {
  let word = from
  let place = at
  for (const last = at + length - 4; place <= last; place += 4) {
    if (view.getInt32(place, true) !== words[word++]) return false
  }
  const left = at + length - place
  if (left === 0) return true
  return (view.getInt32(place, true) ^ (words[word] as number)) << (32 - (left << 3)) === 0
}
