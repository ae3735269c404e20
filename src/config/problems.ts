// Turns the mistakes in a configuration file into lines for a person: place, key, problem, and a likely correction. It
// never repeats a value that may be a secret.

import type { z } from 'zod'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { nearest } from '../lib/nearest.ts'
import { keyName, type YamlDocument, type YamlPath, type YamlProblem } from '../lib/yaml.ts'
import { type Finding, valueAt } from './rules.ts'
import { configJsonSchema, type JsonSchema } from './schema.ts'

/** ConfigProblems holds all mistakes in the configuration, one line each. */
export class ConfigProblems extends FeedsyncError {
  override name = 'ConfigProblems'
  readonly lines: string[]
  /** Absolute path of the state directory, if the file names it in spite of its mistakes. */
  readonly stateDirectory: string | null

  constructor(lines: string[], stateDirectory: string | null = null) {
    super(`the configuration has ${lines.length} mistakes`, { exitCode: EXIT.config })
    this.lines = lines
    this.stateDirectory = stateDirectory
  }
}

/** formatProblem writes `file:line:column key: problem`, a place to which editors can jump. */
export function formatProblem(file: string, { line, column, key, problem }: YamlProblem): string {
  return `${file}:${line}:${column} ${key === '' ? '' : `${key}: `}${problem}`
}

export function describeProblems(
  document: YamlDocument,
  issues: readonly z.core.$ZodIssue[],
  findings: readonly Finding[],
): YamlProblem[] {
  const unknown: { path: YamlPath; problem: string; meant: YamlPath | null }[] = []
  const wrong: Finding[] = []
  for (const issue of issues) {
    const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
    if (issue.code === 'unrecognized_keys') {
      unknown.push(...issue.keys.map((key) => unknownKey([...path, key])))
    } else wrong.push({ path, problem: wording(document.value, path, issue.message) })
  }
  const located = new Map<string, YamlProblem>()
  const add = (path: YamlPath, what: 'key' | 'value', problem: string) => {
    const key = keyName(path)
    if (!located.has(key)) located.set(key, document.problemAt(path, what, problem))
  }
  for (const { path, problem } of unknown) add(path, 'key', problem)
  for (const { path, problem } of [...wrong, ...findings]) {
    // A misspelt key needs one line only, so do not report its right spelling as missing.
    const isMissing = path.length > 0 && valueAt(document.value, path) === undefined
    if (isMissing && unknown.some(({ meant }) => meant && explains(meant, path))) continue
    add(path, 'value', problem)
  }
  return [...located.values()].sort((a, b) => a.line - b.line || a.column - b.column)
}

function wording(raw: unknown, path: YamlPath, message: string): string {
  const value = valueAt(raw, path)
  if (value === undefined && path.length > 0) return 'missing'
  if (value === null) return `has no value: ${message}`
  const shown = typeof value === 'number' ? String(value) : JSON.stringify(value)
  const mayShow = typeof value !== 'object' && !SENSITIVE.test(keyName(path)) && shown.length < 60
  return mayShow ? `${message} (got ${shown})` : message
}

const SENSITIVE = /key|secret|token|passw|credential|url|webhook|exec/i
const INLINE_SECRET =
  /^(api|private|secret|signing)?_?-?(key|secret|token|password|passwd|pem|credentials?)$/i

function unknownKey(path: YamlPath): { path: YamlPath; problem: string; meant: YamlPath | null } {
  const name = String(path.at(-1))
  if (INLINE_SECRET.test(name)) {
    const problem =
      'secrets do not belong in this file: write the secret to its own file, and name that file in service.auth.keyFile'
    return { path, problem, meant: null }
  }
  const parent = path.slice(0, -1)
  const schema = configJsonSchema()
  const near = nearest(name, Object.keys(schemaAt(schema, parent)?.properties ?? {}))
  const meant = near === null ? elsewhere(schema, name) : [...parent, near]
  if (meant === null) return { path, problem: 'unknown key', meant }
  const shown = near ?? keyName(meant)
  return { path, problem: `unknown key, did you mean ${shown}?`, meant }
}

/** Groups of keys of which one is enough: for a missing one, the rules name the first. */
const ALTERNATIVES = [
  ['account', 'partner'],
  ['exec', 'webhook'],
]

/** explains returns whether `missing` is the key that the misspelt key meant, or lies below it. */
function explains(meant: YamlPath, missing: YamlPath): boolean {
  const name = String(missing.at(-1))
  const names = ALTERNATIVES.find((keys) => keys.includes(name)) ?? [name]
  const section = missing.slice(0, -1)
  return (
    keyName(missing).startsWith(`${keyName(meant)}.`) ||
    names.some((each) => keyName([...section, each]) === keyName(meant))
  )
}

function schemaAt(schema: JsonSchema, path: YamlPath): JsonSchema | undefined {
  return path.reduce<JsonSchema | undefined>(
    (at, step) => (typeof step === 'number' ? at?.items : at?.properties?.[step]),
    schema,
  )
}

/** elsewhere finds a key of this name in another block. */
function elsewhere(schema: JsonSchema, name: string, path: YamlPath = []): YamlPath | null {
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    const at = [...path, key]
    if (key === name) return at
    const found = elsewhere(child, name, at)
    if (found !== null) return found
  }
  return null
}
