// feedsyncd finds out what a held version changes when a guard holds it. Commands, the page and alerts then say it.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

const job = (id: number, city: string, campaign: string) =>
  `<job><id>${id}</id><title>Job ${id}</title><city>${city}</city><state>IT</state><campaignid>${campaign}</campaignid></job>`

/** WHOLE has 12 postings of two campaigns in three cities; two cities belong to NUR-Q1 alone. */
const jobs = Array.from({ length: 12 }, (_, n) =>
  n < 9 ? job(n, ['Rom', 'Ulm', 'Bari'][n % 3] ?? '', 'NUR-Q1') : job(n, 'Rom', 'COOK'),
)
const WHOLE = `<source>${jobs.join('\n')}</source>`
/** Without the nurses; one posting of theirs is left in Rom. */
const CUT = `<source>${[jobs[0], ...jobs.slice(9)].join('\n').replace('Job 9', 'Chef')}</source>`

const LINE =
  'since version 1, removed: 8 of 12 postings, 8 of campaign NUR-Q1, all of 2 cities; changed: 1'

async function held(config: Record<string, unknown> = {}): Promise<Site> {
  const site = await Site.open(config)
  for (const bytes of [WHOLE, CUT]) {
    site.drop('jobs.xml', bytes)
    await site.run('run', '--once')
  }
  return site
}

it('status, show ID and show FEED say which postings a held version removes, and suggest diff first', async () => {
  await using site = await held()
  const diff = `feedsyncd diff jobs.xml --config ${site.configFile}`

  const status = (await site.run('status')).stdout
  const { problems } = JSON.parse((await site.run('status', '--json')).stdout)
  const version = (await site.run('show', '2')).stdout
  const feed = (await site.run('show', 'jobs.xml')).stdout

  expect(
    problems[0].next.map(({ command, says }: Record<string, string>) => says ?? command),
  ).toEqual([
    LINE,
    expect.stringMatching(/^If this is right, release it/),
    diff,
    expect.stringMatching(/^feedsyncd show 2 /),
    expect.stringMatching(/^feedsyncd release 2 /),
    expect.stringMatching(/^feedsyncd discard 2 /),
  ])
  for (const said of [status, version, feed]) expect(said).toContain(LINE)
  expect(version).toContain(`compared with version 1:
removed     8 of 12 postings
  campaign  NUR-Q1 8
  state     IT 8
  city      Bari 3 (all), Ulm 3 (all), Rom 2
added       0
changed     1
unchanged   3

removed:
   id  title  city  campaign
-   1  Job 1  Ulm   NUR-Q1
`)
  expect(version).toContain('~   9  Chef   title')
})

it('show --json has the summary and the first ten postings of each kind, also after the release', async () => {
  await using site = await held()
  const difference = async () =>
    JSON.parse((await site.run('show', '2', '--json')).stdout).difference

  const before = await difference()
  await site.run('release', '2')
  const after = await difference()

  expect(before).toMatchObject({
    older: 1,
    summary: {
      totals: { added: 0, removed: 8, changed: 1, unchanged: 3 },
      postings: { older: 12, newer: 4 },
      by: { city: { count: 3, gone: 2 } },
      named: { removed: { length: 8 }, changed: [{ id: '9', title: 'Chef', fields: ['title'] }] },
    },
  })
  expect(after).toEqual(before)
})

it('a version that the guards hold when its form has come says what it changes, too', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  const daemon = await site.daemon()
  site.drop('jobs.xml', feedOf(10))
  await site.until('jobs.xml', 'uploaded')
  const down = { kind: 'answer', status: 503, retryAfter: '600', times: 1 } as const
  site.sandbox.faults.add({ at: 'service', ...down })
  site.drop('jobs.xml', feedOf(6))
  await site.untilWaiting('jobs.xml')
  await daemon.stop()
  site.configure({ guards: { maxDropPercent: 30 } })
  await site.daemon()
  await site.run('retry', '2')
  await site.until('jobs.xml', 'held')

  expect(site.show(2).difference).toMatchObject({
    older: 1,
    summary: { totals: { added: 0, removed: 4, changed: 0, unchanged: 6 } },
  })
})

it('the page of a held version says how many postings would vanish, and what the version changes', async () => {
  await using site = await Site.open({ http: { listen: '127.0.0.1:0' } })
  const daemon = await site.daemon()
  const [, address = ''] = /"address":"(http:[^"]+)"/.exec(daemon.output) ?? []
  site.drop('jobs.xml', WHOLE)
  await site.until('jobs.xml', 'uploaded')
  site.drop('jobs.xml', CUT)
  await site.until('jobs.xml', 'held')

  const page = await (await fetch(new URL('/version?id=2', address))).text()

  expect(page).toContain('Of 12 postings, 8 would vanish')
  expect(page).toContain(LINE.replace('since', 'Since'))
})

it('an alert about a held version says what the version changes', async () => {
  await using site = await Site.open()
  const file = join(site.root, 'alert')
  const script = "require('fs').writeFileSync(process.argv[1], process.env.FEEDSYNCD_ALERT_TEXT)"
  const exec = [process.execPath, '-e', script, file]
  site.configure({ alerts: [{ on: ['held'], exec }] })
  await site.daemon()
  site.drop('jobs.xml', WHOLE)
  await site.until('jobs.xml', 'uploaded')
  site.drop('jobs.xml', CUT)

  await eventually(() => expect(readFileSync(file, 'utf8')).toContain(LINE))
})

it('a first version that is held says that there is no earlier copy, and suggests no diff', async () => {
  await using site = await Site.open()
  site.drop('jobs.xml', '<source/>')
  await site.run('run', '--once')

  const { stdout } = await site.run('show', '1')

  expect(stdout).toContain('there is no earlier copy to compare it with')
  expect(stdout).not.toContain('feedsyncd diff')
})

it('a version that cannot be compared, because the earlier copy is damaged, is held all the same', async () => {
  await using site = await Site.open()
  site.drop('jobs.xml', WHOLE)
  await site.run('run', '--once')
  const spool = join(site.root, 'state', 'spool')
  const [copy = ''] = execFileSync('ls', [spool], { encoding: 'utf8' }).split('\n')
  writeFileSync(join(spool, copy), '<source>')
  site.drop('jobs.xml', CUT)
  await site.run('run', '--once')

  const { stdout } = await site.run('show', '2')

  expect(site.uploads()[0]?.state).toBe('held')
  expect(stdout).toContain('it could not be compared with version 1')
})
