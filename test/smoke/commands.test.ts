import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openHistory } from '../../src/history/sqlite-history.ts'
import { feedOf, finished, SECRET, Site } from '../helpers/site.ts'

const TWO_LINES = /^error: .+\ntry: .+\n$/

describe('run --once', () => {
  it('delivers what is there and exits 0 when nothing is owed', async () => {
    await using site = await Site.open()
    site.drop('a.xml', feedOf(3))
    site.drop('deep/b.xml', feedOf(4))

    const { code } = await site.run('run', '--once')

    expect(code).toBe(0)
    expect(site.sandbox.objects()).toHaveLength(2)
  })

  it('leaves an incomplete feed, exits 75, and delivers it in a later pass', async () => {
    await using site = await Site.open()
    const whole = feedOf(9)
    writeFileSync(join(site.inbox, 'a.xml'), whole.slice(0, 300))

    const first = await site.run('run', '--once')
    writeFileSync(join(site.inbox, 'a.xml'), whole)
    const second = await site.run('run', '--once')

    expect([first.code, second.code]).toEqual([75, 0])
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it('exits 3 when a feed is rejected', async () => {
    await using site = await Site.open()
    site.drop('a.xml', '<source><job></source>')

    expect((await site.run('run', '--once')).code).toBe(3)
  })

  it('exits 75 when the service is down, and keeps the feed', async () => {
    await using site = await Site.open()
    site.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503, retryAfter: '600' })
    site.drop('a.xml', feedOf(3))

    const { code } = await site.run('run', '--once')

    expect(code).toBe(75)
    expect(site.uploads()[0]).toMatchObject({ state: 'queued' })
  })
})

describe('what an operator gets wrong is told in two lines', () => {
  it('a wrong secret: what was refused, and what to replace; exit 4', async () => {
    await using site = await Site.open()
    writeFileSync(join(site.root, 'service.key'), 'another-secret')
    site.drop('a.xml', feedOf(3))

    const { code, stderr, stdout } = await site.run('run', '--once')

    expect(code).toBe(4)
    expect(stderr).toMatch(TWO_LINES)
    expect(stderr).toContain('service.key')
    expect(stdout + stderr).not.toContain('another-secret')
  })

  it('a missing key file', async () => {
    await using site = await Site.open()
    rmSync(join(site.root, 'service.key'))

    const { code, stderr } = await site.run('run')

    expect(code).toBe(78)
    expect(stderr).toMatch(TWO_LINES)
    expect(stderr).toContain(join(site.root, 'service.key'))
  })

  it('a folder that is not there', async () => {
    await using site = await Site.open()
    rmSync(site.inbox, { recursive: true })

    const { code, stderr } = await site.run('run', '--once')

    expect(code).toBe(75)
    expect(stderr).toMatch(TWO_LINES)
    expect(stderr).toContain(site.inbox)
  })

  it('a configuration that is not there', async () => {
    await using site = await Site.open()
    rmSync(site.configFile)

    const { code, stderr } = await site.run('status')

    expect(code).toBe(78)
    expect(stderr).toMatch(TWO_LINES)
  })

  it('four mistakes in the configuration: four lines with their positions, exit 78', async () => {
    await using site = await Site.open()
    writeFileSync(
      site.configFile,
      [
        'version: 1',
        'service: { account: "1", baseUrl: "http://example.com" }',
        'inbox:',
        '  quietPeriod: 5',
        '  rescn: 10s',
        'upload: { concurrency: 0 }',
        '',
      ].join('\n'),
    )

    const { code, stderr, stdout } = await site.run('config', 'check')

    const lines = (stdout + stderr).trim().split('\n')
    expect(code).toBe(78)
    expect(
      lines.map((line) => line.match(/feedsyncd\.yaml:(\d+):\d+ ([\w.]+): /)?.slice(1)),
    ).toEqual([
      ['2', 'service.baseUrl'],
      ['4', 'inbox.quietPeriod'],
      ['5', 'inbox.rescn'],
      ['6', 'upload.concurrency'],
    ])
  })

  it('a command that does not exist, with the one that was meant; exit 64', async () => {
    await using site = await Site.open()

    const { code, stderr } = await site.run('statsu')

    expect(code).toBe(64)
    expect(stderr).toMatch(TWO_LINES)
    expect(stderr).toContain('status')
  })
})

describe('status in a pipe', () => {
  it('lists every feed, however many there are', async () => {
    await using site = await Site.open()
    await site.run('run', '--once')
    using history = openHistory({ file: join(site.root, 'state', 'feedsyncd.db') })
    for (let n = 100; n < 160; n++) {
      const feed = { path: `f${n}.xml`, feed: `f${n}.xml`, account: null, reason: null }
      history.add({ ...feed, state: 'settling', at: Date.now() })
    }

    const { stdout } = await site.process('status')

    expect(stdout.match(/^ *\d+ +f1\d\d\.xml/gm)).toHaveLength(60)
  })
})

