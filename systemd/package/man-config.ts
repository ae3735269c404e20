// Writes feedsyncd.yaml(5) from the schema of the configuration: every key with its description and default.

import { campaignsJsonSchema } from '../../src/campaigns/file-schema.ts'
import { configJsonSchema } from '../../src/config/schema.ts'
import type { JsonSchema } from '../../src/lib/yaml-problems.ts'
import { document, entry, heading, literal, page, paragraph } from './roff.ts'

const EXAMPLE = `version: 1
service:
  baseUrl: https://api.example.com/api
  account: "123"
inbox: { directory: /srv/ats/export }
state: { directory: /var/lib/feedsyncd }`

export function configPage(version: string, day: string): string {
  return document([
    page('FEEDSYNCD.YAML', 5, day, `feedsyncd ${version}`, 'File Formats'),
    heading('Name'),
    paragraph('feedsyncd.yaml - configuration of feedsyncd'),
    heading('Description'),
    paragraph(
      'One YAML file. feedsyncd config check reports all unknown keys and bad values at once, with line and column. feedsyncd config print prints the values in effect. The daemon reads the file at its start. After a change: systemctl restart feedsyncd, which is safe at any moment.',
    ),
    paragraph(
      'Relative paths are relative to the file. Durations: 500ms, 2s, 15m, 24h, 400d. Sizes: 512B, 64KiB, 5MiB, 1GiB. A complete configuration:',
    ),
    literal(EXAMPLE),
    heading('Keys'),
    ...keysOf(configJsonSchema()).map(({ name, schema, required }) =>
      entry(name, [schema.description ?? '', takes(schema), usual(schema, required)].join(' ')),
    ),
    heading('Files'),
    entry('/etc/feedsyncd/feedsyncd.yaml', 'the default place'),
    entry(
      '/usr/share/doc/feedsyncd/config/',
      'an example with every key, and the JSON Schema for editors',
    ),
    heading('See also'),
    paragraph('feedsyncd(1)'),
  ])
}

export function campaignsPage(version: string, day: string): string {
  const schema = campaignsJsonSchema()
  return document([
    page('CAMPAIGNS.YAML', 5, day, `feedsyncd ${version}`, 'File Formats'),
    heading('Name'),
    paragraph('campaigns.yaml - the campaigns as feedsyncd should keep them'),
    heading('Description'),
    paragraph(
      'One YAML file. feedsyncd campaigns plan compares it with the service, and feedsyncd campaigns apply sends the differences. All values are text. Unknown keys and bad values are reported all at once, with line and column.',
    ),
    heading('Keys'),
    ...keysOf(schema).map(({ name, schema: key, required }) =>
      entry(name, [key.description ?? '', takes(key), usual(key, required)].join(' ')),
    ),
    heading('Files'),
    entry('/etc/feedsyncd/campaigns.yaml', 'the default place'),
    entry('/usr/share/doc/feedsyncd/docs/campaigns.md', 'a guided tour'),
    heading('See also'),
    paragraph('feedsyncd(1), feedsyncd.yaml(5)'),
  ])
}

interface Key {
  /** `feeds[].match` */
  name: string
  schema: JsonSchema
  required: boolean
}

/** keysOf returns every key with a value, in the order of the schema. */
export function keysOf(schema: JsonSchema, prefix = ''): Key[] {
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const at = `${prefix}${name}`
    if (inner.properties !== undefined) return keysOf(inner, `${at}.`)
    const key = { name: at, schema: inner, required: required.includes(name) }
    return inner.items?.properties === undefined ? [key] : [key, ...keysOf(inner.items, `${at}[].`)]
  })
}

function takes({ enum: values }: JsonSchema): string {
  return Array.isArray(values) ? `One of ${values.join(', ')}.` : ''
}

function usual(schema: JsonSchema, required: boolean): string {
  if (required) return 'Required.'
  const { default: value } = schema
  if (value === undefined || value === '' || String(schema.description).includes('Default:'))
    return ''
  return `Default: ${typeof value === 'string' ? value : JSON.stringify(value)}.`
}
