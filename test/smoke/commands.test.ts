import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { feedOf, SECRET, Site } from '../helpers/site.ts'

const TWO_LINES = /^error: .+\ntry: .+\n$/

describe('run --once', () => {
  it('delivers the feeds in the folder and exits 0 if nothing waits', async () => {
    await using site = await Site.open()
    site.drop('a.xml', feedOf(3))
    site.drop('deep/b.xml', feedOf(4))

    const { code } = await site.run('run', '--once')

    expect(code).toBe(0)
    expect(site.sandbox.objects()).toHaveLength(2)
  })

  it('exits 75 for an incomplete feed, and delivers the feed in a later pass', async () => {
    await using site = await Site.open()
    const whole = feedOf(9)
    writeFileSync(join(site.inbox, 'a.xml'), whole.slice(0, 300))

    const first = await site.run('run', '--once')
    writeFileSync(join(site.inbox, 'a.xml'), whole)
    const second = await site.run('run', '--once')

    expect([first.code, second.code]).toEqual([75, 0])
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it('exits 3 if a feed is rejected', async () => {
    await using site = await Site.open()
    site.drop('a.xml', '<source><job></source>')

    const { code } = await site.run('run', '--once')

    expect(code).toBe(3)
    expect(site.uploads()).toMatchObject([{ state: 'rejected' }])
  })

  it('exits 75 if the service is down, and keeps the feed', async () => {
    await using site = await Site.open()
    site.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503, retryAfter: '600' })
    site.drop('a.xml', feedOf(3))

    const { code } = await site.run('run', '--once')

    expect(code).toBe(75)
    expect(site.uploads()[0]).toMatchObject({ state: 'queued' })
  })
})

describe('a mistake of an operator is explained', () => {
  it('a wrong secret: two lines with the key file, and never the secret; exit 4', async () => {
    await using site = await Site.open()
    writeFileSync(join(site.root, 'service.key'), 'another-secret')
    site.drop('a.xml', feedOf(3))

    const { code, stderr, stdout } = await site.run('run', '--once')

    expect(code).toBe(4)
    expect(stderr).toMatch(TWO_LINES)
    expect(stderr).toContain('service.key')
    expect(stdout + stderr).not.toContain('another-secret')
  })

  it('a missing key file: two lines with its path; exit 78', async () => {
    await using site = await Site.open()
    rmSync(join(site.root, 'service.key'))

    const { code, stderr } = await site.run('run')

    expect(code).toBe(78)
    expect(stderr).toMatch(TWO_LINES)
    expect(stderr).toContain(join(site.root, 'service.key'))
  })

  it('a missing folder: two lines with its path; exit 75', async () => {
    await using site = await Site.open()
    rmSync(site.inbox, { recursive: true })

    const { code, stderr } = await site.run('run', '--once')

    expect(code).toBe(75)
    expect(stderr).toMatch(TWO_LINES)
    expect(stderr).toContain(site.inbox)
  })

  it('a missing configuration: two lines; exit 78', async () => {
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

  it('a command that does not exist: two lines with the nearest command; exit 64', async () => {
    await using site = await Site.open()

    const { code, stderr } = await site.run('statsu')

    expect(code).toBe(64)
    expect(stderr).toMatch(TWO_LINES)
    expect(stderr).toContain('status')
  })
})

describe('a wrong command line', () => {
  it('is answered with the nearest word and the help of its command; exit 64', async () => {
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
  it('shows the mistake in its line, and counts the files by verdict', async () => {
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
})

describe('status', () => {
  it('prints before the first start every field of its JSON, with the daemon as the only problem', async () => {
    await using site = await Site.open()

    const { code, stdout } = await site.run('status', '--json')

    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      schemaVersion: 1,
      daemon: {
        running: false,
        pid: null,
        startedAt: null,
        heartbeatAt: null,
        lastScanAt: null,
        mode: null,
        modeReason: null,
        conditions: [],
        unfinished: [],
        ignored: { count: 0, paths: [] },
        ...{ startWith: null, historyIsMissing: false, unit: null, staleAfterMs: 60_000 },
        exposedAt: null,
      },
      service: {
        ...{ baseUrl: site.sandbox.url, state: 'unknown', reason: null, since: null },
        clockSkewMs: null,
      },
      skipped: [],
      uploads: [],
      owed: [],
      paused: null,
      pausedFeeds: [],
      campaigns: null,
      problems: [
        {
          ...{ code: 'daemon-down', severity: 'critical', subject: { kind: 'daemon' } },
          ...{ says: 'the daemon is not running', since: null },
          next: [{ command: `feedsyncd run --config ${site.configFile}` }],
        },
      ],
    })
  })

  it('says of a rejected feed what to do next, and escapes the control characters of its name', async () => {
    await using site = await Site.open()
    site.drop('evil\u001b[31m\nname.xml', '<a><b></a>')
    await site.run('run', '--once')

    const { stdout } = await site.run('status')

    expect(stdout).toContain('evil\\u001b[31m\\nname.xml')
    expect(stdout).not.toContain('\u001b')
    expect(stdout).toMatch(/^ {2}correct the export/m)
  })

  it('--check prints one line for monitoring and exits 2 without a daemon, 0 with one', async () => {
    await using site = await Site.open()

    const down = await site.run('status', '--check')
    await site.daemon()
    const up = await site.run('status', '--check')

    expect([down.code, up.code]).toEqual([2, 0])
    expect(down.stdout).toMatch(/^CRITICAL - the daemon is not running\n$/)
    expect(up.stdout).toMatch(/^OK - /)
  })
})

describe('upload', () => {
  it('sends one file through the whole pipeline without a daemon', async () => {
    await using site = await Site.open()
    const file = join(site.root, 'elsewhere.xml')
    writeFileSync(file, feedOf(3))

    const { code, stdout } = await site.run('upload', file, '--feed', 'nursing', '--new', '--json')

    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ feed: 'nursing', path: file, state: 'uploaded' })
  })

  it('passes the file to a running daemon and follows it', async () => {
    await using site = await Site.open()
    await site.daemon()
    const file = join(site.root, 'elsewhere.xml')
    writeFileSync(file, feedOf(3))

    const { code, stderr, stdout } = await site.run('upload', file, '--feed', 'nursing', '--new')

    expect(code).toBe(0)
    expect(stderr).toContain('passed to the running daemon')
    expect(stdout).toContain('is uploaded')
  })

  it('says where a broken file breaks, and exits 3', async () => {
    await using site = await Site.open()
    const file = join(site.root, 'broken.xml')
    writeFileSync(file, '<a>\n<b></c></a>')

    const { code, stderr } = await site.run('upload', file, '--feed', 'nursing', '--new')

    expect(code).toBe(3)
    expect(stderr).toMatch(/^error: line 2, column 4: /)
  })
})

it('run, config print, status and show never print the secret', async () => {
  await using site = await Site.open()
  site.drop('a.xml', feedOf(3))

  const outputs = [
    await site.process('run', '--once'),
    await site.run('config', 'print'),
    await site.run('status', '--json', '--all'),
    await site.run('show', '1', '--json'),
  ]

  expect(outputs.map(({ code }) => code)).toEqual([0, 0, 0, 0])
  expect(outputs.map(({ stdout, stderr }) => stdout + stderr).join()).not.toContain(SECRET)
})
