// Finds and reads the configuration file. The result is the effective configuration, or all mistakes in the file at
// once. A wrong value never falls back to a default.

import { isUtf8 } from 'node:buffer'
import { dirname, resolve } from 'node:path'
import { unpackedName } from '../domain/packing.ts'
import { isBulkRoute } from '../domain/service-words.ts'
import { groupHint } from '../lib/access.ts'
import { errnoText } from '../lib/errno.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { readRegular } from '../lib/files.ts'
import { parseYaml, type YamlDocument, type YamlProblem } from '../lib/yaml.ts'
import { type BrokenRule, valueAt } from '../lib/yaml-problems.ts'
import type { Config } from './config.ts'
import { ConfigProblems, configProblems, formatProblem } from './problems.ts'
import { resolveConfig } from './resolve.ts'
import { brokenRules, type Links } from './rules.ts'
import { configSchema } from './schema.ts'

/** A larger file is an error. In bytes; thousands of rules need less. */
const LARGEST = 8 * 2 ** 20

export const DEFAULT_FILE = '/etc/feedsyncd/feedsyncd.yaml'

/** findConfig returns `flag` (the option `--config`), else `FEEDSYNCD_CONFIG`, else the default path. */
export function findConfig(flag: string | undefined, env: NodeJS.ProcessEnv): string {
  return flag ?? (env.FEEDSYNCD_CONFIG || DEFAULT_FILE)
}

/**
 * loadConfig reads and checks the whole file. Each line of `warnings` is about something that is allowed and usually a
 * mistake. It throws `ConfigProblems` with all mistakes, and `FeedsyncError` (78) if the file is missing, cannot be
 * read, or is not UTF-8. All lines begin with `file`.
 */
export function loadConfig(
  file: string,
  env: NodeJS.ProcessEnv,
  links: Links = 'followed',
): { config: Config; warnings: string[] } {
  const base = dirname(resolve(file))
  const document = parseYaml(readText(file))
  const lines = (problems: readonly YamlProblem[]) =>
    problems.map((one) => formatProblem(file, one))
  if (document.problems.length > 0) throw new ConfigProblems(lines(document.problems))
  const parsed = configSchema.safeParse(document.value)
  const findings = brokenRules(document.value, base, links)
  if (!parsed.success || findings.length > 0) {
    const problems = configProblems(document, parsed.error?.issues ?? [], findings)
    const state = valueAt(document.value, ['state', 'directory'])
    const stateDirectory = typeof state === 'string' && state !== '' ? resolve(base, state) : null
    throw new ConfigProblems(lines(problems), stateDirectory)
  }
  const config = resolveConfig(parsed.data, base, env)
  const found = [...withoutEffect(document, config), ...withoutAccount(config)]
  const warnings = found.map(({ path, reason }) => document.problemAt(path, 'key', reason))
  return { config, warnings: lines(warnings) }
}

/** placeholderConfig is for commands that only read the history while the configuration file has mistakes. */
export function placeholderConfig(
  file: string,
  stateDirectory: string,
  env: NodeJS.ProcessEnv,
): Config {
  const service = { baseUrl: 'https://unknown.invalid', account: 'unknown' }
  const least = { version: 1, service, inbox: {}, state: { directory: stateDirectory } }
  return resolveConfig(configSchema.parse(least), dirname(resolve(file)), env)
}

function readText(file: string): string {
  const bytes = readBytes(file)
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes)
  const options = { hint: 'save it again as UTF-8', exitCode: EXIT.config }
  throw new FeedsyncError(`the configuration file ${file} is not UTF-8`, options)
}

function readBytes(file: string): Buffer {
  try {
    return readRegular(file, LARGEST)
  } catch (cause) {
    const found = errnoText(cause, {
      name: `the configuration file ${file}`,
      setting: 'the path',
      use: 'read',
      hints: {
        ENOENT:
          'name the file with --config or FEEDSYNCD_CONFIG; feedsyncd.example.yaml explains every key',
        EACCES: groupHint(file) ?? 'run this as root, or ask root to let your group read it',
        EISDIR: 'name the file itself, such as feedsyncd.yaml in that folder',
      },
    })
    throw new FeedsyncError(found.reason, { hint: found.hint, exitCode: EXIT.config, cause })
  }
}

/** withoutEffect warns of rules that name a partner account although no partner is configured. */
function withoutEffect(document: YamlDocument, { service, feeds }: Config): BrokenRule[] {
  if ('partner' in service.identity) return []
  const accounts = feeds.map((_, index) => ['feeds', index, 'partnerAccount'])
  const useless = accounts.filter((path) => valueAt(document.value, path) != null)
  const reason = 'has no effect: service.account uploads only for itself; set service.partner'
  return useless.map((path) => ({ path, reason }))
}

const EVERYTHING = ['**', '**/*']

/** withoutAccount warns of rules and paths without a partner account, because no upload of their feeds can succeed. */
function withoutAccount({ service, inbox, feeds }: Config): BrokenRule[] {
  const { identity, presignPath } = service
  if (!('partner' in identity) || identity.partnerAccount !== null) return []
  if (isBulkRoute(presignPath)) return []
  const isCovered = (pattern: string) =>
    feeds.some(({ match }) => [...EVERYTHING, pattern, unpackedName(pattern)].includes(match))
  const rules = feeds.flatMap(({ partnerAccount }, index): BrokenRule[] => {
    const reason = 'names no partnerAccount, and service.partnerAccount is not set: its feeds fail'
    return partnerAccount === null ? [{ path: ['feeds', index, 'match'], reason }] : []
  })
  if (inbox.include.every(isCovered)) return rules
  const reason =
    'no partnerAccount for a file that no rule of feeds matches: set service.partnerAccount, or these feeds fail'
  return [...rules, { path: ['service', 'partner'], reason }]
}
