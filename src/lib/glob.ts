// Glob patterns over paths relative to a folder, with `/` whatever the system. A file's extension matches in
// any case: `*.xml` takes `JOBS.XML`, as hosts with Windows write it. All else matches as it is written.

import picomatch from 'picomatch'

/** `s`: a file name may hold a newline, and `**` stands for anything. */
const OPTIONS = { dot: true, flags: 's' }

/** `.xml`, `.xml.gz` or `.{xml,txt}` at the end of a pattern. */
const EXTENSION = /\.(?:\w+|\{[\w,]*[a-z][\w,]*\})(?:\.gz)?$/i

/** Answers whether a path matches. Names that begin with a dot match like any other. */
export function globMatcher(pattern: string): (path: string) => boolean {
  const { glob, pathOf } = inAnyCase(pattern)
  const matches = picomatch(glob, OPTIONS)
  return (path) => matches(pathOf(path))
}

/** The pattern, and each path, with their extensions in lower case; only where the pattern names one. */
function inAnyCase(pattern: string): { glob: string; pathOf: (path: string) => string } {
  const isNamed = EXTENSION.test(pattern)
  const glob = pattern.replace(EXTENSION, (extension) => extension.toLowerCase())
  const lower = (path: string) => path.replace(/\.\w+(?:\.gz)?$/i, (found) => found.toLowerCase())
  return { glob, pathOf: isNamed ? lower : (path) => path }
}

export type CapturingMatcher = (text: string) => Record<string, string> | null

/**
 * Matches a path and captures its numbered segments: `{1}/*.xml` on `acme/jobs.xml` answers
 * `{ '1': 'acme' }`; null where the path does not match. `*` and `**` capture nothing.
 */
export function capturingMatcher(pattern: string): CapturingMatcher {
  const { glob, pathOf } = inAnyCase(pattern)
  const matches = capturing(picomatch.makeRe(withTokens(glob), OPTIONS).source)
  return (path) => matches(pathOf(path))
}

/** The same for a text that a template was filled to (`fillTemplate`): all but its numbered segments is as it is written. */
export function filledMatcher(template: string): CapturingMatcher {
  return capturing(`^${withTokens(template).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`)
}

const withTokens = (text: string) => text.replace(/\{(\d+)\}/g, 'CAPTURE$1CAPTURE')

function capturing(source: string): CapturingMatcher {
  const seen = new Set<string>()
  const regex = new RegExp(
    source.replace(/CAPTURE(\d+)CAPTURE/g, (_, n: string) => {
      if (seen.has(n)) return `\\k<c${n}>`
      seen.add(n)
      return `(?<c${n}>[^/]+?)`
    }),
    OPTIONS.flags,
  )
  return (text) => {
    const match = regex.exec(text)
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

/** Whether a template has numbered segments; of a filled one, those that nothing was captured for. */
export function hasPlaceholder(template: string): boolean {
  return /\{\d+\}/.test(template)
}
