// `show` for every kind of path and for feeds, and what `show` and `status` print about versions that are owed, with
// and without a real daemon.

import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { pathReportOf, statusOf, trail } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

describe('show PATH', () => {
  it('names the rule that leaves a path out, tells a receipt, and says what to do with an archive', async () => {
    await using site = await Site.open({ inbox: { exclude: ['old/**'] } })

    const names = ['old/jobs.xml', 'jobs.xml.part', '.x/jobs.xml', 'jobs.csv', 'jobs.zip']
    for (const name of [...names, 'jobs.xml.receipt.json']) site.drop(name, feedOf(1))
    const because = async (path: string) => (await pathReportOf(site, path)).because

    expect(await because('old/jobs.xml')).toBe('inbox.exclude leaves it out (old/**)')
    expect(await because('jobs.xml.part')).toBe('its name marks it as unfinished (*.part)')
    expect(await because('.x/jobs.xml')).toBe('its name marks it as unfinished (.*/**)')
    expect(await because('jobs.csv')).toBe(
      'no pattern of inbox.include matches it (**/*.xml, **/*.xml.gz)',
    )
    expect((await pathReportOf(site, 'jobs.zip')).next).toBe('unpack it, and drop the XML')
    expect(await because('jobs.xml.receipt.json')).toBe('it is a receipt that feedsyncd wrote')
  })

  it('distinguishes an unknown name, a file that was not detected, and a path outside the inbox', async () => {
    await using site = await Site.open()
    site.drop('new.xml', feedOf(2))
    const outside = [site.inbox, '/etc/passwd', '../nosuch/feedsyncd.yaml.xml']

    const missing = await site.run('show', 'missing.xml')
    const unlisted = await pathReportOf(site, 'new.xml')
    const answers = await Promise.all(outside.map((path) => site.run('show', path)))

    expect([missing.code, missing.stderr]).toEqual([
      64,
      `error: no feed or file is named "missing.xml"\ntry: feedsyncd status --config ${site.configFile}\n`,
    ])
    expect(unlisted).toMatchObject({ because: 'no daemon is running', upload: null })
    expect(answers.map(({ code, stdout }) => [code, stdout.replace(/.*?: /, '')])).toEqual([
      [0, 'it is the inbox\nnext: name a file in it\n'],
      [0, expect.stringMatching(/^it is outside the inbox/)],
      [0, expect.stringMatching(/^it is outside the inbox/)],
    ])
  })

  it('says of a skipped path what it is, and what to do', async () => {
    await using site = await Site.open()
    execFileSync('mkfifo', [join(site.inbox, 'pipe.xml')])

    expect(await pathReportOf(site, 'pipe.xml')).toMatchObject({
      because: 'it is not a regular file (fifo)',
      next: 'put a regular file in its place',
    })
  })

  it('says of a link, and of a path below one, that the link is not followed, unless inbox.exclude leaves it out; says what a directory is', async () => {
    await using site = await Site.open({ inbox: { exclude: ['old/**'] } })
    symlinkSync('/etc', join(site.inbox, 'etc'))
    symlinkSync(site.root, join(site.inbox, 'old'))
    mkdirSync(join(site.inbox, 'deep'))
    symlinkSync('/etc', join(site.inbox, 'deep/etc'))
    const link = { next: 'put the file or directory itself in its place' }
    const notFollowed = 'it is a symbolic link, which is not followed'

    expect(await pathReportOf(site, 'etc')).toMatchObject({ because: notFollowed, ...link })
    expect(await pathReportOf(site, 'etc/passwd')).toMatchObject({
      ...{ because: `it is below etc: ${notFollowed}`, ...link },
    })
    expect(await pathReportOf(site, 'deep/etc/ssl/jobs.xml')).toMatchObject({
      ...{ because: `it is below deep/etc: ${notFollowed}`, ...link },
    })
    expect((await pathReportOf(site, 'deep')).because).toBe('it is a directory')
    expect((await pathReportOf(site, 'old/jobs.xml')).because).toMatch(
      /^inbox.exclude leaves it out/,
    )
  })

  it('finds a name that is not UTF-8 by the form that status shows, and a file that really has such a name by its own', async () => {
    await using site = await Site.open()
    const bytes = (name: string) => Buffer.from(`${site.inbox}/${name}`, 'latin1')
    writeFileSync(bytes('caf\xE9.xml'), feedOf(2))
    site.drop('caf%E9.xml', feedOf(3))
    await site.run('run', '--once')
    const real = await pathReportOf(site, 'caf%E9.xml')
    unlinkSync(join(site.inbox, 'caf%E9.xml'))

    const odd = await site.run('show', './caf%E9.xml')

    expect(real.because).toBe('its version 1 is uploaded')
    expect(odd.stdout).toBe(
      './caf%E9.xml: it has a name that is not valid UTF-8\nnext: rename it; its odd bytes are shown as %XX\n',
    )
  })

  it('says when a settling feed is read, and since when an incomplete one is so and when it is rejected', async () => {
    await using site = await Site.open({ inbox: { quietPeriod: '10m' } })
    const daemon = await site.daemon()
    writeFileSync(join(site.inbox, 'jobs.xml'), '<source>')
    await site.until('jobs.xml', 'settling')
    const settling = await pathReportOf(site, 'jobs.xml')

    await daemon.stop()
    site.configure({ inbox: { incompleteAfter: '2h' } })
    await site.daemon()
    await site.until('jobs.xml', 'incomplete')
    const incomplete = await site.run('show', 'path:jobs.xml')
    const json = JSON.parse((await site.run('show', 'path:jobs.xml', '--json')).stdout)

    expect(settling.because).toMatch(
      /^its version 1 is settling: it last changed .* ago, and it is read after it has not changed for 10m \(inbox\.quietPeriod\)$/,
    )
    expect(incomplete.stdout).toMatch(/^jobs\.xml: its version 1 is incomplete: line 1, column 9: /)
    expect(incomplete.stdout).toMatch(
      /^ {2}wait for its writer.*\n {2}it is rejected at [-\d :]+ UTC unless it grows$/m,
    )
    expect(Date.parse(json.upload.incompleteSince)).toBeGreaterThan(
      Date.parse(json.upload.detectedAt),
    )
  })

  it('explains a path that is uploaded, a copy, superseded, rejected or gone', async () => {
    const feeds = [{ match: 'acme/*.xml', name: 'acme' }]
    await using site = await Site.open({ feeds }, { clock: quickClock() })
    await site.daemon()
    const because = async (path: string) => (await pathReportOf(site, path)).because

    site.drop('acme/a.xml', feedOf(4))
    const first = await site.until('acme', 'uploaded')
    site.drop('acme/copy.xml', feedOf(4))
    await eventually(() => expect(trail(site, first.id)).toContain('seen'))
    const uploaded = await because('acme/a.xml')
    const copy = await because('acme/copy.xml')
    site.drop('acme/held.xml', '<source/>')
    const held = await site.until('acme', 'held')
    site.drop('acme/b.xml', feedOf(5))
    const last = await site.until('acme', 'uploaded')
    const superseded = await because('acme/held.xml')
    site.drop('acme/bad.xml', '<a></b>')
    await site.until('acme', 'rejected')
    const rejected = await pathReportOf(site, 'acme/bad.xml')
    unlinkSync(join(site.inbox, 'acme/a.xml'))

    expect(uploaded).toBe(`its version ${first.id} is uploaded`)
    expect(copy).toBe(
      `it has the same bytes as version ${first.id} (acme/a.xml), which is uploaded`,
    )
    expect(superseded).toBe(
      `its version ${held.id} is superseded: version ${last.id} took the place of version ${held.id}`,
    )
    expect(rejected.because).toMatch(/^its version \d+ is rejected: line 1, column \d+: /)
    expect(await because('acme/a.xml')).toBe(
      `the folder has no file of this name now; its version ${first.id} is uploaded`,
    )
  })

  it('says that a file changed after its upload, as show FEED does, and accepts absolute paths', async () => {
    await using site = await Site.open()
    const daemon = await site.daemonProcess()
    site.drop('jobs.xml', feedOf(4))
    await site.until('jobs.xml', 'uploaded')
    daemon.kill('SIGSTOP')
    site.drop('jobs.xml', feedOf(5))

    const { because } = await pathReportOf(site, 'jobs.xml')
    const { stdout } = await site.run('show', join(site.inbox, 'jobs.xml'))
    const feed = await site.run('show', 'jobs.xml')

    expect(because).toMatch(/^its version 1 is uploaded; it last changed .* ago: it is read after/)
    expect(stdout).toMatch(/^jobs\.xml: its version 1 is uploaded/)
    expect(feed.stdout).toMatch(/\njobs\.xml: its version 1 is uploaded; it last changed /)
    daemon.kill('SIGCONT')
    await site.until('jobs.xml', 'uploaded')
  })
})

