// Outages of the service and of storage with waiting feeds. Half an hour takes seconds, because the test controls the
// waits (fault-clock.ts).

import { describe, expect, it } from 'vitest'
import { MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { feedOf, lettersOf } from '../../helpers/feed.ts'
import { Outlet } from '../../helpers/outlet.ts'

const FEEDS = 40

describe('an outage of half an hour with many feeds waiting', () => {
  it.each(['InternalError', 'SlowDown'] as const)(
    '(%s) is shown until it ends, costs few probes, rows and forms, and then each feed is delivered once',
    async (code) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'storage', kind: 's3-error', code })
      for (let n = 0; n < FEEDS; n++)
        await outlet.take(`${lettersOf(n)}.xml`, feedOf(2, `Feed ${n}`))

      await outlet.run(30 * MINUTE)
      const during = outlet.requests('storage').length
      const eventsDuring = Array.from({ length: FEEDS }, (_, n) => outlet.history.events(n + 1))
      const state = outlet.serviceState
      outlet.sandbox.faults.clear()
      await outlet.run(15 * MINUTE)

      expect(state).toBe('down')
      // Four feeds in parallel until the breaker opens; then one each 5 s, 10 s ... 10 min.
      expect(during).toBeLessThanOrEqual(8 + 10)
      // A feed that waits for the breaker makes no attempt and no history rows.
      expect(eventsDuring.flat().length).toBeLessThan(FEEDS * 3 + 40)
      const versions = outlet.history.list({})
      expect(versions.filter((version) => version.state === 'uploaded')).toHaveLength(FEEDS)
      expect(outlet.writes()).toEqual(Array(FEEDS).fill(1))
      // A feed whose form expired meanwhile asks for another form.
      expect(outlet.requests('service').length).toBeLessThanOrEqual(FEEDS + 2 * during)
      expect(outlet.serviceState).toBe('ok')
    },
  )
})

describe('newer versions during an outage', () => {
  it('take the place of older versions, which are not sent again when the outage ends', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 'answer', status: 503 })
    await outlet.take('jobs.xml', feedOf(2, 'Old'))
    await outlet.run(MINUTE)
    await outlet.take('jobs.xml', feedOf(2, 'New'))
    const before = outlet.outcomes(1)

    outlet.sandbox.faults.clear()
    await outlet.run(30 * MINUTE)

    expect(before).toContain('failed')
    expect(outlet.outcomes(1)).toEqual(before)
    expect([1, 2].map((id) => outlet.version(id).state)).toEqual(['superseded', 'uploaded'])
    expect(outlet.writes()).toEqual([1])
    expect(outlet.sandbox.objects()[0]?.sha256).toBe(outlet.version(2).sha256)
  })
})

describe('a breaker', () => {
  it('is shared: while it is open, a feed that never failed waits without a request', async () => {
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
