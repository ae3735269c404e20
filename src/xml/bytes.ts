// What a byte of UTF-8 text can be, as a table that the readers ask once a byte. A byte of 0x80 or more
// begins or continues a character that has to be looked at as a whole.

/** `<`, `>`, `&`, `"`, `'`, `/`, `=`, `!`, `?`, `[`, `]`, `-`, `:`, `;`, `#`. */
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
export const COLON = 0x3a
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

/**
 * Hot: the first place from `from` to `to` whose byte is of one of the classes, or one of the four from `to` on.
 * The sentinel behind the input is of those that text and values end with.
 */
export function firstOf(data: Uint8Array, from: number, to: number, classes: number): number {
  let at = from
  for (; at < to; at += 4) {
    if (((CLASSES[data[at] as number] as number) & classes) !== 0) return at
    if (((CLASSES[data[at + 1] as number] as number) & classes) !== 0) return at + 1
    if (((CLASSES[data[at + 2] as number] as number) & classes) !== 0) return at + 2
    if (((CLASSES[data[at + 3] as number] as number) & classes) !== 0) return at + 3
  }
  return at
}

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
