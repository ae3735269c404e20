import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readDesired } from '../../../src/campaigns/desired.ts'
import { campaignsJsonSchema } from '../../../src/campaigns/file-schema.ts'
import type { JsonSchema } from '../../../src/lib/yaml-problems.ts'

const CONFIG = join(import.meta.dirname, '..', '..', '..', 'config')
const schema = campaignsJsonSchema()
const example = readFileSync(join(CONFIG, 'campaigns.example.yaml'), 'utf8')

/** keysOf returns the path of every key, such as `campaigns[].targeting.cities[].name`. */
function keysOf({ properties = {}, items }: JsonSchema, prefix = ''): string[] {
  const own = Object.entries(properties).flatMap(([name, inner]) => [
    `${prefix}${name}`,
    ...keysOf(inner, `${prefix}${name}.`),
  ])
  return items === undefined ? own : [...own, ...keysOf(items, `${prefix.slice(0, -1)}[].`)]
}

function problems(text: string): string {
  const reading = readDesired(text)
  return reading.kind === 'problems' ? reading.problems.map(({ reason }) => reason).join() : ''
}

describe('the schema of campaigns.yaml', () => {
  it('is the one that npm run schema wrote', () => {
    const stored = JSON.parse(readFileSync(join(CONFIG, 'campaigns.schema.json'), 'utf8'))

    expect(stored).toEqual(schema)
  })

  it.each(keysOf(schema))(
    'names %s, and the file may have this key there, but not another',
    (key) => {
      const name = key.split('.').at(-1) ?? ''
      const block = key
        .split('.')
        .slice(0, -1)
        .map((part) => part.replace('[]', ''))
      const fileWith = (name: string) =>
        block.reduceRight((text, part) => {
          const isList = key.includes(`${part}[].`)
          return isList ? `${part}: [{ ${text} }]` : `${part}: { ${text} }`
        }, `${name}: x`)

      expect(problems(fileWith(name))).not.toContain('unknown key')
      expect(problems(fileWith('zzz'))).toContain('unknown key')
    },
  )

  it('leads from an unknown key to the nearest one', () => {
    const entry = 'version: 1\ncampaigns: [{ externalCampaignId: A, name: A, %: x }]'

    expect(problems(entry.replace('%', 'end'))).toContain('did you mean endDate?')
    expect(problems(entry.replace('%', 'states'))).toContain('unknown key, did you mean status?')
    expect(problems(entry.replace('%', 'start'))).toContain('did you mean startDate?')
  })

  it('describes each key, and the example explains or shows it', () => {
    const undescribed = (inner: JsonSchema): string[] =>
      Object.entries(inner.properties ?? {}).flatMap(([name, child]) => [
        ...(child.description ? [] : [name]),
        ...undescribed(child.items ?? child),
      ])
    const names = keysOf(schema).map((key) => key.split('.').at(-1) ?? '')

    expect(undescribed(schema)).toEqual([])
    expect(names.filter((name) => !example.includes(name))).toEqual([])
  })
})
