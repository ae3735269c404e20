import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { Command } from '../../helpers/command.ts'
import { examples } from '../../helpers/feeds-page.ts'
import { feedOf, Site } from '../../helpers/site.ts'

it('check says of a mistyped path, in text and JSON, and of a directory that it cannot be read; exit 1', async () => {
  await using site = await Site.open()

  const { code, stdout } = await site.run('check', 'mistyped.xml')
  const folder = await site.run('check', site.inbox)
  const json = JSON.parse((await site.run('check', 'mistyped.xml', '--json')).stdout)

  expect(code).toBe(1)
  expect(stdout).toBe('mistyped.xml: cannot be read: it does not exist (ENOENT)\n')
  expect([folder.code, folder.stdout]).toEqual([1, expect.stringMatching(/: cannot be read: /)])
  expect(json.files).toMatchObject([{ path: 'mistyped.xml', verdict: 'unreadable' }])
})

it('check prints the documented JSON and exits 3 if any file is not ok', async () => {
  await using site = await Site.open()
  const good = join(site.root, 'good.xml')
  const bad = join(site.root, 'bad.xml')
  writeFileSync(good, feedOf(3))
  writeFileSync(bad, '<source>\n  <job>&nbsp;</job>\n</source>')

  const { code, stdout } = await site.run('check', good, bad, '--json')

  const answer = JSON.parse(stdout)
  expect(code).toBe(3)
  expect(answer.schemaVersion).toBe(1)
  expect(answer.files[0]).toMatchObject({
    path: good,
    verdict: 'ok',
    root: 'source',
    records: '/source/job',
    postings: 3,
    encoding: 'UTF-8',
    externalCampaignIds: { A: 1, B: 2 },
    requisitionIds: 0,
  })
  expect(answer.files[1]).toMatchObject({ path: bad, verdict: 'broken', line: 2, column: 8 })
})

it('check prints for the examples of docs/feeds.md what the page shows', async () => {
  await using site = await Site.open()
  const said: string[] = []
  const printed: string[] = []

  for (const example of examples()) {
    if (example.kind === 'file') {
      if (example.name.endsWith('.yaml')) site.configure(parse(example.text))
      else writeFileSync(join(site.inbox, example.name), example.text)
    } else {
      const [command = '', name = ''] = example.args
      const { stdout } = await site.run(command, join(site.inbox, name))
      said.push(example.prints)
      printed.push(stdout.replace(`${site.inbox}/`, ''))
    }
  }

  expect(printed).toEqual(said)
  expect(printed).toHaveLength(6)
})

it('check would hold a feed without postings always, and one with few by the configuration; exit 3, and it writes nothing', async () => {
  await using site = await Site.open({ guards: { minPostings: 4 } })
  const [empty, few] = [join(site.root, 'empty.xml'), join(site.root, 'few.xml')]
  writeFileSync(empty, '<source/>')
  writeFileSync(few, feedOf(3))
  const there = readdirSync(site.root)

  const configured = await site.run('check', empty, few)
  const alone = await new Command(['check', empty, few]).ended

  expect(configured.code).toBe(3)
  expect(configured.stdout.split('\n')).toEqual(
    expect.arrayContaining([
      `${empty}: would be held: the feed contains no postings (no postings were found below <source>)`,
      '  0 postings, 9 B, UTF-8',
      `${few}: would be held: the feed contains 3 postings, fewer than guards.minPostings (4)`,
      '2 files: 2 would be held',
    ]),
  )
  expect(alone.code).toBe(3)
  expect(alone.stdout).toContain('2 files: 1 would be held, 1 ok\n')
  expect(readdirSync(site.root)).toEqual(there)
})

it('check compares a file with its feed, which the path or --feed names, and would not hold bytes that were uploaded or released', async () => {
  await using site = await Site.open()
  site.drop('jobs.xml', feedOf(10))
  await site.run('run', '--once')
  const file = join(site.root, 'other.xml')
  writeFileSync(file, feedOf(3))
  const held = async (...args: string[]) => {
    const { code, stdout } = await site.run('check', ...args, '--json')
    return { code, held: JSON.parse(stdout).files[0].held }
  }
  const dropped =
    'the feed dropped from 10 postings to 3 (70 %); guards.maxDropPercent is 50; compared with version 1'

  expect(await held(file)).toEqual({ code: 0, held: null })
  expect(await held(file, '--feed', 'jobs.xml')).toEqual({ code: 3, held: dropped })
  // The same bytes as on the service make no new version.
  expect(await held(join(site.inbox, 'jobs.xml'))).toEqual({ code: 0, held: null })
  site.drop('jobs.xml', feedOf(3))
  expect(await held(join(site.inbox, 'jobs.xml'))).toEqual({ code: 3, held: dropped })

  await site.run('run', '--once')
  await site.run('release', '2')
  expect(await held(join(site.inbox, 'jobs.xml'))).toEqual({ code: 0, held: null })
})

it('check names the encoding that would fit; with a rule for it, check and the daemon read the feed, and check warns', async () => {
  const feeds = [{ match: '*.xml', encoding: 'windows-1252' }]
  await using site = await Site.open()
  site.drop('jobs.xml', Buffer.from(feedOf(3), 'latin1'))
  const file = join(site.inbox, 'jobs.xml')
  const report = async () => JSON.parse((await site.run('check', file, '--json')).stdout).files[0]

  const declared = await report()
  await site.run('run', '--once')
  site.configure({ feeds })
  const named = await report()
  site.drop('jobs.xml', Buffer.from(feedOf(3), 'latin1'))
  await site.run('run', '--once')

  expect(declared).toMatchObject({ verdict: 'broken', encoding: 'UTF-8' })
  expect(declared.reason).toContain('in windows-1252 this is "ö"')
  expect(named).toMatchObject({ verdict: 'ok', encoding: 'windows-1252', postings: 3 })
  expect(named.warnings).toContainEqual(
    'the file declares the encoding "UTF-8" and is read as windows-1252, as the configuration says',
  )
  expect(site.uploads()).toMatchObject([{ state: 'uploaded', postings: 3 }])
  expect(site.show(2).encoding).toBe('windows-1252')
})

it('config check refuses an unsupported encoding with 78, and lists the supported ones', async () => {
  await using site = await Site.open({ feeds: [{ match: '*.xml', encoding: 'utf-7' }] })

  const { code, stderr } = await site.run('config', 'check')

  expect(code).toBe(78)
  expect(stderr).toMatch(/feeds\[0\]\.encoding: expected UTF-8, .+ or windows-1258/)
})

it('check warns that names of the given files look alike, and exits 0, until a rule names their feed', async () => {
  await using site = await Site.open()
  const files = ['jobs-27-11-2026.xml', 'jobs-28-11-2026.xml', 'nurses.xml'].map((name) =>
    join(site.inbox, name),
  )
  for (const file of files) writeFileSync(file, feedOf(3))

  const before = await site.run('check', ...files)
  site.configure({ feeds: [{ match: 'jobs-*.xml', name: 'jobs' }] })
  const after = await site.run('check', ...files)

  expect(before.stdout).toContain(
    'warning: the feeds jobs-27-11-2026.xml and jobs-28-11-2026.xml have names that look alike: no guard compares one feed with the other; for exports of one feed, set feeds: [{ match: "jobs-*.xml", name: "jobs" }]',
  )
  expect(before.code).toBe(0)
  expect(after.stdout).not.toContain('warning')
})
