// Makes text from outside harmless to look at: a file name may hold a newline, an escape sequence, or
// characters that turn the direction of what follows.

/** Control and direction characters as visible escapes, so that a name cannot move the cursor or start a line. */
export function printable(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => {
      const code = c.charCodeAt(0)
      return c === '\n' ? '\\n' : c === '\t' ? '\\t' : `\\u${code.toString(16).padStart(4, '0')}`
    },
  )
}
