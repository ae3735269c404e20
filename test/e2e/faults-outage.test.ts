// Fault case 25 of the fault list: outages with many feeds, and clocks that are wrong. Half an hour takes seconds,
// because the waits are the test's (fault-clock.ts).

import { describe, expect, it } from 'vitest'
import { MINUTE } from '../../src/lib/clock.ts'
import { Outlet } from '../helpers/outlet.ts'
import { feedOf } from '../helpers/site.ts'

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
