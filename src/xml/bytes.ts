// The classes of each byte of UTF-8 text, as a table with one lookup for each byte. A byte of 0x80 or more belongs to a
// longer character, which the readers check as a whole.

/** BLANK to CR are the bytes that have a meaning in XML. */
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

/** NAME_START is a class of bytes: a NameStartChar (production 4), or a part of a longer character. */
export const NAME_START = 1
/** NAME_CHAR is a class of bytes: a NameChar (production 4a), or a part of a longer character. */
export const NAME_CHAR = 2
/** SPACE is the class of white space, S (production 3). */
export const SPACE = 4
/** TEXT_STOP bytes end plain text (production 14): `<`, `&`, `]`, which can begin `]]>`, and control characters. */
export const TEXT_STOP = 8
/** VALUE_STOP bytes end plain attribute values (production 10): `<`, `&`, both quotes, and control characters. */
export const VALUE_STOP = 16
/** CONTROL has the ASCII characters that Char (production 2) excludes. The byte 0 also ends the input (input.ts). */
export const CONTROL = 32

/** `CLASSES[byte]` has the bits of all classes of a byte. */
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

/** isOf returns true if the byte at `at` is in one of the classes. */
export function isOf(data: Uint8Array, at: number, classes: number): boolean {
  return ((CLASSES[data[at] as number] as number) & classes) !== 0
}

/** equal returns true if `data` has the bytes `bytes` at `at`. */
export function equal(bytes: Uint8Array, data: Uint8Array, at: number): boolean {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== data[at + i]) return false
  return true
}

/** afterSpace returns the place after the white space at `from`, or `from` if no white space is there. */
export function afterSpace(data: Uint8Array, from: number): number {
  let at = from
  while (((CLASSES[data[at] as number] as number) & SPACE) !== 0) at++
  return at
}

/** Hot: nameEnd returns the end of the Name (production 5) at `from`; it accepts every character beyond ASCII. */
export function nameEnd(data: Uint8Array, from: number): number {
  let at = from
  while (((CLASSES[data[at] as number] as number) & NAME_CHAR) !== 0) at++
  return at
}

/** Hot: wordAt returns up to four of the `length` bytes at `at` as one word; the first byte is the lowest. */
export function wordAt(view: DataView, at: number, length: number): number {
  const word = view.getInt32(at, true)
  return length >= 4 ? word : word & ~(-1 << (length << 3))
}

/** wordsOf returns `length` bytes as words. The last word is padded with 0; it is 0 if no bytes are left for it. */
export function wordsOf(view: DataView, at: number, length: number): Int32Array {
  return Int32Array.from({ length: (length >> 2) + 1 }, (_, i) =>
    wordAt(view, at + 4 * i, length - 4 * i),
  )
}

/** Hot: sameBytes returns true if `view` has at `at` the `length` bytes that `wordsOf` stored in `words` at `from`. */
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
