// What people and file systems do to a folder, to the spool and to a daemon, all at once or at the worst moment.

import { execFileSync } from 'node:child_process'
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { explained, statusOf, trail } from '../../helpers/look.ts'
import { LyingFiles, NO_COMPILER } from '../../helpers/lying-files.ts'
import { feedOf, preload, Site } from '../../helpers/site.ts'

const stored = (site: Site) => site.sandbox.objects().map(({ sha256 }) => sha256)

describe('the copy that is sent', () => {
  it('is never taken as stored when it became shorter while it was sent, and is sent whole later', async () => {
    await using site = await Site.open()
    const gate = site.sandbox.faults.add({
      ...({ at: 'storage', kind: 'gate', point: 'headers', times: 1 } as const),
    })
    await site.daemon()
    site.drop('a.xml', feedOf(3_000, 'Nurse'.padEnd(600, '.')))
    await gate.held()
    const spool = join(site.root, 'state/spool')
    const [copy = ''] = readdirSync(spool).filter((name) => !name.includes('index'))
    const whole = readFileSync(join(spool, copy))
    truncateSync(join(spool, copy), 1_000)
    gate.remove()
    await eventually(() => expect(site.show(1).attempts[0]?.outcome).toMatch(/.+/))
    const { attempts, state } = site.show(1)
    writeFileSync(join(spool, copy), whole)
    if (state === 'failed') await site.run('retry', '1')
    await site.until('a.xml', 'uploaded')

    expect(attempts[0]?.outcome).not.toBe('stored')
    expect(stored(site)).toEqual([site.uploads()[0]?.sha256])
  })

  it('lies on another file system than the folder', async () => {
    const state = mkdtempSync('/dev/shm/feedsyncd-test-')
    try {
      await using site = await Site.open({
        ...{ state: { directory: state }, inbox: { afterUpload: 'archive' } },
      })
      expect(statSync(state).dev).not.toBe(statSync(site.inbox).dev)
      site.drop('a.xml', feedOf(3))
      await site.run('run', '--once')
      await site.run('run', '--once')

      expect(readdirSync(site.inbox)).toEqual([])
      expect(site.sandbox.objects()).toHaveLength(1)
    } finally {
      rmSync(state, { recursive: true })
    }
  })
})

