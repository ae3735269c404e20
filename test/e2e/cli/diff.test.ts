// `diff` and `cat` for a vendor: versions that a daemon took, the feed beside the service, and files.

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { runWithin } from '../../helpers/command.ts'
import { feedOf, finished, MAIN, Site } from '../../helpers/site.ts'

const job = (id: number, title: string, city = 'Rom', campaign = 'NUR-Q1') =>
  `<job><id>${id}</id><title>${title}</title><city>${city}</city><state>IT</state><campaignid>${campaign}</campaignid></job>`
const source = (...jobs: string[]) => `<source>\n${jobs.join('\n')}\n</source>`

const OLDER = source(
  job(1, 'Nurse'),
  job(2, 'Cook', 'Ulm', 'COOK'),
  job(3, 'Driver'),
  job(4, 'Baker', 'Ulm', 'COOK'),
)
const NEWER = source(job(1, 'Nurse'), job(3, 'Pilot', 'Rom', 'FLY'), job(5, 'Clerk'))

/** taken opens a site whose feed jobs.xml has these versions, each uploaded, or held if the guards hold it. */
async function taken(...versions: string[]): Promise<Site> {
  const site = await Site.open({ guards: { maxDropPercent: 70 } })
  for (const bytes of versions) {
    site.drop('jobs.xml', bytes)
    await site.run('run', '--once')
  }
  return site
}

it('diff prints the documented JSON of two versions, with the same totals as `changes` in status; exit 2', async () => {
  await using site = await taken(OLDER, NEWER)

  const { code, stdout } = await site.run('diff', '1', '2', '--json')
  const { unchanged, ...changes } = JSON.parse(stdout).totals

  expect(code).toBe(2)
  expect(JSON.parse(stdout)).toEqual({
    schemaVersion: 1,
    old: { id: 1, path: 'jobs.xml', postings: 4 },
    new: { id: 2, path: 'jobs.xml', postings: 3 },
    added: [{ id: '5', title: 'Clerk', city: 'Rom', externalCampaignId: 'NUR-Q1' }],
    removed: [
      { id: '2', title: 'Cook', city: 'Ulm', externalCampaignId: 'COOK' },
      { id: '4', title: 'Baker', city: 'Ulm', externalCampaignId: 'COOK' },
    ],
    changed: [{ id: '3', title: 'Pilot', fields: ['externalCampaignId', 'title'] }],
    totals: { added: 1, removed: 2, changed: 1, unchanged: 1 },
    by: {
      externalCampaignId: { COOK: { added: 0, removed: 2 }, 'NUR-Q1': { added: 1, removed: 0 } },
      state: { IT: { added: 1, removed: 2 } },
      city: { Ulm: { added: 0, removed: 2 }, Rom: { added: 1, removed: 0 } },
    },
  })
  expect([unchanged, changes]).toEqual([1, site.uploads()[0]?.changes])
})

it('diff shows counts by campaign, state and city, then each posting with its sign, and what differs in it; exit 2', async () => {
  await using site = await taken(OLDER, NEWER)

  const { code, stdout } = await site.run('diff', '1', '2')

  expect(code).toBe(2)
  expect(stdout).toBe(
    `version 1 (jobs.xml): 4 postings
version 2 (jobs.xml), on the service: 3 postings

removed     2 of 4 postings
  campaign  COOK 2 (all)
  state     IT 2
  city      Ulm 2 (all)
added       1
  campaign  NUR-Q1 1
  state     IT 1
  city      Rom 1
changed     1
unchanged   1

removed:
   id  title  city  campaign
-   2  Cook   Ulm   COOK
-   4  Baker  Ulm   COOK

added:
   id  title  city  campaign
+   5  Clerk  Rom   NUR-Q1

changed:
   id  title  differs in
~   3  Pilot  externalCampaignId, title
`,
  )
})

