// What commands do for a person at a terminal: they show what changes, ask, wait for the result and print it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runWithin } from '../../helpers/command.ts'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, finished, Site } from '../../helpers/site.ts'

/** asked runs a command at a terminal at which the person gives this answer. */
function asked(site: Site, answer: boolean, ...args: string[]) {
  const questions: string[] = []
  const ask = async (question: string) => {
    questions.push(question)
    return answer
  }
  const env = { ...process.env, ...site.runtime }
  const words = [...args, '--config', site.configFile]
  return runWithin(words, { clock: site.clock, env, ask }).then((ran) => ({ ...ran, questions }))
}

it('release shows what changes, asks, waits for the result and prints it; without a yes nothing changes', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  await site.daemon()
  site.drop('jobs.xml', feedOf(1200))
  await site.until('jobs.xml', 'uploaded')
  site.drop('jobs.xml', feedOf(2))
  const { id } = await site.until('jobs.xml', 'held')

  const no = await asked(site, false, 'release', String(id))
  const still = site.uploads()[0]?.state
  const yes = await asked(site, true, 'release', String(id))

  expect(no).toMatchObject({ code: 1, questions: ['release it? [y/N] '] })
  expect(no.stderr.split('\n')).toEqual([
    'version 2 of jobs.xml: 2 postings',
    expect.stringMatching(/^ {2}the feed dropped from 1,200 postings to 2/),
    expect.stringMatching(/^on the service: version 1, 1,200 postings, since /),
    'removed     1,198 of 1,200 postings',
    '  campaign  A 599, B 599',
    '  city      Köln 1,198',
    'added       0',
    'changed     0',
    'unchanged   2',
    ...['', 'nothing was changed', ''],
  ])
  expect(still).toBe('held')
  expect(yes.code).toBe(0)
  expect(yes.stdout).toMatch(
    /^version 2 of jobs\.xml is queued\nversion 2 of jobs\.xml is uploaded/,
  )
})

it('restore shows what the service gets and loses by it, also if another version was uploaded since', async () => {
  await using site = await Site.open()
  for (const bytes of [feedOf(3), feedOf(4), feedOf(5, 'Cook')]) {
    site.drop('jobs.xml', bytes)
    await site.run('run', '--once')
  }

  const { stderr } = await asked(site, false, 'restore', '2')

  expect(stderr.split('\n').slice(1, 8)).toEqual([
    expect.stringMatching(/^on the service: version 3, 5 postings, since /),
    'removed     1 of 5 postings',
    '  campaign  B 1',
    '  city      Köln 1',
    ...['added       0', 'changed     4', 'unchanged   0'],
  ])
})

it('release of a first version says that there is nothing to compare it with', async () => {
  await using site = await Site.open({ guards: { minPostings: 5 } })
  site.drop('jobs.xml', feedOf(3))
  await site.run('run', '--once')

  const { stderr } = await asked(site, false, 'release', '1')

  expect(stderr).toContain('no earlier copy was kept to compare it with')
})

it('several ids are decided together or not at all, and the JSON has all of them', async () => {
  await using site = await Site.open({ guards: { minPostings: 2 } })
  for (const name of ['a.xml', 'b.xml', 'c.xml']) site.drop(name, feedOf(1, name))
  await site.run('run', '--once')
  const ids = site.uploads().map((upload) => String(upload.id))

  const wrong = await site.run('discard', ...ids, '99')
  const unchanged = site.uploads().map(({ state }) => state)
  const discarded = await site.run('discard', ...ids)
  const json = JSON.parse((await site.run('restore', ...ids.slice(0, 2), '--json')).stdout)

  expect(wrong.code).toBe(64)
  expect(unchanged).toEqual(['held', 'held', 'held'])
  expect(discarded.stdout.match(/ is discarded$/gm)).toHaveLength(3)
  expect(json.uploads).toHaveLength(2)
})

it('release without a daemon, or during a pause, says why nothing is sent and ends with 75', async () => {
  await using site = await Site.open({ guards: { minPostings: 2 } })
  for (const name of ['a.xml', 'b.xml']) site.drop(name, feedOf(1, name))
  await site.run('run', '--once')
  const [b, a] = site.uploads()

  const down = await site.run('release', String(a?.id))
  await site.daemon()
  await site.run('pause')
  const paused = await site.run('release', String(b?.id))

  expect(down).toMatchObject({ code: 75, stderr: expect.stringMatching(/^no daemon is running/) })
  expect(paused).toMatchObject({ code: 75, stderr: expect.stringMatching(/^paused by \S+: /) })
})

it('a trial logs to its own file, which logs reads, also --since an age; status names the command that began the trial', async () => {
  await using site = await Site.open()
  const directory = join(site.root, 'trial')
  // In a process of its own: status must see that it has ended.
  const trial = site.spawn('demo', '--stay', '--dir', directory)
  await site.logged(trial, 'drop XML feeds')
  await eventually(() =>
    expect(readFileSync(join(directory, 'feedsyncd.log'), 'utf8')).toContain('daemon started'),
  )
  trial.kill('SIGINT')
  await finished(trial)
  const own = ['--config', join(directory, 'feedsyncd.yaml')]
  const run = (...args: string[]) =>
    runWithin([...args, ...own], { env: { PATH: process.env.PATH ?? '' } })

  const logs = await run('logs')
  const nothing = await run('logs', '--since', '0s')
  const status = await run('status')

  expect(logs.stdout).toMatch(/^\d{4}-\S+ info {2}daemon started/m)
  expect(nothing.stderr).toMatch(/^the log has no line since 0s\n/)
  expect(status.stdout).toContain(`\n    feedsyncd demo --stay --dir ${directory}\n`)
})

it('config check warns of a page that is open to other hosts and still exits 0, and status has the problem', async () => {
  await using site = await Site.open({ http: { listen: '0.0.0.0:9464' } })

  const text = await site.run('config', 'check')
  const json = JSON.parse((await site.run('config', 'check', '--json')).stdout)

  expect(text.code).toBe(0)
  expect(text.stderr).toMatch(/^warning: http\.listen: 0\.0\.0\.0:9464 is open to other hosts/)
  expect(json.warnings).toHaveLength(1)
  expect(statusOf(site).problems.map(({ code }) => code)).toContain('endpoint-exposed')
})