describe('a wrong command line', () => {
  it('is answered with what was meant, and with the help of that very command', async () => {
    await using site = await Site.open()

    const option = await site.run('status', '--wach')
    const command = await site.run('config', 'chek')

    expect([option.code, option.stderr]).toEqual([
      64,
      "error: unknown option '--wach' (Did you mean --watch?)\ntry: feedsyncd status --help\n",
    ])
    expect([command.code, command.stderr]).toEqual([
      64,
      "error: unknown command 'chek' (Did you mean check?)\ntry: feedsyncd config --help\n",
    ])
  })
})

describe('check', () => {
  it('says of a path that is mistyped that there is no such file', async () => {
    await using site = await Site.open()

    const { code, stderr, stdout } = await site.run('check', 'mistyped.xml')

    expect([code, stdout]).toEqual([64, ''])
    expect(stderr).toBe('error: check mistyped.xml: there is no such file\ntry: check the path\n')
  })

  it('shows the place of a mistake in its line, and counts several files', async () => {
    await using site = await Site.open()
    const [good, bad, wide] = ['good.xml', 'bad.xml', 'wide.xml'].map((n) => join(site.root, n))
    writeFileSync(good ?? '', feedOf(3))
    writeFileSync(bad ?? '', '<source>\n  <job>Nuts & Bolts</job>\n</source>')
    writeFileSync(wide ?? '', Buffer.from(`<source>护士 ${'é'.repeat(200)}\0</source>`))

    const { stdout } = await site.run('check', good ?? '', bad ?? '', wide ?? '')

    expect(stdout).toContain(
      '"&" must be written "&amp;"\n    <job>Nuts & Bolts</job>\n              ^\n',
    )
    expect(stdout).toMatch(/\n {2}é{50}\\u0000<\/source>\n {52}\^\n/)
    expect(stdout).toMatch(/\n3 files: 1 ok, 2 broken\n$/)
  })

  it('answers the documented JSON and exits 3 when any file is not ok', async () => {
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
})

describe('status', () => {
  it('works before the first start and with the daemon down', async () => {
    await using site = await Site.open()

    const { code, stdout } = await site.run('status', '--json')

    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      schemaVersion: 1,
      daemon: {
        running: false,
        pid: null,
        startedAt: null,
        lastScanAt: null,
        mode: null,
        modeReason: null,
        conditions: [],
        unfinished: [],
        ignored: { count: 0, paths: [] },
        links: { count: 0, paths: [] },
      },
      service: { baseUrl: site.sandbox.url, state: 'unknown', reason: null, clockSkewMs: null },
      uploads: [],
      owed: [],
      campaigns: null,
    })
  })

  it('shows one row a feed with what to do next, and never a control character of a name', async () => {
    await using site = await Site.open()
    site.drop('evil\u001b[31m\nname.xml', '<a><b></a>')
    await site.run('run', '--once')

    const { stdout } = await site.run('status')

    expect(stdout).toContain('evil\\u001b[31m\\nname.xml')
    expect(stdout).not.toContain('\u001b')
    expect(stdout).toMatch(/^next: .*correct the export/m)
  })

  it('answers monitoring in one line: 2 without a daemon, 0 with one', async () => {
    await using site = await Site.open()

    const down = await site.run('status', '--check')
    await site.daemon()
    const up = await site.run('status', '--check')

    expect([down.code, up.code]).toEqual([2, 0])
    expect(down.stdout).toMatch(/^CRITICAL - the daemon is not running\n$/)
    expect(up.stdout).toMatch(/^OK - /)
  })

  it('answers monitoring with 3 for a feed that it does not know, as for a mistyped name', async () => {
    await using site = await Site.open()
    await site.daemon()
    site.drop('jobs.xml', feedOf(1))
    await site.until('jobs.xml', 'uploaded')

    const known = await site.run('status', 'jobs.xml', '--check')
    const failed = await site.run('status', 'jobs.xml', '--check', '--state', 'failed')
    const mistyped = await site.run('status', 'job.xml', '--check')
    const json = await site.run('status', 'job.xml', '--check', '--json')

    expect(known).toMatchObject({ code: 0, stdout: expect.stringMatching(/^OK - 1 feed/) })
    expect(failed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^OK - 0 feeds/) })
    expect(mistyped).toMatchObject({
      code: 3,
      stdout: 'UNKNOWN - no version of job.xml is known: see feedsyncd status\n',
    })
    expect([json.code, JSON.parse(json.stdout)]).toEqual([
      3,
      { schemaVersion: 1, code: 3, line: mistyped.stdout.trimEnd() },
    ])
  })
})

