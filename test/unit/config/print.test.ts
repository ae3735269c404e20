import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Config } from '../../../src/config/config.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { printableConfig } from '../../../src/config/print.ts'
import { writeYaml } from '../../../src/lib/yaml.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'feedsyncd-print-'))
})

afterAll(() => rmSync(folder, { recursive: true }))

function load(text: string): Config {
  const file = join(folder, 'feedsyncd.yaml')
  writeFileSync(file, text)
  return loadConfig(file, {}).config
}

describe('the printed configuration', () => {
  it.each([
    [
      'the defaults',
      'service: { baseUrl: "https://x", account: "1" }\ncampaigns: { file: c.yaml }\n',
    ],
    [
      'every choice',
      `service: { baseUrl: "https://x/api", partner: acme, partnerAccount: "42" }
inbox: { rescan: 90s, quietPeriod: 1500ms, afterUpload: archive, receipts: true }
feeds:
  - { match: "{1}/*.xml", name: "{1}", records: /a/b, fields: { id: "@id" }, expectEvery: 26h }
  - { match: "**" }
upload: { maxRate: 1536KiB }
campaigns: { file: c.yaml, mode: report }
http: { listen: "[::1]:9464" }
alerts: [{ on: [held], exec: [page, now] }]
`,
    ],
    [
      'a socket',
      'service: { baseUrl: "https://x", partner: a }\nhttp: { listen: ./s }\ncampaigns: { file: c.yaml }\n',
    ],
  ])('of %s loads as the same configuration', (_, text) => {
    const config = load(text)

    expect(load(writeYaml(printableConfig(config)))).toEqual(config)
  })

  it('has the units that people write, and quotes around numbers that are text', () => {
    const text = writeYaml(
      printableConfig(load('service: { baseUrl: "https://x", account: "1" }\n')),
    )

    expect(text).toContain('rescan: 30s\n')
    expect(text).toContain('historyFor: 400d\n')
    expect(text).toContain('account: "1"\n')
  })

  it('shows only the origin of a webhook, and the path of its secret', () => {
    const config = load(`service: { baseUrl: "https://x", account: "1" }
alerts: [{ on: [held], webhook: "https://hooks.example.com/T0/s3cr3t?k=s3cr3t", secretFile: w.key }]
`)

    const printed = JSON.stringify(printableConfig(config))

    expect(printed).toContain('"webhook":"https://hooks.example.com/[hidden]"')
    expect(printed).toContain(join(folder, 'w.key'))
    expect(printed).not.toContain('s3cr3t')
  })
})
