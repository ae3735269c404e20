import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../../src/config/config.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { keysForRestart, reloaded } from '../../../src/config/reload.ts'

function load(keys: Record<string, object>): Config {
  const folder = join(tmpdir(), 'feedsyncd-reload')
  const made = mkdtempSync(folder)
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  const file = join(made, 'feedsyncd.yaml')
  const base = {
    service: { baseUrl: 'https://api.example.com', account: '123', auth: { keyFile: '/k' } },
    inbox: { directory: '/inbox', archiveDirectory: '/a', quarantineDirectory: '/q' },
    state: { directory: '/state' },
    campaigns: { file: '/campaigns.yaml' },
  } as Record<string, object>
  const merged = { ...base }
  for (const [name, value] of Object.entries(keys)) {
    merged[name] = Array.isArray(value) ? value : { ...base[name], ...value }
  }
  writeFileSync(file, JSON.stringify(merged))
  return loadConfig(file, {}).config
}

it('an unchanged file needs no restart', () => {
  expect(keysForRestart(load({}), load({}))).toEqual([])
})

it('rules, guards, limits, alerts and the log level need no restart', () => {
  const after = load({
    feeds: [{ match: '{1}/*.xml', name: '{1}' }],
    guards: { maxDropPercent: 10, minPostings: 9 },
    upload: { concurrency: 9, keepVersions: 9 },
    inbox: { rescan: '9s', incompleteAfter: '9m', afterUpload: 'archive', receipts: true },
    state: { historyFor: '9d' },
    alerts: [{ on: ['held'], exec: ['/bin/true'] }],
    log: { level: 'debug' },
  })

  expect(keysForRestart(load({}), after)).toEqual([])
})

it('folders, addresses and identities need one, and are named as they are written', () => {
  const after = load({
    service: { baseUrl: 'https://other.example.com', account: '124' },
    inbox: { directory: '/elsewhere', include: ['*.xml'] },
    upload: { maxRate: '5MiB' },
    state: { directory: '/other' },
    http: { listen: '127.0.0.1:9464' },
  })

  expect(keysForRestart(load({}), after)).toEqual([
    ...['service.baseUrl', 'service.account', 'inbox.directory', 'inbox.include'],
    ...['upload.maxRate', 'state.directory', 'http.listen'],
  ])
})

it('a key that is taken out counts as well', () => {
  const partner = { account: undefined, partner: 'acme', partnerAccount: '42' }

  expect(keysForRestart(load({}), load({ service: partner })).sort()).toEqual([
    ...['service.account', 'service.partner', 'service.partnerAccount'],
  ])
})

it('what means something only together with a key that needs one waits with it', () => {
  const feeds = [{ match: '{1}/*.xml' }]
  const files = { afterUpload: 'delete', afterReject: 'quarantine', receipts: true }
  const waiting = (keys: Record<string, object>) => keysForRestart(load({}), load(keys)).sort()

  expect(waiting({ feeds, inbox: { include: ['*.xml'], ...files } })).toEqual([
    ...['feeds', 'inbox.afterReject', 'inbox.afterUpload', 'inbox.include', 'inbox.receipts'],
  ])
  expect(waiting({ feeds, service: { account: '124' }, inbox: files })).toEqual([
    ...['feeds', 'service.account'],
  ])
  expect(waiting({ feeds, inbox: { quarantineDirectory: '/z', ...files } })).toEqual([
    ...['inbox.afterReject', 'inbox.quarantineDirectory'],
  ])
  expect(waiting({ feeds, inbox: { quietPeriod: '9s', ...files } })).toEqual(['inbox.quietPeriod'])
})

it('rules that a reload took up stay in force while the next ones wait', () => {
  const first = load({})
  const second = reloaded(first, load({ feeds: [{ match: 'a.xml' }] })).config

  const third = reloaded(second, load({ service: { account: '124' }, guards: { minPostings: 9 } }))

  expect(third.waiting).toEqual(['service.account', 'feeds'])
  expect(third.config).toEqual({ ...second, guards: { ...second.guards, minPostings: 9 } })
})

it('to name the campaigns file counts, also where it is the default one: its absence is an error then', () => {
  const named = load({})
  const found = { ...named, campaigns: { ...named.campaigns, explicit: false } }

  expect(keysForRestart(found, named)).toEqual(['campaigns.file'])
})
