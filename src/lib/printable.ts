// Makes text from outside safe to show. A file name can contain a newline, an escape sequence, invisible characters, or
// characters that reverse the direction of the text after them.

/** Invisible characters except ZWNJ and ZWJ, which words of some languages and many emoji need. */
const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const UNSEEN_IN_JSON = new RegExp(`(?!\\n)${UNSEEN.source}`, UNSEEN.flags)

/**
 * printable writes control, direction and invisible characters and lone surrogates as visible escapes. So a name
 * cannot move the cursor, start a new line, or look like another name.
 */
export function printable(text: string): string {
  return text.replace(UNSEEN, (unseen) => {
    if (unseen === '\n') return '\\n'
    if (unseen === '\t') return '\\t'
    return unseen.length > 1 ? `\\u{${unseen.codePointAt(0)?.toString(16)}}` : escapedUnit(unseen)
  })
}

/**
 * printableJson escapes the invisible and direction characters that JSON leaves as they are, for a terminal. The value
 * of the JSON stays the same.
 */
export function printableJson(json: string): string {
  return json.replace(UNSEEN_IN_JSON, (unseen) =>
    [...Array(unseen.length).keys()].map((index) => escapedUnit(unseen, index)).join(''),
  )
}

const escapedUnit = (text: string, index = 0) =>
  `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`

/** shellWord quotes a text as one word of a command, for a person who pastes it into a shell. */
export function shellWord(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/**
 * feedWord returns the word of a command that names a feed. A name that the command would read as an id, an option or a
 * path gets `feed:` before it.
 */
export function feedWord(feed: string): string {
  return /^(-|\d+$|feed:|path:)/.test(feed) ? `feed:${feed}` : feed
}
