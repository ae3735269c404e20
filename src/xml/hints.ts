// What the author of a document probably did, for a fault that has a usual cause. A hint follows the reason.

/** ELEMENTS_OF_HTML end up outside CDATA sections when somebody pastes a web page into a feed. */
const ELEMENTS_OF_HTML = new Set(
  'br hr img input wbr p li ul ol em strong span div font h1 h2 h3 h4 h5 h6'.split(' '),
)

export const HTML_HINT = '; HTML belongs in CDATA'
export const SPACE_HINT = ', or the name contains a space'
export const SLASH_HINT = '; a name cannot contain "/"'
export const LESS_THAN = '"<" must be written "&lt;"'
export const DIGIT = `an element name cannot begin with a digit; as text, ${LESS_THAN}`
export const PERCENT_HINT = '; "<%" looks like a template that was not filled in'

/** htmlHint returns the hint for a start and an end tag that do not match, if one of them is HTML; else ''. */
export function htmlHint(start: string, end: string): string {
  return [start, end].some((name) => ELEMENTS_OF_HTML.has(name.toLowerCase())) ? HTML_HINT : ''
}

/** lessThanReason returns the reason for a `<` that begins no tag. `next` is the character after the `<`. */
export function lessThanReason(next: string): string {
  if (/^\d/.test(next)) return DIGIT
  return `${LESS_THAN}${next === '%' ? PERCENT_HINT : ''}`
}
