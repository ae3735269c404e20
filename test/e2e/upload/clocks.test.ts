// Wrong clocks: a host that differs from the service, and a clock that jumps while feeds wait.

import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { lettersOf } from '../../helpers/feed.ts'
import { largeFeed, Outlet } from '../../helpers/outlet.ts'

/** The story of a version that the first post of the first form stored. */
const AT_ONCE = { state: 'uploaded', outcomes: ['stored'], forms: 1, posts: 1, writes: [1] }

describe('a clock that differs from the service’s', () => {
  it.each([20 * MINUTE, -20 * MINUTE])(
    'by %i ms costs one request and the next feed none, and is reported',
    async (skewMs) => {
      await using outlet = await Outlet.open({ sandbox: { formLifetimeMs: HOUR } })
      outlet.fault({ at: 'service', kind: 'date', skewMs })

      await outlet.deliver()
      const first = outlet.story()
      await outlet.take('other.xml')
      await outlet.run()

      expect(first).toEqual({ ...AT_ONCE, forms: 2 })
      expect(outlet.requests('service').map(({ status }) => status)).toEqual([401, 200, 200])
      expect(Math.abs((outlet.clockSkewMs ?? 0) - skewMs)).toBeLessThan(10 * SECOND)
    },
  )

  it('within the limit of the service is only reported', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', kind: 'date', skewMs: 14.5 * MINUTE })

    await outlet.deliver()

    expect(outlet.story()).toEqual(AT_ONCE)
    expect(outlet.clockSkewMs).toBeGreaterThan(14 * MINUTE)
  })
})

describe('the wall clock', () => {
  it.each([HOUR, -HOUR])(
    'that jumps by %i ms during an upload ends nothing early, and costs the next feed one request',
    async (jump) => {
      await using outlet = await Outlet.open()
      const gate = outlet.sandbox.faults.add({ at: 'storage', kind: 'gate-at-byte', fileByte: 1 })
      await outlet.take('jobs.xml', largeFeed(16_000_000))

      const running = outlet.run()
      await gate.held()
      outlet.clock.moveWallClock(jump)
      gate.remove()
      await running
      await outlet.take('next.xml')
      await outlet.run()

      expect(outlet.outcomes(1)).toEqual(['stored'])
      // The service refuses the date of the next request, which is then signed again with the service's time.
      expect(outlet.outcomes(2)).toEqual(['stored'])
      expect(outlet.requests('service').map(({ status }) => status)).toEqual([200, 401, 200])
    },
  )

  it.each([-20 * MINUTE, -10 * HOUR])(
    'that jumps by %i ms while a feed waits delays it by less than an hour, and it is stored once',
    async (jump) => {
      await using outlet = await Outlet.open()
      const fault = { at: 'storage', kind: 's3-error', code: 'SlowDown', retryAfter: '90' } as const
      outlet.fault({ ...fault, times: 1 })
      await outlet.take('jobs.xml')
      await outlet.run(0)

      outlet.clock.moveWallClock(jump)
      await outlet.run(40 * MINUTE)

      expect(outlet.version().state).toBe('uploaded')
      expect(outlet.writes()).toEqual([1])
    },
  )

  it('that jumps ahead by hours makes the feeds due, and each is sent once with the form that it has', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 's3-error', code: 'SlowDown', retryAfter: '90', times: 3 })
    for (const name of ['a.xml', 'b.xml', 'c.xml']) await outlet.take(name)
    await outlet.run(0)

    outlet.clock.moveWallClock(10 * HOUR)
    const before = outlet.requests('service').length
    await outlet.run(10 * SECOND)

    expect(outlet.writes()).toEqual([1, 1, 1])
    expect(outlet.requests('service')).toHaveLength(before)
  })

  it('that jumps ahead by hours ends no version that was refused for a minute; it is stored later', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', kind: 'answer', status: 404, times: 3 })
    await outlet.take('jobs.xml')
    await outlet.run(0)

    outlet.clock.moveWallClock(10 * HOUR)
    await outlet.run(30 * MINUTE)

    expect(outlet.outcomes()).toEqual(['refused', 'refused', 'refused', 'stored'])
    expect(outlet.version().state).toBe('uploaded')
  })

  it('of a service that drifts is followed, at the cost of one request for each step', async () => {
    await using outlet = await Outlet.open({
      ...{ concurrency: 1, sandbox: { formLifetimeMs: 3 * HOUR } },
    })
    const skews = [0, 20, 40, 60].map((minutes) => minutes * MINUTE)

    for (const [n, skewMs] of skews.entries()) {
      outlet.sandbox.faults.clear()
      outlet.fault({ at: 'service', kind: 'date', skewMs })
      await outlet.take(`${lettersOf(n)}.xml`)
      await outlet.run()
    }

    expect(outlet.writes()).toEqual([1, 1, 1, 1])
    expect(outlet.requests('service')).toHaveLength(4 + 3)
  })
})