describe('show FEED', () => {
  it('and status name the version on the service; show FEED then names what waits and every version, in text and JSON', async () => {
    const feeds = [{ match: 'acme/*.xml', name: 'acme' }]
    await using site = await Site.open({ feeds }, { clock: quickClock() })
    await site.daemon()
    site.drop('acme/jobs.xml', feedOf(4))
    const first = await site.until('acme', 'uploaded')
    const { stdout: sent } = await site.run('show', 'acme')
    site.drop('acme/jobs.xml', '<source/>')
    const { id } = await site.until('acme', 'held')

    const { stdout } = await site.run('show', 'acme')
    const json = JSON.parse((await site.run('show', 'feed:acme', '--json')).stdout)
    const status = await site.run('status')
    const statusJson = JSON.parse((await site.run('status', '--json')).stdout)

    expect(sent).toMatch(
      /^on the service: version 1, 4 postings, since [-\d :]+ UTC\nacme\/jobs\.xml: its version 1 is uploaded\n\nid /,
    )
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^on the service: version 1, 4 postings, since [-\d :]+ UTC$/),
      expect.stringMatching(/^acme\/jobs\.xml: its version 2 is held: /),
      '  since version 1, removed: all 4 postings, all 2 of campaign A, all 2 of campaign B',
      expect.stringMatching(/^ {2}If this is right, release it; /),
      ...['diff acme', `show ${id}`, `release ${id}`, `discard ${id}`].map(
        (words) => `    feedsyncd ${words} --config ${site.configFile}`,
      ),
      '',
      expect.stringMatching(/^id +state +postings +size +attempts +when$/),
      expect.stringMatching(/^ *2 +held +0 /),
      expect.stringMatching(/^ *1 +uploaded +4 /),
      '',
    ])
    const onService = { id: first.id, postings: 4, uploadedAt: first.uploadedAt }
    expect(status.stdout).toMatch(
      /\n +2 +acme +held .+\n {4}on the service: version 1, 4 postings, since [-\d :]+ UTC\n/,
    )
    expect(statusJson.uploads).toMatchObject([{ id, state: 'held', onService }])
    expect(json).toMatchObject({
      schemaVersion: 1,
      feed: 'acme',
      onService,
      uploads: [
        { id, state: 'held' },
        { id: first.id, state: 'uploaded' },
      ],
    })
  })

  it('and status say that the file of an uploaded feed has left the folder', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    await site.daemon()
    site.drop('jobs.xml', feedOf(4))
    await site.until('jobs.xml', 'uploaded')
    unlinkSync(join(site.inbox, 'jobs.xml'))
    await eventually(() => expect(site.uploads({ feed: 'jobs.xml' })[0]?.leftAt).not.toBeNull())

    const shown = await site.run('show', 'jobs.xml')
    const status = await site.run('status')

    expect(shown.stdout).toContain('the folder has no file of this name now')
    expect(status.stdout).toMatch(/ jobs\.xml +uploaded .+\n {4}its file has left the folder\n/)
  })

  it('says that nothing is on the service if another account received the feed', async () => {
    await using site = await Site.open()
    site.drop('jobs.xml', feedOf(4))
    await site.run('run', '--once')
    site.configure({ service: { account: '456' } })
    await site.run('run', '--once')

    const { stdout } = await site.run('show', 'jobs.xml')

    expect(stdout).toMatch(/^on the service: no version of this feed\n/)
  })

  it('reads a name as a feed before a path, and digits as an id, unless feed: or path: says which; suggests feed: for digits', async () => {
    const feeds = [{ match: 'year.xml', name: '2026' }]
    await using site = await Site.open({ feeds }, { clock: quickClock() })
    await site.daemon()
    site.drop('jobs.xml', '<a></b>')
    await site.until('jobs.xml', 'rejected')
    site.drop('year.xml', feedOf(2))
    await site.until('2026', 'uploaded')

    const first = async (...words: string[]) =>
      (await site.run('show', ...words)).stdout.split('\n')[0]

    expect(await first('1')).toBe('feed      jobs.xml')
    expect(await first('jobs.xml')).toBe('on the service: no version of this feed')
    expect(await first('path:jobs.xml')).toMatch(/^jobs\.xml: its version 1 is rejected: /)
    expect(await first('feed:2026')).toMatch(/^on the service: version 2, 2 postings/)
    for (const none of ['2026', 'feed:year.xml', 'path:2026'])
      expect((await site.run('show', none)).code).toBe(64)
    expect((await site.run('show', '2026')).stderr).toBe(
      `error: there is no version 2026; the newest is 2\ntry: feedsyncd show feed:2026 --config ${site.configFile}\n`,
    )
  })
})

