// Makes text from outside harmless to look at: a file name may hold a newline, an escape sequence, or
// characters that turn the direction of what follows or cannot be seen at all.

/** All but ZWNJ and ZWJ, which words of some languages and many emoji are made with. */
const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu
const UNSEEN_IN_JSON = new RegExp(`(?!\\n)${UNSEEN.source}`, UNSEEN.flags)

/**
 * Control, direction and invisible characters and halves of pairs as visible escapes, so that a name can
 * neither move the cursor nor start a line nor pass for another one.
 */
export function printable(text: string): string {
  return text.replace(UNSEEN, (c) => {
    if (c === '\n') return '\\n'
    if (c === '\t') return '\\t'
    return c.length > 1 ? `\\u{${c.codePointAt(0)?.toString(16)}}` : unit(c)
  })
}

/** The same JSON, which a terminal shows as it is: JSON itself leaves C1 and direction characters alone. */
export function printableJson(json: string): string {
  return json.replace(UNSEEN_IN_JSON, (c) =>
    [...Array(c.length).keys()].map((n) => unit(c, n)).join(''),
  )
}

const unit = (text: string, n = 0) => `\\u${text.charCodeAt(n).toString(16).padStart(4, '0')}`

/** The text as one word of a command that is pasted into a shell. */
export function shellWord(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
