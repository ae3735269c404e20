// Glob patterns for paths relative to a folder, with `/` on every system. The extension of a file matches in any case:
// `*.xml` matches `JOBS.XML`, which Windows hosts write. All other letters match in their own case.

import picomatch from 'picomatch'

/** The flag `s` lets patterns match a newline, which a file name can contain. */
const OPTIONS = { dot: true, flags: 's' }

/** `.xml`, `.xml.gz` or `.{xml,txt}` at the end of a pattern. */
const EXTENSION = /\.(?:\w+|\{[\w,]*[a-z][\w,]*\})(?:\.gz)?$/i

/** globMatcher returns a function that decides whether a path matches. Names that begin with a dot match, too. */
export function globMatcher(pattern: string): (path: string) => boolean {
  const { glob, pathOf } = inAnyCase(pattern)
  const matches = picomatch(glob, OPTIONS)
  return (path) => matches(pathOf(path))
}

/** escapedGlob returns the pattern that matches this text alone. */
export function escapedGlob(text: string): string {
  return text.replace(/[\\*?+@!|()[\]{}]/g, '\\$&')
}

/** excludeLine returns the line of the configuration, under `inbox`, that leaves out the files at these paths. */
export function excludeLine(paths: readonly string[]): string {
  return `exclude: [${paths.map((path) => JSON.stringify(escapedGlob(path))).join(', ')}]`
}

/** inAnyCase writes the extension of the pattern, and of each path, in lower case if the pattern names an extension. */
function inAnyCase(pattern: string): { glob: string; pathOf: (path: string) => string } {
  const hasExtension = EXTENSION.test(pattern)
  const glob = pattern.replace(EXTENSION, (extension) => extension.toLowerCase())
  const lower = (path: string) => path.replace(/\.\w+(?:\.gz)?$/i, (found) => found.toLowerCase())
  return { glob, pathOf: hasExtension ? lower : (path) => path }
}

export type CapturingMatcher = (text: string) => Record<string, string> | null

/**
 * capturingMatcher returns a function that captures the numbered segments of a path: `{1}/*.xml` on `acme/jobs.xml`
 * gives `{ '1': 'acme' }`; null if the path does not match. `*` and `**` capture nothing.
 */
export function capturingMatcher(pattern: string): CapturingMatcher {
  const { glob, pathOf } = inAnyCase(pattern)
  const matches = capturing(picomatch.makeRe(withTokens(glob), OPTIONS).source)
  return (path) => matches(pathOf(path))
}

/** filledMatcher reverses `fillTemplate`: it captures the numbered segments of a filled text; the rest is literal. */
export function filledMatcher(template: string): CapturingMatcher {
  return capturing(`^${withTokens(template).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`)
}

const withTokens = (text: string) => text.replace(/\{(\d+)\}/g, 'CAPTURE$1CAPTURE')

/** capturing makes a matcher of the source of a regular expression. The same number must capture the same text. */
function capturing(source: string): CapturingMatcher {
  const seen = new Set<string>()
  const regex = new RegExp(
    source.replace(/CAPTURE(\d+)CAPTURE/g, (_, number: string) => {
      if (seen.has(number)) return `\\k<c${number}>`
      seen.add(number)
      return `(?<c${number}>[^/]+?)`
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

/** fillTemplate puts captured segments into a template: `{1}` with `{ '1': 'acme' }` gives `acme`. */
export function fillTemplate(template: string, captured: Record<string, string>): string {
  return template.replace(
    /\{(\d+)\}/g,
    (placeholder, number: string) => captured[number] ?? placeholder,
  )
}

/** hasPlaceholder returns whether a text has numbered segments; in a filled text, segments without a captured value. */
export function hasPlaceholder(template: string): boolean {
  return /\{\d+\}/.test(template)
}
