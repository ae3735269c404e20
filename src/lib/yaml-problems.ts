// Turns the mistakes that a schema finds in a YAML file into problems for a person: place, key, problem, and a likely
// correction.

import { nearest } from './nearest.ts'
import { keyName, type YamlDocument, type YamlPath, type YamlProblem } from './yaml.ts'

/** JsonSchema has the parts of a JSON Schema that this program reads. */
export interface JsonSchema {
  description?: string
  properties?: Record<string, JsonSchema>
  items?: JsonSchema
  default?: unknown
  [keyword: string]: unknown
}

/** BrokenRule says which rule a value breaks that the schema cannot express. */
export interface BrokenRule {
  path: YamlPath
  reason: string
}

/** SchemaIssue is what a schema says of a wrong value; `unrecognized_keys` names unknown keys of a block. */
type SchemaIssue = { path: readonly PropertyKey[]; message: string } & (
  | { code: 'unrecognized_keys'; keys: readonly string[] }
  | { code?: string }
)

interface Describing {
  issues: readonly SchemaIssue[]
  findings: readonly BrokenRule[]
  /** The schema of the file. It names the key that a misspelt key might mean. */
  schema: JsonSchema
  /** nameOf names a path for people. */
  nameOf?: (path: YamlPath) => string
  /** mayShow returns whether the value of this key may stand in a message. */
  mayShow?: (key: string) => boolean
  /** forbidden says why a key of this name must not be in the file; null if the key is only unknown. */
  forbidden?: (name: string) => string | null
  /** Groups of keys of which one is enough. If all keys of a group are missing, the findings name its first key. */
  alternatives?: readonly (readonly string[])[]
}

interface Unknown extends BrokenRule {
  /** The key that was meant; null if none is near. */
  meant: YamlPath | null
}

/** describeProblems returns one problem for each key, in the order of the file. */
export function describeProblems(document: YamlDocument, options: Describing): YamlProblem[] {
  const { issues, findings, nameOf = keyName } = options
  const unknown: Unknown[] = []
  const wrong: BrokenRule[] = []
  for (const issue of issues) {
    const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
    if ('keys' in issue) {
      unknown.push(...issue.keys.map((key) => unknownKey([...path, key], options)))
    } else
      wrong.push({
        path,
        reason: wording(valueAt(document.value, path), { ...issue, path }, options),
      })
  }
  const located = new Map<string, YamlProblem>()
  const add = (path: YamlPath, what: 'key' | 'value', reason: string) => {
    const key = keyName(path)
    if (located.has(key)) return
    located.set(key, { ...document.problemAt(path, what, reason), key: nameOf(path) })
  }
  for (const { path, reason } of unknown) add(path, 'key', reason)
  for (const { path, reason } of [...wrong, ...findings]) {
    // A misspelt key needs one line only, so do not report its right spelling as missing.
    const isMissing = path.length > 0 && valueAt(document.value, path) === undefined
    if (isMissing && unknown.some(({ meant }) => meant && explains(meant, path, options))) continue
    add(path, 'value', reason)
  }
  return [...located.values()].sort((a, b) => a.line - b.line || a.column - b.column)
}

/** valueAt returns the value at a path, or undefined. */
export function valueAt(raw: unknown, path: YamlPath): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, step)
        ? (value as Record<string | number, unknown>)[step]
        : undefined,
    raw,
  )
}

function wording(
  value: unknown,
  { message, path }: { message: string; path: YamlPath },
  { mayShow = () => true }: Describing,
): string {
  if (value === undefined && path.length > 0) return 'missing'
  if (value === null) return `has no value: ${message}`
  const shown = typeof value === 'number' ? String(value) : JSON.stringify(value)
  const isShown = typeof value !== 'object' && mayShow(keyName(path)) && shown.length < 60
  return isShown ? `${message} (got ${shown})` : message
}

function unknownKey(path: YamlPath, { schema, forbidden = () => null }: Describing): Unknown {
  const name = String(path.at(-1))
  const why = forbidden(name)
  if (why !== null) return { path, reason: why, meant: null }
  const parent = path.slice(0, -1)
  const near = nearest(name, Object.keys(schemaAt(schema, parent)?.properties ?? {}))
  const meant = near === null ? elsewhere(schema, name) : [...parent, near]
  if (meant === null) return { path, reason: 'unknown key', meant }
  const shown = near ?? keyName(meant)
  return { path, reason: `unknown key, did you mean ${shown}?`, meant }
}

/** explains returns whether `missing` is the key that the misspelt key meant, or lies below it. */
function explains(meant: YamlPath, missing: YamlPath, { alternatives = [] }: Describing): boolean {
  const name = String(missing.at(-1))
  const names = alternatives.find((keys) => keys.includes(name)) ?? [name]
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

/** elsewhere returns the path of the first key of this name in the whole schema, or null. */
function elsewhere(schema: JsonSchema, name: string, path: YamlPath = []): YamlPath | null {
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    const at = [...path, key]
    if (key === name) return at
    const found = elsewhere(child, name, at)
    if (found !== null) return found
  }
  return null
}
