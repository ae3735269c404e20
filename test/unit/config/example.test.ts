import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Config } from '../../../src/config/config.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { configJsonSchema } from '../../../src/config/schema.ts'
import { parseYaml } from '../../../src/lib/yaml.ts'
import type { JsonSchema } from '../../../src/lib/yaml-problems.ts'

const FOLDER = join(import.meta.dirname, '../../../config')
const EXAMPLE = readFileSync(join(FOLDER, 'feedsyncd.example.yaml'), 'utf8')

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'feedsyncd-example-'))
})

afterAll(() => rmSync(folder, { recursive: true }))

function load(text: string): Config {
  const file = join(folder, 'feedsyncd.yaml')
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, text)
  return loadConfig(file, {}).config
}

/** The example with its commented-out settings enabled, and without the settings that they replace. */
function uncommented(): string {
  return EXAMPLE.replace(/^( *)#(?=[\w-]| {2})/gm, '$1').replace(
    /^ *account: .*$|^\w+: \[\]$/gm,
    '',
  )
}

/** `inbox.rescan`, `feeds.fields.id`: every key of the schema. */
function keysOf(schema: JsonSchema, path: string[] = []): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, child]) => {
    const at = [...path, key]
    return [at.join('.'), ...keysOf(child.items ?? child, at)]
  })
}

function keysIn(value: unknown, path: string[] = []): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => keysIn(item, path))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, child]) => {
    const at = [...path, key]
    return [at.join('.'), ...keysIn(child, at)]
  })
}

describe('the example configuration', () => {
  it('loads and sets only the defaults', () => {
    const least = 'service: { baseUrl: "https://api.example.com", account: "123" }\n'

    expect(load(EXAMPLE)).toEqual(load(least))
  })

  it('has every key of the schema, with the optional keys commented out', () => {
    const shown = new Set(
      keysIn(parseYaml(EXAMPLE).value).concat(keysIn(parseYaml(uncommented()).value)),
    )

    expect(keysOf(configJsonSchema()).filter((key) => !shown.has(key))).toEqual([])
  })

  it('also loads with the commented-out settings enabled', () => {
    const config = load(uncommented())

    expect(config.feeds).toHaveLength(1)
    expect(config.alerts).toHaveLength(4)
    expect(config.service.identity).toHaveProperty('partner')
  })

  it('names its schema in the first line, for editors', () => {
    const name = /^# yaml-language-server: \$schema=\.\/(\S+)\n/.exec(EXAMPLE)?.[1] ?? ''

    expect(JSON.parse(readFileSync(join(FOLDER, name), 'utf8'))).toHaveProperty('properties')
  })
})

describe('the JSON Schema', () => {
  it('in config/ equals the schema from the code (npm run schema)', () => {
    const stored = JSON.parse(readFileSync(join(FOLDER, 'feedsyncd.schema.json'), 'utf8'))

    expect(stored).toEqual(configJsonSchema())
  })

  it('describes every key in a sentence', () => {
    const silent = (schema: JsonSchema, path: string[] = []): string[] =>
      Object.entries(schema.properties ?? {}).flatMap(([key, child]) => [
        ...(child.description?.endsWith('.') ? [] : [[...path, key].join('.')]),
        ...silent(child.items ?? child, [...path, key]),
      ])

    expect(silent(configJsonSchema())).toEqual([])
  })

  it('refuses unknown keys in every block, as the program does', () => {
    const open = (schema: JsonSchema, path: string[] = []): string[] => [
      ...(schema.properties && schema.additionalProperties !== false ? [path.join('.')] : []),
      ...Object.entries(schema.properties ?? {}).flatMap(([key, child]) =>
        open(child.items ?? child, [...path, key]),
      ),
    ]

    expect(open(configJsonSchema())).toEqual([])
  })
})

describe('the example campaigns', () => {
  it('are one YAML document with a version, campaigns and limits', () => {
    const text = readFileSync(join(FOLDER, 'campaigns.example.yaml'), 'utf8')

    const { value, problems } = parseYaml(text, 'failsafe')

    expect(problems).toEqual([])
    expect(Object.keys(value as object)).toEqual(['version', 'campaigns', 'limits'])
  })
})
