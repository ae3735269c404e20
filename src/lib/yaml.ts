// Owns YAML: strict YAML 1.2, one document, without aliases, anchors, tags or merge keys, so that a file means exactly
// what a person reads in it. Every node has its line and column.

import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  type ParsedNode,
  parseDocument,
  stringify,
  visit,
  type YAMLMap,
} from 'yaml'

export type YamlPath = readonly (string | number)[]

/** YamlProblem is one mistake. Line and column count from 1; columns count UTF-16 units, as editors do. */
export interface YamlProblem {
  line: number
  column: number
  /** `inbox.rescan`, `feeds[0].match`; empty for the whole file and for its syntax. */
  key: string
  /** Plain sentence that begins with a small letter. */
  reason: string
}

export interface YamlDocument {
  /** Plain objects, arrays and scalars; null for an empty document and if there are `problems`. */
  value: unknown
  /** All mistakes of syntax, in the order of the file. */
  problems: YamlProblem[]
  /**
   * problemAt returns a problem with the position of a key or of its value. A missing path gets the position of its
   * nearest existing parent. An item of a sequence has no key, so it gets the position of its value.
   */
  problemAt(path: YamlPath, what: 'key' | 'value', reason: string): YamlProblem
}

/**
 * parseYaml reads one document and returns mistakes in the text as values. `failsafe` keeps every scalar as text
 * (`NO`, `0123`, `1.50`); `core` is the schema of YAML 1.2.
 */
export function parseYaml(text: string, schema: 'core' | 'failsafe' = 'core'): YamlDocument {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, {
    schema,
    lineCounter,
    stringKeys: true,
    // The library compares each key with all keys before it, which can take hours; `duplicates` takes a few ms.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'error',
  })
  const at = (offset: number, key: string, reason: string): YamlProblem => {
    const { line, col } = lineCounter.linePos(offset)
    return { ...(line === 0 ? { line: 1, column: 1 } : { line, column: col }), key, reason }
  }
  const found = [
    ...document.errors.map(({ code, message, pos }) => {
      return { offset: pos[0], reason: wording(code, message) }
    }),
    ...duplicates(document),
    // Without one of these characters, the file cannot contain an unsupported feature, so skip the slow walk.
    ...(/[&*!%<]/.test(text) ? unsupported(document) : []),
  ]
  const problems = found
    .sort((a, b) => a.offset - b.offset)
    .map(({ offset, reason }) => at(offset, '', reason))
  const start = document.contents?.range[0] ?? 0
  return {
    value: problems.length === 0 ? document.toJS() : null,
    problems,
    problemAt: (path, what, reason) =>
      at(offsetOf(document.contents, path, { offset: start, what }), keyName(path), reason),
  }
}

/** writeYaml writes a value as YAML that `parseYaml` reads back; it does not fold long lines. */
export function writeYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}

/** keyName writes a path as `inbox.rescan` or `feeds[0].match`; empty for the document itself. */
export function keyName(path: YamlPath): string {
  return path.reduce<string>(
    (name, step) =>
      typeof step === 'number' ? `${name}[${step}]` : name === '' ? step : `${name}.${step}`,
    '',
  )
}

interface UnsupportedYaml {
  offset: number
  reason: string
}

function unsupported(document: Document): UnsupportedYaml[] {
  const found: UnsupportedYaml[] = []
  const report = (node: Node, reason: string) =>
    found.push({ offset: node.range?.[0] ?? 0, reason })
  if (document.directives?.yaml.explicit) {
    found.push({ offset: 0, reason: 'a %YAML directive is not supported' })
  }
  visit(document, {
    Node: (_, node) => {
      if (isAlias(node)) report(node, `aliases are not supported (*${node.source})`)
      else if (node.anchor) report(node, `anchors are not supported (&${node.anchor})`)
      else if (node.tag) report(node, `tags are not supported (${node.tag})`)
    },
    Pair: (_, { key }) => {
      if (isScalar(key) && key.source === '<<' && key.type === 'PLAIN') {
        report(key, 'merge keys are not supported (<<)')
      }
    },
  })
  return found
}

function duplicates(document: Document): UnsupportedYaml[] {
  const found: UnsupportedYaml[] = []
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value))
          found.push({ offset: key.range?.[0] ?? 0, reason: 'duplicate key' })
        seen.add(key.value)
      }
    },
  })
  return found
}

const knownPairs = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>()

/** pairsOf returns the pairs of a map by key. It caches them, because a file can have a mistake in each of its keys. */
function pairsOf(map: YAMLMap): ReadonlyMap<string, Pair> {
  const pairs =
    knownPairs.get(map) ??
    new Map(
      map.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair]] : [])),
    )
  knownPairs.set(map, pairs)
  return pairs
}

/** offsetOf returns the position of the key or value at a path below `node`, which stands at `offset`. */
function offsetOf(
  node: unknown,
  [step, ...rest]: YamlPath,
  { offset, what }: { offset: number; what: 'key' | 'value' },
): number {
  if (isSeq(node) && typeof step === 'number') {
    const item = node.items[step]
    return isNode(item) ? offsetOf(item, rest, { offset: item.range[0], what }) : offset
  }
  const pair = step !== undefined && isMap(node) ? pairsOf(node).get(String(step)) : undefined
  if (pair === undefined) return offset
  // A missing value has no position, so point at its key.
  const isValue = rest.length === 0 && what === 'value' && hasSource(pair.value)
  const target = isValue ? pair.value : pair.key
  return offsetOf(pair.value, rest, { offset: isNode(target) ? target.range[0] : offset, what })
}

const isNode = (value: unknown): value is ParsedNode =>
  typeof value === 'object' && value !== null && 'range' in value && Array.isArray(value.range)

const hasSource = (value: unknown) =>
  !(isScalar(value) && value.type === 'PLAIN' && value.source === '')

/** Our own words for errors whose text only experts of the library understand. */
const WORDING: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'tabs cannot indent YAML: use spaces',
  MULTIPLE_DOCS: 'only one document is allowed: remove the line "---"',
  NON_STRING_KEY: 'a key must be plain text',
}

function wording(code: string, message: string): string {
  return WORDING[code] ?? message.charAt(0).toLowerCase() + message.slice(1)
}