it('diff FEED compares the newest version with what is on the service, and an id alone does the same', async () => {
  await using site = await taken(OLDER, source(job(1, 'Nurse')))
  const sides = async (...args: string[]) => {
    const { code, stdout } = await site.run('diff', ...args, '--json')
    const { new: newer, old, totals } = JSON.parse(stdout)
    return [code, old.id, newer.id, totals.removed]
  }

  expect(site.uploads()[0]).toMatchObject({ id: 2, state: 'held' })
  expect(await sides('jobs.xml')).toEqual([2, 1, 2, 3])
  expect(await sides('feed:jobs.xml')).toEqual([2, 1, 2, 3])
  expect(await sides('2')).toEqual([2, 1, 2, 3])
})

it('diff of a feed without anything new says so by exit 0, and of an upload alone shows what that upload changed', async () => {
  await using site = await taken(OLDER, NEWER)

  const feed = await site.run('diff', 'jobs.xml')
  const upload = JSON.parse((await site.run('diff', '2', '--json')).stdout)

  expect([feed.code, feed.stdout]).toEqual([0, expect.stringContaining('unchanged  3')])
  expect([upload.old.id, upload.new.id]).toEqual([1, 2])
})

it('diff FEED says that a newer version was rejected, and compares the newest version that is well-formed', async () => {
  await using site = await taken(OLDER, NEWER, '<source><job></source>')

  const { code, stderr, stdout } = await site.run('diff', 'jobs.xml')

  expect(stderr).toMatch(/^version 3 is newer and rejected: line 1, column 14: /)
  expect([code, stdout.split('\n')[1]]).toEqual([
    0,
    'version 2 (jobs.xml), on the service: 3 postings',
  ])
})