it('status names the next action for everything that is owed', async () => {
  await using site = await Site.open()
  await site.daemon()
  site.sandbox.faults.add({
    ...({ at: 'storage', kind: 'answer', status: 503, retryAfter: '600', times: 1 } as const),
  })
  mkdirSync(join(site.inbox, 'deep'))
  site.drop('queued.xml', feedOf(4))
  site.drop('held.xml', '<source/>')
  site.drop('deep/rejected.xml', '<a></b>')
  writeFileSync(join(site.inbox, 'incomplete.xml'), '<source>')
  await eventually(() => {
    const states = statusOf(site).uploads.map(({ state, attempts }) => `${state} ${attempts}`)
    expect(states.sort()).toEqual(['held 0', 'incomplete 0', 'queued 1', 'rejected 0'])
  })

  const { stdout } = await site.run('status')

  const next = (feed: string) => {
    const [, block = 'nothing'] =
      new RegExp(`^\\w+: ${feed} [^\\n]*\\n((?: {2}.*\\n)+)`, 'm').exec(stdout) ?? []
    return block
  }
  expect(next('queued.xml')).toMatch(/next automatic attempt in \d+m/)
  expect(next('held.xml')).toMatch(/If this is right, release it/)
  expect(next('held.xml')).toMatch(
    / {4}feedsyncd show \d+ .+\n {4}feedsyncd release \d+ .+\n {4}feedsyncd discard \d+ /,
  )
  expect(next('deep/rejected.xml')).toMatch(/correct the export and drop the file again/)
  expect(next('incomplete.xml')).toMatch(/wait for its writer[\s\S]*it is rejected at [-\d :]+ UTC/)
})

it('show names the person who decided about a version: the user, or the caller of sudo', async () => {
  await using site = await Site.open({ guards: { minPostings: 2 } })
  site.drop('jobs.xml', feedOf(1))
  await site.run('run', '--once')

  site.env = { USER: 'root', SUDO_USER: 'maria' }
  await site.run('release', '1')
  site.env = { USER: 'paul', SUDO_USER: '' }
  await site.run('discard', '1')

  const { stdout } = await site.run('show', '1')
  expect(stdout).toMatch(/held +queued +released by maria$/m)
  expect(stdout).toMatch(/queued +discarded +discarded by paul$/m)
})
