// The character classes of XML 1.0 (fifth edition) §2.2 and §2.3 and of Namespaces in XML §3, as sources for regular
// expressions with the flag `u`.

const START =
  'A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}' +
  '\\u{200C}\\u{200D}\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}' +
  '\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}'
const MORE = '\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}'

/** NC_NAME matches a name without a colon (NCName). */
export const NC_NAME = `[${START}][${START}${MORE}]*`
/** NAME_START matches the first character of a name; XML with namespaces does not allow a colon there. */
export const NAME_START = `[${START}]`
export const STARTS_NAME = new RegExp(`^${NAME_START}`, 'u')
/** NAME matches a name of XML 1.0 without namespaces, which can contain colons. */
export const NAME = `[:${START}][:${START}${MORE}]*`

/** isXmlCharacter implements the production Char (2). */
export function isXmlCharacter(code: number): boolean {
  return (
    code === 0x9 ||
    code === 0xa ||
    code === 0xd ||
    (code >= 0x20 && code <= 0xd7ff) ||
    (code >= 0xe000 && code <= 0xfffd) ||
    (code >= 0x10000 && code <= 0x10ffff)
  )
}
