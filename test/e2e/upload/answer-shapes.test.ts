// Fault cases 14, 15 and 17 of the fault list: kept connections that end, and answers in every odd shape that HTTP
// allows or forbids.

import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { Outlet } from '../../helpers/outlet.ts'

const AT_ONCE = { state: 'uploaded', outcomes: ['stored'], forms: 1, posts: 1, writes: [1] }

describe('a kept connection', () => {
  it.each([
    { kind: 'drop', point: 'reuse', how: 'fin' },
    { kind: 'drop', point: 'reuse', how: 'rst' },
    { kind: 'keep-alive', seconds: 1, closeAfterMs: 0 },
    { kind: 'keep-alive', seconds: 1, closeAfterMs: 0, how: 'rst' },
    { kind: 'connection-close' },
  ] as const)('fault 14: that ends (%o) costs no feed, and stores none twice', async (fault) => {
    await using outlet = await Outlet.open({ concurrency: 1 })
    outlet.fault({ at: 'storage', ...fault }, { at: 'service', ...fault })
    for (let n = 0; n < 5; n++) await outlet.take(`${n}.xml`)

    await outlet.run(10 * MINUTE)

    const states = [1, 2, 3, 4, 5].map((id) => outlet.version(id).state)
    expect(states).toEqual(Array(5).fill('uploaded'))
    expect(outlet.writes()).toEqual([1, 1, 1, 1, 1])
    // 16 as a rule: each side loses a kept connection once a feed. More are told, and a storm of them is a fault.
    const seen = outlet.sandbox.requests()
    const told = seen.map(({ connection, route, side, status }) => [
      side,
      connection,
      route,
      status,
    ])
    if (seen.length > 5 * 4) console.warn(JSON.stringify(told), outlet.logged)
    expect(seen.length).toBeLessThanOrEqual(5 * 8)
  })
})

describe('an answer', () => {
  it.each([100, 102, 103] as const)('fault 15: after an interim %i counts', async (status) => {
    await using outlet = await Outlet.open()
    outlet.fault(
      { at: 'service', kind: 'interim', status },
      { at: 'storage', kind: 'interim', status },
    )

    await outlet.deliver()

    expect(outlet.story()).toEqual(AT_ONCE)
  })

  it('fault 15: twice is taken as what came first', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 'raw', what: 'two-answers', times: 1 })

    await outlet.deliver()

    // It stored the file behind the 500: the same key again makes that one object.
    expect(outlet.story()).toMatchObject({ outcomes: ['failed', 'stored'], posts: 2, writes: [2] })
    expect(outlet.attempts()[0]?.status).toBe(500)
  })

  it.each(['garbage', 'oversized-headers'] as const)(
    'fault 15: of %s leaves the end unknown, and the same form goes again',
    async (what) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'storage', kind: 'raw', what, times: 1 })

      await outlet.deliver()

      expect(outlet.story()).toMatchObject({
        ...{ state: 'uploaded', outcomes: ['unknown', 'stored'], forms: 1, posts: 2, writes: [2] },
      })
    },
  )

  it.each(['chunked', 'gzip', 'byte-by-byte'] as const)(
    'fault 17: that travels %s counts, with its checksum',
    async (how) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'storage', kind: 'transfer', how })

      await outlet.deliver()

      expect(outlet.story()).toEqual(AT_ONCE)
      expect(outlet.version().etagVerified).toBe(true)
    },
  )

  it.each(['chunked', 'gzip', 'byte-by-byte'] as const)(
    'fault 17: of refusal that travels %s is read by its code',
    async (how) => {
      await using outlet = await Outlet.open()
      outlet.fault(
        { at: 'storage', kind: 's3-error', code: 'InvalidPolicyDocument' },
        { at: 'storage', kind: 'transfer', how },
      )

      await outlet.deliver(undefined, 3 * HOUR)

      expect(outlet.story()).toMatchObject({ state: 'failed', writes: [] })
      const codes = outlet.attempts().map(({ code }) => code)
      expect(new Set(codes)).toEqual(new Set(['InvalidPolicyDocument']))
    },
  )

  it.each(['bom', 'namespace', 'cdata', 'huge'] as const)(
    'fault 17: of XML with %s is read by its code',
    async (style) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'storage', kind: 's3-error', code: 'EntityTooSmall', style })

      await outlet.deliver(undefined, 10 * MINUTE)

      expect(outlet.story()).toMatchObject({ state: 'failed', outcomes: ['refused'], posts: 1 })
      expect(outlet.attempts()[0]?.code).toBe('EntityTooSmall')
    },
  )

  it('fault 17: that would explode when expanded is not read, and nothing grows', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 's3-error', code: 'AccessDenied', style: 'entities' })
    const before = process.memoryUsage().rss

    const version = await outlet.deliver(undefined, 40 * SECOND)

    expect(version).toMatchObject({ state: 'queued', reason: 'storage answered 403' })
    expect(process.memoryUsage().rss - before).toBeLessThan(2 ** 30)
  })
})
