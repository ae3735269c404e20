import fc from 'fast-check'

/** anyCharacter is any character of Unicode, for `fc.string`. fast-check's `binary` needs a second for its table. */
export const anyCharacter = fc
  .nat(0x10_ffff)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
