// Finds what a configuration may contain but probably does not mean. Only `config check` shows it.

import { isWithin } from '../lib/files.ts'
import { capturingMatcher, globMatcher } from '../lib/glob.ts'
import { isLoopback } from '../lib/http-text.ts'
import type { Config } from './config.ts'

/** configAdvice returns one sentence, which begins with a key, for each setting that is probably a mistake. */
export function configAdvice(config: Config): string[] {
  return [...exposed(config), ...folders(config), ...rulesWithoutPaths(config)]
}

function exposed({ http: { listen } }: Config): string[] {
  if (listen?.kind !== 'tcp' || isLoopback({ hostname: listen.host })) return []
  return [
    `http.listen: ${listen.host}:${listen.port} is open to other hosts, and the page has no login: use 127.0.0.1, or let only trusted hosts reach it`,
  ]
}

function folders({ inbox, state }: Config): string[] {
  if (!isWithin(inbox.directory, state.directory)) return []
  return [
    `inbox.directory: ${inbox.directory} lies inside state.directory, so a backup or a move of the state takes the vendor's files along: use a folder of its own`,
  ]
}

/**
 * What a sample path has in place of the wildcards of a pattern: `any` for `*` and captures, and `deep` for `**`, with
 * and without a folder. The sample paths stand for all paths that the pattern matches.
 */
const SAMPLES = [
  { any: 'sample', deep: 'sample' },
  { any: 'x', deep: 'x/y' },
  { any: 'a-1', deep: 'a/b/c' },
]

/** rulesWithoutPaths finds rules of `feeds` that no file can ever reach. */
function rulesWithoutPaths({ feeds, inbox }: Config): string[] {
  const included = inbox.include.map(globMatcher)
  const excluded = inbox.exclude.map(globMatcher)
  return feeds.flatMap(({ match }, index) => {
    const samples = SAMPLES.map((sample) => sampleOf(match, sample))
    const paths = samples.filter((path) => capturingMatcher(match)(path) !== null)
    if (paths.length === 0) return []
    const at = `feeds[${index}].match: "${match}" can never match`
    const isTaken = (path: string) =>
      included.some((matches) => matches(path)) && !excluded.some((matches) => matches(path))
    if (!paths.some(isTaken))
      return [`${at}: inbox.include and inbox.exclude leave out all such files`]
    const earlier = feeds.slice(0, index).find((rule) => {
      const captures = capturingMatcher(rule.match)
      return paths.every((path) => captures(path) !== null)
    })
    return earlier === undefined
      ? []
      : [`${at}: the rule "${earlier.match}" above it takes all such files`]
  })
}

/** sampleOf returns a path that the pattern probably matches. */
function sampleOf(pattern: string, { any, deep }: (typeof SAMPLES)[number]): string {
  return pattern
    .replace(/\{\d+\}/g, any)
    .replace(/\{([^{},]+),[^{}]*\}/g, '$1')
    .replace(/\[[^\]]+\]/g, 'a')
    .replaceAll('**', deep)
    .replaceAll('*', any)
    .replaceAll('?', 'q')
}