it('diff compares a packed file with a UTF-16 file, without a configuration, and a version with a file', async () => {
  await using site = await taken(OLDER)
  const [packed, utf16] = [join(site.root, 'a.xml.gz'), join(site.root, 'b.xml')]
  writeFileSync(packed, gzipSync(OLDER))
  writeFileSync(
    utf16,
    Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${NEWER}`, 'utf16le'),
  )

  const files = await runWithin(['diff', packed, utf16, '--json'])
  const beside = await site.run('diff', '1', packed)

  expect(files.code).toBe(2)
  expect(JSON.parse(files.stdout)).toMatchObject({
    old: { id: null, path: packed, postings: 4 },
    totals: { added: 1, removed: 2, changed: 1, unchanged: 1 },
  })
  expect([beside.code, beside.stdout]).toEqual([0, expect.stringContaining('unchanged  4')])
})

it('diff reads the files of a feed by its rule', async () => {
  await using site = await Site.open({
    feeds: [
      {
        match: 'acme/*.xml',
        name: 'acme',
        records: '/r/x',
        fields: { id: 'key', city: 'at/@town' },
      },
    ],
  })
  const document = (town: string) => `<r><x><key>7</key><at town="${town}"/></x></r>`
  mkdirSync(join(site.inbox, 'acme'))
  const [old, inbox] = [join(site.root, 'old.xml'), join(site.inbox, 'acme', 'new.xml')]
  writeFileSync(old, document('Rom'))
  writeFileSync(inbox, document('Ulm'))

  const { stdout } = await site.run('diff', old, inbox, '--feed', 'acme', '--json')

  expect(JSON.parse(stdout).changed).toEqual([{ id: '7', title: null, fields: ['city'] }])
})

it('diff shows 20 postings of each kind and the command for the rest; with --all or --json it shows every one', async () => {
  await using site = await taken(feedOf(1_500), feedOf(900))

  const first = await site.run('diff', '1', '2')
  const all = await site.run('diff', '1', '2', '--all')
  const json = JSON.parse((await site.run('diff', '1', '2', '--json')).stdout)

  const lines = (stdout: string) => stdout.match(/^- {2}J-/gm)?.length
  expect([lines(first.stdout), lines(all.stdout), json.removed.length]).toEqual([20, 600, 600])
  expect(first.stdout).toContain('removed, the first 20 of 600:')
  expect(first.stdout).toContain(
    `… and 580 more: feedsyncd diff 1 2 --all --config ${site.configFile}`,
  )
})

it('diff and cat say which copies are kept if the copy of a version is not; exit 1', async () => {
  await using site = await Site.open({ upload: { keepVersions: 2 } })
  for (const n of [5, 6, 7]) {
    site.drop('jobs.xml', feedOf(n))
    await site.run('run', '--once')
  }

  const diff = await site.run('diff', '1', '3')
  const cat = await site.run('cat', '1')

  for (const { code, stderr } of [diff, cat]) {
    expect(code).toBe(1)
    expect(stderr).toContain('the bytes of version 1 are not kept (it is uploaded)')
    expect(stderr).toContain('kept of jobs.xml: 3, 2;')
  }
})

it('diff of a single file asks for a second one; exit 64', async () => {
  await using site = await Site.open()
  const file = join(site.root, 'a.xml')
  writeFileSync(file, OLDER)

  const { code, stderr } = await site.run('diff', file)

  expect([code, stderr]).toEqual([64, expect.stringContaining('name a second file')])
})

it('diff says which file cannot be read or is not well-formed, and where; exit 1', async () => {
  await using site = await Site.open()
  const [good, bad] = [join(site.root, 'good.xml'), join(site.root, 'bad.xml')]
  writeFileSync(good, OLDER)
  writeFileSync(bad, '<source>\n<job>&nbsp;</job></source>')

  const broken = await site.run('diff', good, bad)
  const missing = await site.run('diff', 'missing.xml', good)

  expect([broken.code, broken.stderr]).toEqual([
    1,
    expect.stringContaining(`${bad} cannot be compared: broken: line 2, column 6: `),
  ])
  expect([missing.code, missing.stderr]).toEqual([
    1,
    expect.stringContaining('missing.xml cannot be compared: it does not exist (ENOENT)'),
  ])
})

it('diff of a feed of which nothing is on the service says so; exit 1', async () => {
  await using site = await taken('<source/>')

  const { code, stderr } = await site.run('diff', 'jobs.xml')

  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('no earlier version of jobs.xml is on the service to compare with'),
  ])
})

it('diff FEED compares with the version that a guard compared with, while nothing is on the service yet', async () => {
  await using site = await Site.open()
  site.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503, retryAfter: '600' })
  for (const bytes of [feedOf(10), feedOf(2)]) {
    site.drop('jobs.xml', bytes)
    await site.run('run', '--once')
  }

  const { code, stdout } = await site.run('diff', 'jobs.xml')

  expect([code, stdout]).toEqual([2, expect.stringContaining('removed     8 of 10 postings')])
})

it('diff says that a kept copy was damaged; exit 1', async () => {
  await using site = await taken(OLDER, NEWER)
  const { spool } = copyOf(site, 2)
  writeFileSync(spool, NEWER.replace('Clerk', 'Crook'))

  const { code, stderr } = await site.run('diff', '1', '2')

  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('version 2 cannot be compared: its bytes in the spool are damaged'),
  ])
})

it('cat writes the kept copy byte for byte, of a packed feed the XML, and ends quietly when its reader does', async () => {
  const large = feedOf(20_000)
  await using site = await taken(large)
  site.drop('packed.xml.gz', gzipSync(OLDER))
  await site.run('run', '--once')

  const whole = execFileSync(process.execPath, [MAIN, 'cat', '1', '--config', site.configFile], {
    maxBuffer: 1e8,
  })
  const packed = await finished(site.spawn('cat', '2'))
  const words =
    `'${process.execPath}' '${MAIN}' cat 1 --config '${site.configFile}' | head -c 5; ` +
    'echo " $PIPESTATUS"'
  const cut = execFileSync('bash', ['-c', `${words} 2>&1`], { encoding: 'utf8' })

  expect(whole.equals(Buffer.from(large))).toBe(true)
  expect(packed.stdout).toBe(OLDER)
  expect(cut).toBe('<?xml 0\n')
})

/** copyOf returns the path of the copy of a version in the spool. */
function copyOf(site: Site, id: number): { spool: string } {
  const folder = join(site.root, 'state', 'spool')
  const [name = ''] = execFileSync('ls', [folder], { encoding: 'utf8' })
    .split('\n')
    .filter((one) => one.startsWith(`${id}-`) && one.endsWith('.xml'))
  return { spool: join(folder, name) }
}
