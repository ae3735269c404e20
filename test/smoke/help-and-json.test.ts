// Every command has a help text, and every command with `--json` answers in JSON. The list of commands comes from the
// program, so a new command without a case here fails.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect, it } from 'vitest'
import { commandTable } from '../../systemd/package/command-table.ts'
import { CampaignsSite } from '../helpers/campaigns/campaigns-site.ts'
import { entry, fileOf } from '../helpers/campaigns/file.ts'
import { runWithin } from '../helpers/command.ts'
import { fieldsOf, headingFor, namedBy, pathsOf } from '../helpers/json-page.ts'
import { feedOf, type Site } from '../helpers/site.ts'

/** Each command and subcommand, by its words. */
const COMMANDS = commandsOf(commandTable.program())

function commandsOf(group: Command, words: string[] = []): [string, Command][] {
  return group.commands.flatMap((command) => {
    const own = [...words, command.name()]
    return [[own.join(' '), command] as [string, Command], ...commandsOf(command, own)]
  })
}

it.each(COMMANDS)(
  '%s --help says what it and its subcommands do and how to call it, with an example',
  async (words, command) => {
    const { code, stdout, stderr } = await runWithin([...words.split(' '), '--help'])

    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(new RegExp(`^Usage: feedsyncd ${words} `))
    const flat = stdout.replace(/\s+/g, ' ')
    expect(command.description()).not.toBe('')
    expect(flat).toContain(command.description())
    expect(stdout).toMatch(/^Options:$/m)
    if (command.commands.length === 0) expect(stdout).toContain(`\nExample: feedsyncd ${words}`)
    for (const inner of command.commands) expect(flat).toContain(inner.description())
  },
)

/** The order matters: a command uses the results of earlier ones. The daemon runs, and nothing is uploaded yet. */
const FEEDS: Case[] = [
  ['status', []],
  ['status', ['--check'], { variant: 'status --check', code: 1 }],
  ['check', ['corrected.xml']],
  ['upload', ['corrected.xml', '--feed', 'jobs.xml', '--new']],
  ['campaigns why', ['J-1']],
  ['show', ['1']],
  ['show', ['jobs.xml'], { variant: 'show FEED' }],
  ['show', ['path:nothing.csv'], { variant: 'show PATH', before: (site) => ignored(site) }],
  ['restore', ['1']],
  ['release', ['3'], { before: (site) => dropped(site, feedOf(2)) }],
  ['diff', ['1', '3'], { code: 2 }],
  ['discard', ['4'], { before: (site) => dropped(site, '<source/>') }],
  ['retry', ['--all']],
  ['pause', ['jobs.xml', '--for', '2h']],
  ['resume', []],
  ['forget', ['stray.xml'], { before: (site) => uploaded(site, 'stray.xml') }],
  ['pause', []],
  ['resume', []],
  ['backup', ['backup.db']],
  ['config check', []],
  ['config print', []],
  ['alerts test', []],
  ['doctor', []],
]

/** These run without a daemon: it could hold the lock of the campaigns, and a command does not wait for that lock. */
const CAMPAIGNS: Case[] = [
  ['campaigns plan', [], { code: 2 }],
  ['campaigns apply', ['--lower']],
  ['campaigns create', ['--name', 'Cooks', '--budget', '10', '--yes']],
  ['campaigns search', []],
  ['campaigns get', ['48001']],
  ['campaigns update', ['48001', '--budget', '9', '--yes']],
  ['campaigns status', [], { before: applied }],
  ['campaigns covers', ['NUR-Q1']],
  ['campaigns preview', []],
  ['campaigns history', []],
  ['campaigns export', []],
  ['campaigns forget', ['NUR-Q1']],
]

type Case = [
  command: string,
  args: string[],
  settings?: { before?: (site: Site) => Promise<unknown>; code?: number; variant?: string },
]

it('every command with --json prints exactly one line of JSON, with its schema version and only fields that docs/json.md names', async () => {
  await using vendor = await CampaignsSite.open(fileOf(entry('NUR-Q1')))
  const { site } = vendor
  site.configure({ alerts: [{ on: ['held'], exec: ['/bin/true'] }] })
  writeFileSync(join(site.root, 'corrected.xml'), feedOf(10))

  for (const each of CAMPAIGNS) await answersJson(site, each)
  await site.daemon()
  for (const each of FEEDS) await answersJson(site, each)

  const tried = [...CAMPAIGNS, ...FEEDS].map(([command]) => command)
  const withJson = COMMANDS.filter(([, { options }]) =>
    options.some(({ long }) => long === '--json'),
  )
  expect([...new Set([...tried, 'sandbox'])].sort()).toEqual(
    withJson.map(([words]) => words).sort(),
  )
})

it('sandbox --json prints one line of documented JSON, runs until it is stopped, and exits 0', async () => {
  await using vendor = await CampaignsSite.open(null)
  const { site } = vendor
  const sandbox = site.start('sandbox', '--dir', join(site.root, 'sandbox'), '--json')

  const line = await site.logged(sandbox, '')
  const { code, stdout } = await sandbox.stop()

  expect(JSON.parse(line)).toMatchObject({ schemaVersion: 1, url: expect.any(String) })
  expect([code, stdout]).toEqual([0, `${line}\n`])
  namesAll(line, 'sandbox')
})

async function answersJson(site: Site, [command, args, settings = {}]: Case): Promise<void> {
  await settings.before?.(site)
  const there = args.map((arg) =>
    /^(corrected\.xml|backup\.db)$/.test(arg) ? join(site.root, arg) : arg,
  )

  const { code, stdout } = await site.run(...command.split(' '), ...there, '--json')

  expect(`${command}: ${code}`).toBe(`${command}: ${settings.code ?? 0}`)
  expect(stdout).toMatch(/^\{.*\}\n$/)
  namesAll(stdout, command, settings.variant)
}

/** namesAll checks that an answer has its schema version, and that docs/json.md names all its other fields. */
function namesAll(text: string, command: string, variant = command): void {
  const answer = JSON.parse(text)
  expect(answer).toMatchObject({ schemaVersion: 1 })
  const { schemaVersion: _, ...told } = answer
  const fields = fieldsOf(headingFor(command, variant))
  const unnamed = pathsOf(told).filter((path) => namedBy(path, fields) === undefined)
  expect(`${variant}: ${unnamed.join(', ')}`).toBe(`${variant}: `)
}

async function ignored(site: Site): Promise<void> {
  site.drop('nothing.csv', 'a,b')
}

async function uploaded(site: Site, feed: string): Promise<void> {
  await site.run('upload', join(site.root, 'corrected.xml'), '--feed', feed, '--new')
}

async function dropped(site: Site, bytes: string): Promise<void> {
  site.drop('jobs.xml', bytes)
  await site.passed('jobs.xml', 'held', { after: site.lastEvent('jobs.xml') })
}

async function applied(site: Site): Promise<void> {
  const { digest } = JSON.parse((await site.run('campaigns', 'plan', '--json')).stdout)
  await site.run('campaigns', 'apply', '--plan', digest)
}