describe('names and links', () => {
  it('two names of one file are two feeds, also when one is archived and the other stays', async () => {
    await using site = await Site.open({
      feeds: [{ match: 'b.xml', name: 'other' }],
      inbox: { afterUpload: 'archive', archiveDirectory: './archive' },
    })
    site.drop('a.xml', feedOf(3))
    linkSync(join(site.inbox, 'a.xml'), join(site.inbox, 'b.xml'))
    await site.daemon()

    await eventually(() => expect(readdirSync(site.inbox)).toEqual([]))

    expect(
      site
        .uploads()
        .map(({ feed, state }) => `${feed} ${state}`)
        .sort(),
    ).toEqual([...['a.xml uploaded', 'other uploaded']])
    expect(site.sandbox.objects()).toHaveLength(2)
    expect(readdirSync(join(site.root, 'archive'))).toHaveLength(2)
  })

  it('two files that trade places again and again are each sent whole, and end as they stand', async () => {
    await using site = await Site.open()
    const [a, b, spare] = ['a.xml', 'b.xml', '.spare'].map((name) => join(site.inbox, name))
    if (a === undefined || b === undefined || spare === undefined) throw new Error()
    site.drop('a.xml', feedOf(30, 'Nurse A'))
    site.drop('b.xml', feedOf(31, 'Nurse B'))
    await site.daemon()
    for (let n = 0; n < 25; n++) {
      renameSync(a, spare)
      renameSync(b, a)
      renameSync(spare, b)
      await new Promise((resolve) => setTimeout(resolve, 20 + (n % 5) * 40))
    }

    // An odd number of times: each stands where the other was.
    await eventually(() => {
      const postings = (feed: string) => site.uploads({ feed })[0]
      expect(postings('a.xml')).toMatchObject({ state: 'uploaded', postings: 31 })
      expect(postings('b.xml')).toMatchObject({ state: 'uploaded', postings: 30 })
    })
    const known = new Set(site.uploads({ all: true }).map(({ sha256 }) => sha256))
    expect(stored(site).every((hash) => known.has(hash))).toBe(true)
    expect(new Set(stored(site)).size).toBe(2)
  })

  it('a file that becomes a directory of its name, and a file again, loses nothing', async () => {
    await using site = await Site.open()
    await site.daemon()
    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')
    rmSync(join(site.inbox, 'jobs.xml'))
    site.drop('jobs.xml/inner.xml', feedOf(4))
    await site.until('jobs.xml/inner.xml', 'uploaded')
    rmSync(join(site.inbox, 'jobs.xml'), { recursive: true })
    site.drop('jobs.xml', feedOf(5))

    await eventually(() => {
      const [newest] = site.uploads({ feed: 'jobs.xml' })
      expect(newest).toMatchObject({ postings: 5, state: 'uploaded' })
    })

    expect(site.uploads({ all: true }).map(({ state }) => state)).toEqual([
      ...['uploaded', 'uploaded', 'uploaded'],
    ])
  })

  it('a folder that is renamed while its feed is read is sent under its new name', async () => {
    await using site = await Site.open({ feeds: [{ match: '{1}/*.xml', name: '{1}' }] })
    const reading = site.holdReading()
    await site.daemonProcess()
    site.drop('north/held.xml', feedOf(300))
    await site.passed('north', 'checking')
    renameSync(join(site.inbox, 'north'), join(site.inbox, 'south'))
    reading.release()

    await site.until('south', 'uploaded')

    expect(['gone', 'uploaded']).toContain(site.uploads({ feed: 'north' })[0]?.state)
    expect(new Set(stored(site)).size).toBe(1)
  })

  it.skipIf(NO_COMPILER !== null)(
    'a directory that cannot be listed has its name in one line, whoever chose it',
    async () => {
      await using site = await Site.open({ inbox: { rescan: '1s' } })
      const files = new LyingFiles(site.root)
      site.env = files.env
      const name = 'x\nMAINPID=1\x1b[2J\u202e'
      mkdirSync(join(site.inbox, name))
      files.fail('list', name, 'EIO')
      const daemon = await site.daemonProcess()
      await site.logged(daemon, 'cannot be listed')

      const { stdout } = await site.run('status')
      const { stdout: check } = await site.run('status', '--check')

      const [condition] = statusOf(site).daemon.conditions
      expect(condition?.message).toMatch(/^x\\nMAINPID=1\\u001b\[2J\\u202e\/ is a directory/)
      for (const harm of ['\x1b[2J', '\u202e', '\nMAINPID'])
        expect(`${stdout}${check}`).not.toContain(harm)
    },
  )
})

describe('people', () => {
  it('who upload twelve files of one feed at once get a version each, and the last one wins', async () => {
    await using site = await Site.open({ guards: { maxDropPercent: 100 } })
    await site.daemon()
    const files = Array.from({ length: 12 }, (_, n) => {
      const file = join(site.root, `export-${n}.xml`)
      writeFileSync(file, feedOf(20 + n, `Nurse ${n}`))
      return file
    })

    const ends = await Promise.all(files.map((file) => site.run('upload', file, '--feed', 'all')))

    const versions = site.uploads({ feed: 'all', all: true })
    expect(versions).toHaveLength(12)
    expect(versions[0]?.state).toBe('uploaded')
    expect(versions.every(({ state }) => ['uploaded', 'superseded'].includes(state))).toBe(true)
    expect(ends.every(({ code }) => code === 0 || code === 1 || code === 3)).toBe(true)
    const order = site.sandbox
      .objects()
      .toSorted((a, b) => a.receivedAt - b.receivedAt)
      .map(({ sha256 }) => versions.find((one) => one.sha256 === sha256)?.id ?? 0)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(order.at(-1)).toBe(versions[0]?.id)
  })

  it('who upload at once without a daemon are told to wait, and nothing is sent twice', async () => {
    await using site = await Site.open()
    const file = join(site.root, 'export.xml')
    writeFileSync(file, feedOf(20))

    const ends = await Promise.all([1, 2, 3].map(() => site.process('upload', file)))

    expect(ends.map(({ code }) => code).every((code) => code === 0 || code === 75)).toBe(true)
    expect(ends.some(({ code }) => code === 0)).toBe(true)
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it('who retry an older version while the newer one is sent are refused', async () => {
    await using site = await Site.open()
    const tooLarge = site.sandbox.faults.add({
      ...({ at: 'storage', kind: 's3-error', code: 'EntityTooLarge', times: 1 } as const),
    })
    await site.daemon()
    site.drop('a.xml', feedOf(5))
    await site.until('a.xml', 'failed')
    tooLarge.remove()
    const gate = site.sandbox.faults.add({
      ...({ at: 'storage', kind: 'gate', point: 'end' } as const),
    })
    site.drop('a.xml', feedOf(6))
    await gate.held()

    const retried = await site.run('retry', '1')
    gate.remove()
    await site.until('a.xml', 'uploaded')

    expect(retried.code).not.toBe(0)
    expect(trail(site, 1)).not.toContain('uploaded')
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it('who set a date in 1970 or 2100 on a file, or the same one each time, hide no change', async () => {
    await using site = await Site.open({ guards: { maxDropPercent: 100 } })
    await site.daemon()
    const path = join(site.inbox, 'a.xml')
    for (const [postings, date] of [
      [20, 0],
      [21, 0],
      [22, 4_102_444_800],
      [23, 0],
    ] as const) {
      const partial = join(site.inbox, '.a.xml.part')
      writeFileSync(partial, feedOf(postings))
      utimesSync(partial, date, date)
      renameSync(partial, path)
      await eventually(() => {
        expect(site.uploads()[0]).toMatchObject({ postings, state: 'uploaded' })
      })
    }
    expect(site.sandbox.objects()).toHaveLength(4)
  })
})

it('no name on a command line reaches the terminal as it is, whatever is said of it', async () => {
  await using site = await Site.open()
  const name = 'no\x1b[2J\nerror: pe\u202e.xml'
  mkdirSync(join(site.root, 'd\x1b[2J'))
  const commands = [
    ...['upload', 'explain', 'check', 'show', 'retry', 'release'].map((command) => [command, name]),
    ['upload', join(site.root, 'd\x1b[2J')],
    ['upload', site.configFile, '--feed', 'a\x1b[2J'],
    ['status', name],
    ['campaigns', 'forget', name],
  ]

  for (const command of commands) {
    const { stdout, stderr } = await site.run(...command)
    for (const harm of ['\x1b[2J', '\u202e', '\nerror: pe'])
      expect(stdout + stderr, command.join(' ')).not.toContain(harm)
  }
})

describe('a receipt', () => {
  it('that could not be written is written once it can be', async () => {
    await using site = await Site.open({ inbox: { receipts: true } })
    const receipt = join(site.inbox, 'jobs.xml.receipt.json')
    mkdirSync(receipt)
    const daemon = await site.daemonProcess()
    site.drop('jobs.xml', feedOf(3))
    await site.logged(daemon, 'file.no-receipt')
    rmdirSync(receipt)

    const written = await eventually(() => JSON.parse(readFileSync(receipt, 'utf8')))

    expect(written).toMatchObject({ file: 'jobs.xml', state: 'uploaded' })
  })
})

describe('a log', () => {
  it('that nobody reads any more stops no daemon', async () => {
    await using site = await Site.open()
    const daemon = await site.daemonProcess()
    daemon.stdout?.destroy()
    daemon.stderr?.destroy()

    for (const name of ['a.xml', 'b.xml']) {
      site.drop(name, feedOf(3))
      await site.until(name, 'uploaded')
    }

    expect(daemon.exitCode).toBeNull()
  })

  it('on a full disk stops no daemon', async () => {
    await using site = await Site.open()
    const daemon = site.spawnBy(['sh', '-c', 'exec "$@" >/dev/full 2>&1', 'sh'], 'run')

    for (const name of ['a.xml', 'b.xml']) {
      site.drop(name, feedOf(3))
      await site.until(name, 'uploaded')
    }

    expect(daemon.exitCode).toBeNull()
  })
})

describe('a host', () => {
  it.each([
    ['1970', -Date.now() + 60_000],
    ['2100', 74 * 365 * 86_400_000],
  ])('whose clock says %s sends a feed, and goes on when it is right again', async (_, ahead) => {
    await using site = await Site.open({ inbox: { rescan: '1s' } })
    const clock = join(site.root, 'clock')
    writeFileSync(clock, String(ahead))
    site.env = { ...preload('wrong-clock.ts'), FEEDSYNCD_CLOCK_FILE: clock }
    await site.daemonProcess()
    site.drop('a.xml', feedOf(3))
    await site.until('a.xml', 'uploaded')
    writeFileSync(clock, '0')
    site.drop('b.xml', feedOf(4))

    await site.until('b.xml', 'uploaded')

    expect(site.sandbox.objects()).toHaveLength(2)
  })

  it('that reloads fifty times while a feed is sent sends it once', async () => {
    await using site = await Site.open()
    const gate = site.sandbox.faults.add({
      ...({ at: 'storage', kind: 'gate', point: 'end' } as const),
    })
    const daemon = await site.daemonProcess()
    site.drop('a.xml', feedOf(30))
    await gate.held()
    for (let n = 0; n < 50; n++) {
      site.configure({ upload: { concurrency: 1 + (n % 4) }, guards: { minPostings: 1 + (n % 9) } })
      daemon.kill('SIGHUP')
      await new Promise((resolve) => setImmediate(resolve))
    }
    await site.logged(daemon, '"configuration reloaded"')
    gate.remove()

    await site.until('a.xml', 'uploaded')

    expect(site.show(1).attempts).toHaveLength(1)
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it.skipIf(NO_COMPILER !== null)(
    'that closes a directory for good has it rejected, never moved, and gone once it is open',
    async () => {
      await using site = await Site.open({
        feeds: [{ match: '**', name: 'all' }],
        inbox: { rescan: '1s', afterReject: 'quarantine', incompleteAfter: '1s', receipts: true },
      })
      const files = new LyingFiles(site.root)
      site.env = files.env
      files.fail('list', 'west', 'EACCES')
      mkdirSync(join(site.inbox, 'west'))
      await site.daemonProcess()
      const rejected = await site.until('west/', 'rejected')
      await eventually(() => {
        expect(Date.parse(statusOf(site).daemon.lastScanAt ?? '')).toBeGreaterThan(
          Date.parse(rejected.detectedAt ?? '') + 2_500,
        )
      })
      const meanwhile = readdirSync(site.inbox)
      const because = (await explained(site, 'west')).because
      files.tellTheTruth()
      const { reason } = await site.until('west/', 'gone')

      expect(rejected).toMatchObject({ feed: 'west/', path: 'west/', hint: expect.any(String) })
      expect(meanwhile).toEqual(['west'])
      expect(because).toContain('it is rejected as version 1: is a directory that cannot be listed')
      expect(reason).toMatch(/^it can be listed now, or is not there any more/)
    },
  )
})

it('a folder of 30,000 files that are no feeds, and 3,000 links, holds up no feed', async () => {
  await using site = await Site.open()
  mkdirSync(join(site.inbox, 'many'))
  execFileSync('sh', ['-c', 'seq 30000 | sed "s/$/.txt/" | xargs touch'], {
    cwd: join(site.inbox, 'many'),
  })
  for (let n = 0; n < 3_000; n++) symlinkSync('/etc/passwd', join(site.inbox, `many/${n}.xml`))
  site.drop('a.xml', feedOf(3))

  await site.run('run', '--once')

  expect(site.uploads({ feed: 'a.xml' })[0]?.state).toBe('uploaded')
  expect(statusOf(site).daemon.ignored.count).toBe(30_000)
  expect(site.uploads({ states: ['rejected'] })).toHaveLength(3_000)
  expect((await explained(site, 'many/7.xml')).because).toContain('symbolic link')
})
