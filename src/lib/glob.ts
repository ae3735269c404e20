// Glob patterns over paths relative to a folder, with `/` whatever the system.

import picomatch from 'picomatch'

/** `s`: a file name may hold a newline, and `**` stands for anything. */
const OPTIONS = { dot: true, flags: 's' }

/** Answers whether a path matches. Names that begin with a dot match like any other. */
export function globMatcher(pattern: string): (path: string) => boolean {
  return picomatch(pattern, OPTIONS)
}

/**
 * Matches a path and captures its numbered segments: `{1}/*.xml` on `acme/jobs.xml` answers
 * `{ '1': 'acme' }`; null where the path does not match. `*` and `**` capture nothing (design section 6).
 */
export function capturingMatcher(pattern: string): (path: string) => Record<string, string> | null {
  const token = (n: string) => `CAPTURE${n}CAPTURE`
  const source = picomatch.makeRe(
    pattern.replace(/\{(\d+)\}/g, (_, n: string) => token(n)),
    OPTIONS,
  ).source
  const seen = new Set<string>()
  const regex = new RegExp(
    source.replace(/CAPTURE(\d+)CAPTURE/g, (_, n: string) => {
      if (seen.has(n)) return `\\k<c${n}>`
      seen.add(n)
      return `(?<c${n}>[^/]+?)`
    }),
    OPTIONS.flags,
  )
  return (path) => {
    const match = regex.exec(path)
    if (match === null) return null
    return Object.fromEntries(
      Object.entries(match.groups ?? {}).map(([name, value]) => [name.slice(1), value]),
    )
  }
}

/** Puts captured segments into a template: `{1}` with `{ '1': 'acme' }` is `acme`. */
export function fillTemplate(template: string, captured: Record<string, string>): string {
  return template.replace(/\{(\d+)\}/g, (whole, n: string) => captured[n] ?? whole)
}
