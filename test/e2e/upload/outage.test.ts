// Fault case 25 of the fault list: outages with many feeds, and clocks that are wrong. Half an hour takes seconds,
// because the waits are the test's (fault-clock.ts).

import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { feedOf } from '../../helpers/feed.ts'
import { largeFeed, Outlet } from '../../helpers/outlet.ts'

const FEEDS = 200

describe('fault 25: an outage of half an hour with 200 feeds waiting', () => {
  it('costs a few probes, no herd when it ends, and delivers each feed once', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 's3-error', code: 'InternalError' })
    for (let n = 0; n < FEEDS; n++) await outlet.take(`${n}.xml`, feedOf(2, `Feed ${n}`))

    await outlet.run(30 * MINUTE)
    const during = outlet.requests('storage').length
    const eventsDuring = Array.from({ length: FEEDS }, (_, n) => outlet.history.events(n + 1))
    const state = outlet.serviceState
    outlet.sandbox.faults.clear()
    await outlet.run(15 * MINUTE)

    expect(state).toBe('down')
    // Four feeds at once before the breaker opens; then 5 s, 10 s ... 10 min apart.
    expect(during).toBeLessThanOrEqual(8 + 10)
    // A feed that waits for the breaker is left alone, and so is its history.
    expect(eventsDuring.flat().length).toBeLessThan(FEEDS * 3 + 100)
    const versions = outlet.history.list({})
    expect(versions.filter((version) => version.state === 'uploaded')).toHaveLength(FEEDS)
    expect(outlet.writes()).toEqual(Array(FEEDS).fill(1))
    expect(outlet.requests('service').length).toBeLessThanOrEqual(FEEDS + during)
    expect(outlet.serviceState).toBe('ok')
  })
})

describe('fault 25: newer versions during an outage', () => {
  it('take the place of older ones, and the feed ends with the newest alone', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 'answer', status: 503 })
    await outlet.take('jobs.xml', feedOf(2, 'Old'))
    await outlet.run(MINUTE)
    await outlet.take('jobs.xml', feedOf(2, 'New'))

    outlet.sandbox.faults.clear()
    await outlet.run(30 * MINUTE)

    expect([1, 2].map((id) => outlet.version(id).state)).toEqual(['superseded', 'uploaded'])
    expect(outlet.writes()).toEqual([1])
    expect(outlet.sandbox.objects()[0]?.sha256).toBe(outlet.version(2).sha256)
  })
})

describe('fault 25: a breaker', () => {
  it('is shared: a feed that never failed waits for the probe of another', async () => {
    await using outlet = await Outlet.open({ concurrency: 1 })
    outlet.fault({ at: 'service', kind: 'answer', status: 502 })
    await outlet.take('a.xml')
    while (outlet.serviceState !== 'down') await outlet.run(SECOND)
    const asked = outlet.requests('service').length

    await outlet.take('b.xml')
    await outlet.run(0)

    expect(outlet.serviceState).toBe('down')
    expect(outlet.requests('service')).toHaveLength(asked)
    expect(outlet.version(2)).toMatchObject({ state: 'queued', attempts: 0 })
  })
})

describe('fault 25: the clock on the wall', () => {
  it.each([HOUR, -HOUR])('that jumps by %i ms in an upload ends nothing early', async (jump) => {
    await using outlet = await Outlet.open()
    const gate = outlet.sandbox.faults.add({ at: 'storage', kind: 'gate-at-byte', fileByte: 1 })
    await outlet.take('jobs.xml', largeFeed(16_000_000))

    const running = outlet.run()
    await gate.held()
    outlet.clock.setWallClock(jump)
    gate.remove()
    await running
    await outlet.take('next.xml')
    await outlet.run()

    expect(outlet.outcomes(1)).toEqual(['stored'])
    // The next request is refused for its date, and signed again with the time of the service.
    expect(outlet.outcomes(2)).toEqual(['stored'])
    expect(outlet.requests('service').map(({ status }) => status)).toEqual([200, 401, 200])
  })

  it('that jumps while a feed waits delays it by no more than the longest wait', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 's3-error', code: 'SlowDown', retryAfter: '90', times: 1 })
    await outlet.take('jobs.xml')
    await outlet.run(0)

    outlet.clock.setWallClock(-20 * MINUTE)
    await outlet.run(40 * MINUTE)

    expect(outlet.version().state).toBe('uploaded')
    expect(outlet.writes()).toEqual([1])
  })

  it('that jumps by hours finds the feeds due, dates their requests anew, and sends each once', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 's3-error', code: 'SlowDown', retryAfter: '90', times: 3 })
    for (const name of ['a.xml', 'b.xml', 'c.xml']) await outlet.take(name)
    await outlet.run(0)

    outlet.clock.setWallClock(10 * HOUR)
    await outlet.run(10 * SECOND)

    expect(outlet.writes()).toEqual([1, 1, 1])
  })

  it('that jumps by hours ends no version that was refused for a minute', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', kind: 'answer', status: 404, times: 3 })
    await outlet.take('jobs.xml')
    await outlet.run(0)

    outlet.clock.setWallClock(10 * HOUR)
    await outlet.run(30 * MINUTE)

    expect(outlet.outcomes()).toEqual(['refused', 'refused', 'refused', 'stored'])
    expect(outlet.version().state).toBe('uploaded')
  })

  it('of a service that drifts is followed', async () => {
    await using outlet = await Outlet.open({
      ...{ concurrency: 1, sandbox: { formLifetimeMs: 3 * HOUR } },
    })
    const skews = [0, 20, 40, 60].map((minutes) => minutes * MINUTE)

    for (const [n, skewMs] of skews.entries()) {
      outlet.sandbox.faults.clear()
      outlet.fault({ at: 'service', kind: 'date', skewMs })
      await outlet.take(`${n}.xml`)
      await outlet.run()
    }

    expect(outlet.writes()).toEqual([1, 1, 1, 1])
    expect(outlet.requests('service')).toHaveLength(4 + 3)
  })
})
