// Refusals that can end: how long the daemon waits, and that the hint works.

import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE } from '../../../src/lib/clock.ts'
import type { FaultRule } from '../../../src/sandbox/faults/fault-types.ts'
import { Outlet } from '../../helpers/outlet.ts'

const TOO_LARGE = '<html><title>413 Request Entity Too Large</title></html>'

describe('a file that is refused for its size', () => {
  const refusals: [by: string, FaultRule, posts: number][] = [
    ['a proxy', { at: 'storage', kind: 'answer', status: 413, body: TOO_LARGE }, 1],
    ['storage', { at: 'storage', kind: 's3-error', code: 'EntityTooLarge' }, 1],
    ['the form', { at: 'service', kind: 'form', contentLengthRange: [1, 10] }, 0],
  ]

  it.each(refusals)(
    'by %s fails at once with a hint, keeps its copy, and is stored by "retry" after the limit is raised',
    async (_, fault, posts) => {
      await using outlet = await Outlet.open()
      outlet.fault(fault)

      const version = await outlet.deliver()
      const sent = outlet.requests('storage')
      outlet.sandbox.faults.clear()
      outlet.carryOut('retry', version.id)
      await outlet.run()

      expect(version).toMatchObject({ state: 'failed', spool: expect.any(String) })
      expect(version.hint).toMatch(/retry the feed or drop the same file again/)
      expect(sent).toHaveLength(posts)
      expect(outlet.version().state).toBe('uploaded')
      expect(outlet.writes()).toEqual([1])
    },
  )

  it('is stored when the same file is dropped again, as the same version', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 'answer', status: 413, body: TOO_LARGE })
    const { id } = await outlet.deliver()
    outlet.sandbox.faults.clear()

    const again = await outlet.deliver()

    expect(again).toMatchObject({ id, state: 'uploaded' })
    expect(outlet.history.version(id + 1)).toBeNull()
  })

  it('is stored by "restore" as a new version', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 'answer', status: 413, body: TOO_LARGE })
    const { id } = await outlet.deliver()
    outlet.sandbox.faults.clear()

    outlet.carryOut('restore', id)
    await outlet.run()

    expect(outlet.version(id).state).toBe('superseded')
    expect(outlet.version(id + 1).state).toBe('uploaded')
  })

  it('is tried once each time it is dropped again', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 'answer', status: 413, body: TOO_LARGE })
    await outlet.deliver()

    const again = await outlet.deliver()

    expect(again.state).toBe('failed')
    expect(outlet.requests('storage')).toHaveLength(2)
  })
})

describe('a refusal of a single feed, which a deployment of the service can cause', () => {
  const refusals: [string, FaultRule][] = [
    ['404 of the service', { at: 'service', kind: 'answer', status: 404 }],
    ['NoSuchBucket', { at: 'storage', kind: 's3-error', code: 'NoSuchBucket' }],
    ['a 2xx without a word of it', { at: 'storage', kind: 'answer', status: 202 }],
  ]

  it.each(refusals)(
    'is temporary at first, and the feed is stored when it ends: %s',
    async (_, fault) => {
      await using outlet = await Outlet.open()
      outlet.fault(fault)

      const meanwhile = await outlet.deliver(undefined, 20 * MINUTE)
      outlet.sandbox.faults.clear()
      await outlet.run(HOUR)

      expect(meanwhile).toMatchObject({ state: 'queued', reason: expect.any(String) })
      expect(outlet.version().state).toBe('uploaded')
    },
  )

  it.each(refusals)(
    'fails the version after an hour or more, with a hint and few requests: %s',
    async (_, fault) => {
      await using outlet = await Outlet.open()
      outlet.fault(fault)

      const version = await outlet.deliver(undefined, 3 * HOUR)

      const [first] = outlet.attempts()
      const lasted = (outlet.attempts().at(-1)?.startedAt ?? 0) - (first?.startedAt ?? 0)
      expect(version).toMatchObject({ state: 'failed', hint: expect.stringContaining('retry') })
      expect(lasted).toBeGreaterThanOrEqual(HOUR)
      expect(outlet.requests('service').length).toBeLessThan(60)
    },
  )

  it('counts only an unbroken series of the same refusal', async () => {
    await using outlet = await Outlet.open()
    const outage = outlet.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503 })
    await outlet.deliver(undefined, 3 * HOUR)
    outage.remove()
    outlet.fault({ at: 'service', kind: 'answer', status: 404, times: 1 })

    await outlet.run(3 * HOUR)

    expect(outlet.version().state).toBe('uploaded')
  })
})
