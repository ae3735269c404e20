// What a byte of UTF-8 text can be, as tables: the checker asks them once a byte. Bytes of 0x80 and
// more begin or continue a character that has to be looked at as a whole.

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

/** NameStartChar (production 4), as far as a byte can tell. */
export const NAME_START = 1
/** NameChar (4a), as far as a byte can tell. */
export const NAME_CHAR = 2
/** S (3). */
export const SPACE = 4
/** Ends plain character data: `<`, `&`, and `]`, which may begin `]]>` (14). 0 does, as a sentinel. */
export const TEXT_STOP = 8
/** Ends plain attribute values: `<`, `&`, quotes of either kind (10), and the sentinel. */
export const VALUE_STOP = 16

export const CLASSES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  const high = byte >= 0x80
  return (
    (high || /[A-Za-z_:]/.test(character) ? NAME_START : 0) |
    (high || /[A-Za-z_:0-9.-]/.test(character) ? NAME_CHAR : 0) |
    (/[ \t\r\n]/.test(character) ? SPACE : 0) |
    (/[<&\]\0]/.test(character) ? TEXT_STOP : 0) |
    (/[<&"'\0]/.test(character) ? VALUE_STOP : 0)
  )
})

/** Whether the byte at `at` is of one of the classes. */
export function isOf(data: Uint8Array, at: number, classes: number): boolean {
  return ((CLASSES[data[at] as number] as number) & classes) !== 0
}
