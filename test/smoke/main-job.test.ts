import { createHash } from 'node:crypto'
import { appendFileSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { onNetwork } from '../helpers/inbox/network-folder.ts'
import { feedOf, finished, Site } from '../helpers/site.ts'

const LAST_YEAR = new Date(2001, 0, 1)
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')

describe('a feed dropped into the folder', () => {
  it('arrives in storage byte for byte, with its history in status', async () => {
    await using site = await Site.open()
    await site.daemon()

    site.drop('jobs.xml', feedOf(12))
    const upload = await site.until('jobs.xml', 'uploaded')

    const [object] = site.sandbox.objects()
    expect(object?.sha256).toBe(sha256(feedOf(12)))
    expect(upload).toMatchObject({
      path: 'jobs.xml',
      sha256: sha256(feedOf(12)),
      postings: 12,
      attempts: 1,
      changes: null,
    })
    expect(upload.fileUrl).toContain(object?.key)
  })

  it('is delivered by scans if there are no events', async () => {
    onNetwork()
    await using site = await Site.open()
    await site.daemon()

    site.drop('jobs.xml', feedOf(2))
    await site.until('jobs.xml', 'uploaded')

    expect(JSON.parse((await site.run('status', '--json')).stdout).daemon.mode).toBe('poll')
  })

  it('is not uploaded while it is cut short, even with an old date, and is uploaded once when complete', async () => {
    await using site = await Site.open()
    const whole = feedOf(20)
    const path = join(site.inbox, 'slow.xml')
    const append = (from: number, to: number) => {
      appendFileSync(path, whole.slice(from, to))
      utimesSync(path, LAST_YEAR, LAST_YEAR)
    }
    append(0, 700)
    site.drop('early.xml', feedOf(3))

    await site.daemon()
    await site.until('early.xml', 'uploaded')
    const first = await site.passed('slow.xml', 'incomplete')
    append(700, 1000)
    await site.passed('slow.xml', 'incomplete', { after: first })
    expect(site.sandbox.objects()).toHaveLength(1)
    append(1000, whole.length)
    await site.until('slow.xml', 'uploaded')

    expect(site.uploads({ all: true })).toHaveLength(2)
    expect(site.sandbox.objects().map((object) => object.sha256)).toEqual(
      [feedOf(3), whole].map(sha256),
    )
  })

  it('does not wait for a large feed that is being checked', async () => {
    await using site = await Site.open()
    const reading = site.holdReading()
    await site.daemonProcess()

    site.drop('held.xml', feedOf(3_000, 'Nurse'.padEnd(3_000, '.')))
    await site.passed('held.xml', 'checking')
    site.drop('small.xml', feedOf(3))
    await site.until('small.xml', 'uploaded')
    const meanwhile = site.events('held.xml').map(({ to }) => to)
    reading.release()
    await site.until('held.xml', 'uploaded')

    expect(meanwhile).toEqual(['settling', 'checking'])
  })

  it('is rejected with line and column if it is broken, and uploaded when it is corrected', async () => {
    await using site = await Site.open()
    await site.daemon()

    site.drop('jobs.xml', '<source>\n<job><title>Nuts & Bolts</title></job>\n</source>')
    const rejected = await site.until('jobs.xml', 'rejected')
    site.drop('jobs.xml', '<source>\n<job><title>Nuts &amp; Bolts</title></job>\n</source>')
    const uploaded = await site.until('jobs.xml', 'uploaded')

    expect(rejected.reason).toBe('line 2, column 18: "&" must be written "&amp;"')
    expect(uploaded.id).toBeGreaterThan(rejected.id)
  })

  it('with the same bytes again makes a seen event and no new version', async () => {
    await using site = await Site.open()
    await site.daemon()
    site.drop('jobs.xml', feedOf(5))
    await site.until('jobs.xml', 'uploaded')

    utimesSync(join(site.inbox, 'jobs.xml'), 1, 1)
    await site.passed('jobs.xml', 'seen')

    expect(site.uploads({ all: true })).toHaveLength(1)
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it('with the contents A, B, A is uploaded as three versions, and status says what changed', async () => {
    await using site = await Site.open()
    await site.daemon()

    for (const postings of [6, 8, 6]) {
      site.drop('jobs.xml', feedOf(postings))
      await site.until('jobs.xml', 'uploaded', sha256(feedOf(postings)))
    }

    const versions = site.uploads({ all: true })
    expect(site.sandbox.objects()).toHaveLength(3)
    expect(versions.map(({ changes }) => changes)).toEqual([
      { added: 0, removed: 2, changed: 0 },
      { added: 2, removed: 0, changed: 0 },
      null,
    ])
  })

  it('becomes gone and is not sent if the file leaves while it is incomplete', async () => {
    await using site = await Site.open()
    await site.daemon()
    writeFileSync(join(site.inbox, 'jobs.xml'), feedOf(5).slice(0, 200))
    await site.passed('jobs.xml', 'incomplete')

    unlinkSync(join(site.inbox, 'jobs.xml'))

    await site.until('jobs.xml', 'gone')
    expect(site.sandbox.objects()).toEqual([])
  })

  it('is held with the reason if its postings collapse, and uploaded after a person releases it', async () => {
    await using site = await Site.open()
    await site.daemon()
    site.drop('jobs.xml', feedOf(10))
    await site.until('jobs.xml', 'uploaded')

    site.drop('jobs.xml', feedOf(4))
    const held = await site.until('jobs.xml', 'held')
    const released = await site.run('release', String(held.id))
    await site.until('jobs.xml', 'uploaded')

    expect(released.code).toBe(0)
    expect(held.reason).toContain('10 postings to 4')
    expect(site.sandbox.objects()).toHaveLength(2)
  })
})

describe('a daemon', () => {
  it('that was killed during an upload uploads the feed once after its next start, and records both attempts', async () => {
    await using site = await Site.open()
    const first = await site.daemonProcess()
    const gate = site.sandbox.faults.add({
      at: 'storage',
      kind: 'gate-at-byte',
      fileByte: 20_000,
      times: 1,
    })
    site.drop('jobs.xml', feedOf(5000))
    await gate.held()

    first.kill('SIGKILL')
    await finished(first)
    expect(site.sandbox.objects()).toEqual([])
    await site.daemon()
    const upload = await site.until('jobs.xml', 'uploaded')

    const shown = JSON.parse((await site.run('show', String(upload.id), '--json')).stdout)
    expect(shown.attempts.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'unknown',
      'stored',
    ])
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it('exits 0 on SIGTERM', async () => {
    await using site = await Site.open()
    const daemon = await site.daemonProcess()

    daemon.kill('SIGTERM')

    expect((await finished(daemon)).code).toBe(0)
  })

  it('does not start twice with the same state directory, says so and exits 75', async () => {
    await using site = await Site.open()
    await site.daemon()

    const second = await site.process('run')

    expect(second.code).toBe(75)
    expect(second.stderr).toMatch(/^error: another feedsyncd runs .*\ntry: .*\n$/)
  })
})

it('sends the bytes that were checked, even if the file is overwritten meanwhile, and then the new bytes', async () => {
  await using site = await Site.open()
  const checked = feedOf(3_000, 'Nurse'.padEnd(600, '.'))
  const overwritten = feedOf(2_900, 'Nurse'.padEnd(601, '.'))
  const gate = site.sandbox.faults.add({ at: 'storage', kind: 'gate-at-byte', fileByte: 20_000 })
  await site.daemon()
  site.drop('jobs.xml', checked)
  await gate.held()

  writeFileSync(join(site.inbox, 'jobs.xml'), overwritten)
  gate.remove()
  await site.until('jobs.xml', 'uploaded', sha256(overwritten))

  const stored = site.sandbox.objects().map((object) => object.sha256)
  expect(stored).toEqual([sha256(checked), sha256(overwritten)])
})
