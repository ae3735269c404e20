import fc from 'fast-check'

/** Any character of Unicode, for `fc.string`. fast-check's own `binary` takes a second to make a table of all of them. */
export const anyCharacter = fc
  .nat(0x10_ffff)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
