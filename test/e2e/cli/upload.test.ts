import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, finished, Site } from '../../helpers/site.ts'

describe('upload', () => {
  it.each([
    ['the folder itself', (site: Site) => site.inbox, 'it is a directory'],
    ['another directory', (site: Site) => site.root, 'it is a directory'],
    ['a name of 300 characters', () => `${'x'.repeat(300)}.xml`, 'has a name that is too long'],
    ['a name of 5,000 characters', () => 'x'.repeat(5000), 'has a name that is too long'],
    ['a file below a file', (site: Site) => join(site.configFile, 'a.xml'), 'not a directory'],
  ])(
    'refuses %s with the reason and makes no version of it, and show and check do not fail unexpectedly',
    async (_, name, words) => {
      await using site = await Site.open()

      const { code, stderr } = await site.run('upload', name(site))
      const shown = await site.run('show', name(site))
      const checked = await site.run('check', name(site))

      expect(stderr).toMatch(new RegExp(`^error: upload .{1,220}: .*${words}( .[A-Z]+.)?\ntry: `))
      expect(code).toBe(1)
      expect(site.uploads({ all: true })).toEqual([])
      expect(`${shown.stderr}${checked.stderr}`).not.toMatch(/unexpected|ENAMETOOLONG/)
    },
  )

  it('is refused if the daemon still watches another folder, which may hold a file of that name', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
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

  it('demands --feed for a file outside the inbox, lists the feeds without filling one in, and makes no version', async () => {
    await using site = await Site.open()
    site.drop('customer-13.xml', feedOf(3))
    site.drop('jobs-2026-11-22.xml', feedOf(3))
    await site.run('run', '--once')
    const file = join(site.root, 'customer-12.xml')
    writeFileSync(file, feedOf(3))

    const { code, stderr } = await site.run('upload', file)

    expect([code, stderr.split('\n')]).toEqual([
      64,
      [
        'error: upload: the file lies outside the inbox, so name its feed',
        'try: name one of these with --feed, or a new one with --feed and --new: customer-13.xml, jobs-{date}.xml',
        '',
      ],
    ])
    expect(site.uploads()).toHaveLength(2)
  })

  it('compares a file with the feed that --feed names, and demands --new if no feed has the name', async () => {
    await using site = await Site.open()
    site.drop('jobs.xml', feedOf(10))
    await site.run('run', '--once')
    const file = join(site.root, 'export.xml')
    writeFileSync(file, feedOf(3))

    const known = await site.run('upload', file, '--feed', 'jobs.xml')
    const misspelt = await site.run('upload', file, '--feed', 'job.xml')
    const meant = await site.run('upload', file, '--feed', 'job.xml', '--new')

    expect([known.code, known.stderr]).toEqual([
      3,
      expect.stringContaining('from 10 postings to 3'),
    ])
    expect([misspelt.code, misspelt.stderr]).toEqual([
      64,
      expect.stringContaining('upload: no feed is named job.xml\n'),
    ])
    expect(meant.code).toBe(0)
  })

  it.each([
    ['daily-2026-11-23.xml', 'daily-2026-11-22.xml', 'daily-{date}.xml'],
    ['jobs.xml.gz', 'jobs.xml', 'jobs.xml'],
  ])('and check read the name %s as they read the path of a file', async (named, path, feed) => {
    await using site = await Site.open()
    site.drop(path, feedOf(40))
    await site.run('run', '--once')
    const file = join(site.root, 'export.xml')
    writeFileSync(file, feedOf(2))

    const checked = await site.run('check', file, '--feed', named)
    const uploaded = await site.run('upload', file, '--feed', named)

    expect(checked.stdout).toContain('from 40 postings to 2')
    expect([uploaded.code, uploaded.stderr]).toEqual([
      3,
      expect.stringContaining('from 40 postings'),
    ])
    expect(site.uploads({ all: true }).map((version) => version.feed)).toEqual([feed, feed])
  })

  it('exits 3 with the kind of a path that is not a regular file, with and without a daemon', async () => {
    await using site = await Site.open()
    const at = (name: string) => join(site.root, name)
    writeFileSync(at('jobs.xml'), feedOf(3))
    symlinkSync(at('jobs.xml'), at('link.xml'))
    symlinkSync(at('nothing.xml'), at('loose.xml'))
    execFileSync('mkfifo', [at('fifo.xml')])
    const upload = (name: string) => site.run('upload', at(name), '--feed', 'jobs', '--new')
    const kinds = [
      ['link.xml', 3, 'it is a symbolic link, which is not followed\ntry: name the file itself'],
      ['loose.xml', 3, 'it is a symbolic link, which is not followed\n'],
      ['fifo.xml', 3, 'it is not a regular file (fifo)\ntry: write its content to a regular file'],
    ] as const
    const expectKinds = async () => {
      for (const [name, code, says] of kinds)
        expect(await upload(name)).toMatchObject({ code, stderr: expect.stringContaining(says) })
    }

    await expectKinds()
    await site.daemon()
    await expectKinds()
  })

  it('refuses an empty feed name with 64, and makes no version', async () => {
    await using site = await Site.open()
    const file = join(site.root, 'export.xml')
    writeFileSync(file, feedOf(3))

    const { code, stderr } = await site.run('upload', file, '--feed', '')

    expect([code, stderr]).toEqual([64, expect.stringContaining('the name of the feed is empty')])
    expect(site.uploads({ all: true })).toEqual([])
  })

  it('names the limit that stops the copy, and exits 75', async () => {
    await using site = await Site.open()
    const file = join(site.root, 'large.xml')
    writeFileSync(file, feedOf(15_000))

    const full = ['prlimit', '--fsize=1000000']
    const { code, stderr } = await finished(
      site.spawnBy(full, 'upload', file, '--feed', 'large.xml', '--new'),
    )

    expect({ code, stderr }).toEqual({
      code: 75,
      stderr: expect.stringMatching(
        /^error: upload .+large\.xml: the copy in .+ cannot be written: EFBIG.*\ntry: raise the limit of file sizes \(LimitFSIZE= of the unit, .+\n$/,
      ),
    })
  })

  it('records a reason code and the place of the mistake, which show --json prints', async () => {
    await using site = await Site.open()
    const file = join(site.root, 'broken.xml')
    writeFileSync(file, '<a>\n<b></c></a>')
    await site.run('upload', file, '--feed', 'jobs.xml', '--new')

    const { stdout } = await site.run('show', '1', '--json')

    const { events, ...version } = JSON.parse(stdout)
    const why = { reasonCode: 'not-well-formed', line: 2, column: 4 }
    expect(version).toMatchObject({ ...why, state: 'rejected', hint: expect.any(String) })
    expect(events.at(-1)).toMatchObject({ ...why, to: 'rejected', reason: version.reason })
  })
})
