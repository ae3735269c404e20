// `explain PATH` for every kind of path, and the answers of `show` and `status` about versions that
// are owed, with a real daemon and without one.

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { explained, statusOf, trail } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

describe('explain', () => {
  it('names the rule that leaves a path out', async () => {
    await using site = await Site.open({ inbox: { exclude: ['old/**'] } })

    const because = async (path: string) => (await explained(site, path)).because

    expect(await because('old/jobs.xml')).toBe('inbox.exclude leaves it out (old/**)')
    expect(await because('jobs.xml.part')).toBe('its name marks it as unfinished (*.part)')
    expect(await because('.x/jobs.xml')).toBe('its name marks it as unfinished (.*/**)')
    expect(await because('jobs.csv')).toBe('no pattern of inbox.include matches it (**/*.xml)')
    expect(await because('jobs.xml.receipt.json')).toBe('it is a receipt that feedsyncd wrote')
  })

  it('tells what is not there from what is not detected, and what lies outside', async () => {
    await using site = await Site.open()
    site.drop('new.xml', feedOf(2))

    const missing = await explained(site, 'missing.xml')
    const unlisted = await explained(site, 'new.xml')
    const outside = await explained(site, join(site.root, 'feedsyncd.yaml.xml'))
    const above = await site.run('explain', '../nosuch/feedsyncd.yaml.xml')

    expect(missing.because).toBe('there is no such file, and none was seen before')
    expect(unlisted).toMatchObject({ because: 'no daemon is running', upload: null })
    expect(outside.because).toMatch(/^it lies outside the inbox/)
    expect(above.stdout).toContain(': it lies outside the inbox')
  })

  it('says of what is refused what it is', async () => {
    await using site = await Site.open()
    execFileSync('mkfifo', [join(site.inbox, 'pipe.xml')])

    expect(await explained(site, 'pipe.xml')).toMatchObject({
      because: 'is not a regular file (fifo)',
      next: 'put a regular file in its place',
    })
  })

  it('says of a link that it is not followed, and of a path below one that this is the link', async () => {
    await using site = await Site.open({ inbox: { exclude: ['old/**'] } })
    symlinkSync('/etc', join(site.inbox, 'etc'))
    symlinkSync(site.root, join(site.inbox, 'old'))
    mkdirSync(join(site.inbox, 'deep'))
    symlinkSync('/etc', join(site.inbox, 'deep/etc'))
    const link = { next: 'put the file or directory itself in its place' }
    const notFollowed = 'is a symbolic link, which is not followed'

    expect(await explained(site, 'etc')).toMatchObject({ because: notFollowed, ...link })
    expect(await explained(site, 'etc/passwd')).toMatchObject({
      ...{ because: `etc ${notFollowed}`, ...link },
    })
    expect(await explained(site, 'deep/etc/ssl/jobs.xml')).toMatchObject({
      ...{ because: `deep/etc ${notFollowed}`, ...link },
    })
    expect((await explained(site, 'deep')).because).toBe('is a directory')
    expect((await explained(site, 'old/jobs.xml')).because).toMatch(/^inbox.exclude leaves it out/)
  })

  it('finds a name that is not UTF-8 by what status shows of it', async () => {
    await using site = await Site.open({ inbox: { receipts: true } })
    const bytes = (name: string) => Buffer.from(`${site.inbox}/${name}`, 'latin1')
    writeFileSync(bytes('caf\xE9.xml'), feedOf(2))
    site.drop('caf%E9.xml', feedOf(3))
    await site.run('run', '--once')
    const real = await explained(site, 'caf%E9.xml')
    unlinkSync(join(site.inbox, 'caf%E9.xml'))

    const odd = await site.run('explain', './caf%E9.xml')
    const receipt = (name: string) =>
      JSON.parse(readFileSync(bytes(`${name}.receipt.json`), 'utf8'))

    expect(real.because).toBe('it is uploaded as version 1')
    expect(odd.stdout).toMatch(/it is rejected as version \d: has a name that is not valid UTF-8\n/)
    expect(odd.stdout).toContain('next: rename it')
    expect(receipt('caf%E9.xml')).toMatchObject({ file: 'caf%E9.xml', state: 'uploaded' })
    expect(receipt('caf\xE9.xml')).toMatchObject({ file: './caf%E9.xml', state: 'rejected' })
  })

  it('says until when a feed settles, and until when an incomplete one may grow', async () => {
    await using site = await Site.open({ inbox: { quietPeriod: '10m' } })
    const daemon = await site.daemon()
    writeFileSync(join(site.inbox, 'jobs.xml'), '<source>')
    await site.until('jobs.xml', 'settling')
    const settling = await explained(site, 'jobs.xml')

    await daemon.stop()
    site.configure({ inbox: { incompleteAfter: '2h' } })
    await site.daemon()
    await site.until('jobs.xml', 'incomplete')
    const incomplete = await site.run('explain', 'jobs.xml')
    const json = JSON.parse((await site.run('explain', 'jobs.xml', '--json')).stdout)

    expect(settling.because).toMatch(
      /^it is settling as version 1: it last changed .* ago, and it is read once it was left alone for 10m \(inbox\.quietPeriod\)$/,
    )
    expect(incomplete.stdout).toMatch(
      /^jobs\.xml: it is incomplete as version 1: line 1, column 9: /,
    )
    expect(incomplete.stdout).toMatch(
      /^next: wait for its writer.*; it last grew .* and is rejected after inbox\.incompleteAfter$/m,
    )
    expect(Date.parse(json.upload.incompleteSince)).toBeGreaterThan(
      Date.parse(json.upload.detectedAt),
    )
  })

  it('follows a path through uploaded, seen elsewhere, superseded, rejected and gone', async () => {
    const feeds = [{ match: 'acme/*.xml', name: 'acme' }]
    await using site = await Site.open({ feeds }, { clock: quickClock() })
    await site.daemon()
    const because = async (path: string) => (await explained(site, path)).because

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
    const rejected = await explained(site, 'acme/bad.xml')
    unlinkSync(join(site.inbox, 'acme/a.xml'))

    expect(uploaded).toBe(`it is uploaded as version ${first.id}`)
    expect(copy).toBe(
      `it holds the same bytes as version ${first.id}, found at acme/a.xml, which is uploaded`,
    )
    expect(superseded).toBe(
      `it is superseded as version ${held.id}: version ${last.id} took the place of version ${held.id}`,
    )
    expect(rejected.because).toMatch(/^it is rejected as version \d+: line 1, column \d+: /)
    expect(await because('acme/a.xml')).toBe(
      `there is no file of this name in the folder now; it is uploaded as version ${first.id}`,
    )
  })

  it('says that a file changed since it was uploaded, and takes absolute paths', async () => {
    await using site = await Site.open()
    const daemon = await site.daemonProcess()
    site.drop('jobs.xml', feedOf(4))
    await site.until('jobs.xml', 'uploaded')
    daemon.kill('SIGSTOP')
    site.drop('jobs.xml', feedOf(5))

    const { because } = await explained(site, 'jobs.xml')
    const { stdout } = await site.run('explain', join(site.inbox, 'jobs.xml'))

    expect(because).toMatch(/^it is uploaded as version 1; it last changed .* ago: it is read once/)
    expect(stdout).toMatch(/^jobs\.xml: it is uploaded as version 1/)
    daemon.kill('SIGCONT')
    await site.until('jobs.xml', 'uploaded')
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

  const next = (feed: string) =>
    stdout.split('\n').find((line) => line.startsWith(`next: ${feed} (`)) ?? 'nothing'
  expect(next('queued.xml')).toMatch(/next automatic attempt in \d+m/)
  expect(next('held.xml')).toMatch(/If this is right, release it/)
  expect(stdout).toMatch(
    /^ {2}feedsyncd release \d+ --config .+\n {2}feedsyncd discard \d+ --config /m,
  )
  expect(next('deep/rejected.xml')).toMatch(/correct the export and drop the file again/)
  expect(next('incomplete.xml')).toMatch(/wait for its writer.*it last grew/)
})
