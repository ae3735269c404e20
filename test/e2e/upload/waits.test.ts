// A version that waits for its next attempt is queued, with the time and the reason on record. It delays nothing else:
// a person can decide, a newer version takes its place, other accounts continue, and a stop takes no time.

import { afterEach, describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { feedRule } from '../../helpers/feed-rule.ts'
import { statusOf } from '../../helpers/look.ts'
import { Outlet } from '../../helpers/outlet.ts'
import { feedOf, Site } from '../../helpers/site.ts'

const BUSY = { at: 'service', kind: 'answer', status: 503, retryAfter: '45' } as const
const SLOW_DOWN = { at: 'storage', kind: 's3-error', code: 'SlowDown', retryAfter: '45' } as const

let site: Site
afterEach(() => site[Symbol.asyncDispose]())

/** waiting opens a site whose feed got this answer and waits for 45 s. */
async function waiting(fault: typeof BUSY | typeof SLOW_DOWN, content = feedOf(3)) {
  site = await Site.open()
  const handle = site.sandbox.faults.add(fault)
  const daemon = await site.daemon()
  site.drop('jobs.xml', content)
  const version = await eventually(() => {
    const [newest] = site.uploads({ feed: 'jobs.xml' })
    if (!newest?.nextAttemptAt) throw new Error(`it is ${newest?.state}, without a next attempt`)
    return newest
  })
  return { daemon, handle, version }
}

const stored = () => site.sandbox.objects().map(({ account, writes }) => `${account} ${writes}`)

describe.each([
  ['the service', BUSY],
  ['storage', SLOW_DOWN],
] as const)('a version that %s asked to come back later', (_, fault) => {
  it('is queued, and status says why and when', async () => {
    const { version } = await waiting(fault)

    const { stdout } = await site.run('status')

    expect(version).toMatchObject({ state: 'queued', attempts: 1 })
    expect(version.reason).toContain('503')
    expect(Date.parse(version.nextAttemptAt ?? '')).toBeGreaterThan(Date.now())
    expect(stdout).toMatch(/queued/)
    expect(stdout).toContain('answered 503')
    expect(stdout).toMatch(/next automatic attempt in \d+s/s)
    expect(stdout).not.toMatch(/100 ?%|nothing to do/)
  })

  it('is discarded at once, and never sent', async () => {
    const { handle, version } = await waiting(fault)

    const { code } = await site.run('discard', String(version.id))
    handle.remove()
    await site.run('retry', '--all')

    expect(code).toBe(0)
    expect(await site.until('jobs.xml', 'discarded')).toMatchObject({ id: version.id })
    expect(stored()).toEqual([])
  })

  it('is sent at once when a person retries it', async () => {
    const { handle, version } = await waiting(fault)
    handle.remove()

    const { code, stdout } = await site.run('retry', String(version.id))

    expect(code).toBe(0)
    expect(stdout).toContain('uploaded')
    expect(stored()).toEqual(['123 1'])
  })

  it('makes one attempt when a person retries it, and says when the next one is', async () => {
    const { version } = await waiting(fault)

    const { stderr } = await site.run('retry', String(version.id))

    expect(stderr).toMatch(/503.*next automatic attempt in \d+s/s)
    expect(site.show(version.id)).toMatchObject({ state: 'queued' })
    expect(site.show(version.id).attempts).toHaveLength(2)
  })

  it('is superseded by a newer version, and only the newer version is stored', async () => {
    const { handle, version } = await waiting(fault)

    // The newer version can already be uploading when the test looks again.
    handle.remove()
    site.drop('jobs.xml', feedOf(4))
    await site.passed('jobs.xml', 'superseded')
    const [newer] = site.uploads({ feed: 'jobs.xml' })
    await site.run('retry', String(newer?.id))

    expect(site.show(version.id).state).toBe('superseded')
    expect(await site.until('jobs.xml', 'uploaded')).toMatchObject({ postings: 4 })
    expect(stored()).toEqual(['123 1'])
  })

  it('delays no stop, and still waits after a restart, without a request', async () => {
    const { daemon, version } = await waiting(fault)
    const asked = site.sandbox.requests().length

    const { code } = await daemon.stop()
    await site.daemon()
    await eventually(() => expect(statusOf(site).daemon.lastScanAt).not.toBeNull())

    expect(code).toBe(0)
    expect(daemon.output).toContain('"running":0')
    expect(site.uploads()[0]).toMatchObject({
      state: 'queued',
      nextAttemptAt: version.nextAttemptAt,
    })
    expect(site.sandbox.requests()).toHaveLength(asked)
  })
})

it('a version can be discarded while its form is requested, and is then not sent', async () => {
  site = await Site.open()
  const gate = site.sandbox.faults.add({ at: 'service', kind: 'gate', point: 'answer' })
  await site.daemon()
  site.drop('jobs.xml', feedOf(3))
  await gate.held()

  const { code } = await site.run('discard', '1')
  gate.remove()
  site.drop('other.xml', feedOf(2))
  await site.until('other.xml', 'uploaded')

  expect(code).toBe(0)
  expect(site.show(1).state).toBe('discarded')
  expect(site.sandbox.objects()).toHaveLength(1)
})

it('waiting accounts delay no other account', async () => {
  const partnerAccounts = ['a', 'b', 'c', 'd', 'e']
  const feeds = [feedRule('{1}/*.xml', { name: '{1}', partnerAccount: '{1}' })]
  await using outlet = await Outlet.open({
    ...{ feeds, concurrency: 4 },
    sandbox: {
      callers: [{ partner: 'acme', partnerAccounts, secret: 'the/secret+of the outlet==' }],
    },
  })
  for (const account of 'abcd')
    outlet.fault({ at: 'service', kind: 'answer', status: 503, retryAfter: '45', account })
  for (const account of partnerAccounts) await outlet.take(`${account}/jobs.xml`)

  await outlet.run(5000)

  expect(outlet.version(5).state).toBe('uploaded')
  expect([1, 2, 3, 4].map((id) => outlet.version(id).state)).toEqual(Array(4).fill('queued'))
})

it('the next attempt uses the same form if the file might be stored, so that it gets no second key', async () => {
  await using outlet = await Outlet.open()
  outlet.fault({ at: 'storage', kind: 'lose-answer', stored: true, how: 'fin', times: 4 })
  const { id } = await outlet.take('jobs.xml')

  await outlet.run(60_000)

  expect(outlet.version(id).state).toBe('uploaded')
  expect(new Set(outlet.attempts(id).map(({ key }) => key)).size).toBe(1)
  expect(outlet.writes()).toEqual([5])
})

it('a person can discard a version that waits for an origin that is down', async () => {
  await using outlet = await Outlet.open()
  outlet.fault({ at: 'service', kind: 'answer', status: 500 })
  const { id } = await outlet.take('jobs.xml')
  await outlet.run(60_000)

  outlet.carryOut('discard', id)

  expect(outlet.serviceState).toBe('down')
  expect(outlet.version(id).state).toBe('discarded')
})
