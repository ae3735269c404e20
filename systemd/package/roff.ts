// Writes manual pages in man(7) with a few macros. Plain text can never be read as a macro.

export function page(
  title: string,
  section: number,
  day: string,
  source: string,
  manual: string,
): string {
  return `.TH "${title}" "${section}" "${day}" "${text(source)}" "${manual}"\n.nh\n.ad l\n`
}

/** document joins the parts. A heading already begins a paragraph, so the .PP after it is removed. */
export const document = (parts: readonly string[]) =>
  parts.join('').replace(/^(\.S[HS] .*\n)\.PP\n/gm, '$1')
export const heading = (title: string) => `.SH ${title.toUpperCase()}\n`
export const subheading = (title: string) => `.SS "${text(title)}"\n`
export const paragraph = (words: string) => `.PP\n${text(words)}\n`
export const entry = (term: string, words: string) =>
  `.TP\n.B "${text(term)}"\n${text(words.replace(/\s+/g, ' ').trim())}\n`
export const literal = (lines: string) =>
  `.PP\n.RS 4\n.nf\n${lines.split('\n').map(text).join('\n')}\n.fi\n.RE\n`

/** text escapes hyphens, so that a person can copy them, and a dot or quote at the start, which would be a request. */
function text(words: string): string {
  const safe = words.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('"', '\\(dq')
  return /^[.']/.test(safe) ? `\\&${safe}` : safe
}