describe('upload', () => {
  it('sends one file through the whole pipeline without a daemon', async () => {
    await using site = await Site.open()
    const file = join(site.root, 'elsewhere.xml')
    writeFileSync(file, feedOf(3))

    const { code, stdout } = await site.run('upload', file, '--feed', 'nursing', '--json')

    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ feed: 'nursing', path: file, state: 'uploaded' })
  })

  it('hands the file to a running daemon and follows it', async () => {
    await using site = await Site.open()
    await site.daemon()
    const file = join(site.root, 'elsewhere.xml')
    writeFileSync(file, feedOf(3))

    const { code, stdout } = await site.run('upload', file)

    expect(code).toBe(0)
    expect(stdout).toContain('is uploaded')
  })

  it.each([
    ['the folder itself', (site: Site) => site.inbox, 'it is a directory'],
    ['another directory', (site: Site) => site.root, 'it is a directory'],
    ['a name of 300 characters', () => `${'x'.repeat(300)}.xml`, 'its name is too long'],
    ['a name of 5,000 characters', () => 'x'.repeat(5000), 'its name is too long'],
    ['a file below a file', (site: Site) => join(site.configFile, 'a.xml'), 'no such file'],
  ])('refuses %s, and makes no version of it', async (_, name, words) => {
    await using site = await Site.open()

    const { code, stderr } = await site.run('upload', name(site))
    const explained = await site.run('explain', name(site))
    const checked = await site.run('check', name(site))

    expect(stderr).toMatch(new RegExp(`^error: upload .{1,220}: .*${words}\ntry: `))
    expect(code).toBe(1)
    expect(site.uploads({ all: true })).toEqual([])
    expect(`${explained.stderr}${checked.stderr}`).not.toMatch(/unexpected|ENAMETOOLONG/)
  })

  it.each([
    ['a link', (site: Site, file: string) => symlinkSync(site.configFile, file)],
    ['a fifo', (_: Site, file: string) => execFileSync('mkfifo', [file])],
  ])('rejects %s, and says what to put in its place', async (_, make) => {
    await using site = await Site.open()
    const file = join(site.root, 'jobs.xml')
    make(site, file)

    const { code, stderr } = await site.run('upload', file)

    expect(code).toBe(3)
    expect(stderr).toMatch(/\ntry: put a regular file in its place\n$/)
  })

  it('is refused by a daemon that still watches another folder, whose file of that name it would take', async () => {
    await using site = await Site.open()
    await site.daemon()
    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')
    site.configure({ inbox: { directory: './other' } })
    const file = join(site.root, 'other', 'jobs.xml')
    mkdirSync(join(site.root, 'other'))
    writeFileSync(file, feedOf(4))

    const { code, stderr } = await site.run('upload', file)

    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`the daemon still watches ${site.inbox}: restart it first\n`),
    ])
  })

  it('refuses an empty name of a feed', async () => {
    await using site = await Site.open()
    const file = join(site.root, 'export.xml')
    writeFileSync(file, feedOf(3))

    const { code, stderr } = await site.run('upload', file, '--feed', '')

    expect([code, stderr]).toEqual([64, expect.stringContaining('the name of the feed is empty')])
    expect(site.uploads({ all: true })).toEqual([])
  })

  it('says of a broken file where it breaks and exits 3', async () => {
    await using site = await Site.open()
    const file = join(site.root, 'broken.xml')
    writeFileSync(file, '<a>\n<b></c></a>')

    const { code, stderr } = await site.run('upload', file)

    expect(code).toBe(3)
    expect(stderr).toMatch(/^error: line 2, column 4: /)
  })

  it('says why a file could not be taken now, and exits 75', async () => {
    await using site = await Site.open()
    const file = join(site.root, 'large.xml')
    writeFileSync(file, feedOf(15_000))

    const full = ['prlimit', '--fsize=1000000']
    const { code, stderr } = await finished(site.spawnBy(full, 'upload', file))

    expect({ code, stderr }).toEqual({
      code: 75,
      stderr: expect.stringMatching(
        /^error: upload .+large\.xml: not enough disk space for the copy: .+EFBIG.*\ntry: run it again\n$/,
      ),
    })
  })

  it('says in JSON why a version is in its state: a code, and the place in the document', async () => {
    await using site = await Site.open()
    const file = join(site.root, 'broken.xml')
    writeFileSync(file, '<a>\n<b></c></a>')
    await site.run('upload', file)

    const { stdout } = await site.run('show', '1', '--json')

    const { events, ...version } = JSON.parse(stdout)
    const why = { reasonCode: 'not-well-formed', line: 2, column: 4 }
    expect(version).toMatchObject({ ...why, state: 'rejected', hint: expect.any(String) })
    expect(events.at(-1)).toMatchObject({ ...why, to: 'rejected', reason: version.reason })
  })
})

it('never prints the secret, whatever is asked', async () => {
  await using site = await Site.open()
  site.drop('a.xml', feedOf(3))

  const outputs = [
    await site.process('run', '--once'),
    await site.process('config', 'print'),
    await site.process('status', '--json', '--all'),
    await site.process('show', '1', '--json'),
  ]

  expect(outputs.map(({ stdout, stderr }) => stdout + stderr).join()).not.toContain(SECRET)
})
