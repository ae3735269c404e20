// Fault cases 1 to 6 of the fault list: the service, when it is asked for a form. What a single answer means is
// tested beside src/service; here it is what becomes of the feed, and how often anybody is asked.

import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND, systemClock } from '../../../src/lib/clock.ts'
import { Outlet } from '../../helpers/outlet.ts'

/** Stored by the first post of the first form. */
const AT_ONCE = { state: 'uploaded', outcomes: ['stored'], forms: 1, posts: 1, writes: [1] }

describe('a clock that differs from the service’s', () => {
  it.each([20 * MINUTE, -20 * MINUTE])(
    'fault 1: by %i ms costs one request, and the next feed none',
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

  it('fault 1: within the limit of the service is only reported', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', kind: 'date', skewMs: 14.5 * MINUTE })

    await outlet.deliver()

    expect(outlet.story()).toEqual(AT_ONCE)
    expect(outlet.clockSkewMs).toBeGreaterThan(14 * MINUTE)
  })

  it.each([{ ageSeconds: 5 }, { omit: true }])(
    'fault 1: that cannot be measured (%o) is taken for refused credentials',
    async (date) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'service', kind: 'date', skewMs: 20 * MINUTE, ...date })

      await outlet.deliver()

      expect(outlet.story()).toMatchObject({ state: 'queued', outcomes: ['refused'], forms: 1 })
      expect(outlet.serviceState).toBe('credentials')
    },
  )
})

it('fault 2: a refused signature stops every feed, and is tried again after 15 minutes', async () => {
  await using outlet = await Outlet.open({ concurrency: 1 })
  outlet.fault({ at: 'service', kind: 'signature-mismatch', times: 2 })
  for (const name of ['a.xml', 'b.xml', 'c.xml']) await outlet.take(name)

  await outlet.run(14 * MINUTE)
  const paused = [1, 2, 3].map((id) => outlet.version(id).attempts)
  const askedWhilePaused = outlet.requests('service').length
  await outlet.run(30 * MINUTE)

  expect(paused).toEqual([1, 0, 0])
  expect(askedWhilePaused).toBe(1)
  expect(outlet.gaps('service')[0]).toBeGreaterThanOrEqual(15 * MINUTE)
  expect(outlet.outcomes(1)).toEqual(['refused', 'refused', 'stored'])
  expect(outlet.writes()).toEqual([1, 1, 1])
  // Once, while it lasts.
  expect(outlet.told).toHaveLength(1)
  expect(outlet.told[0]).toContain('401')
})

describe('fault 3: Retry-After of the service', () => {
  it.each([
    [429, '7', 7 * SECOND, 30 * SECOND],
    [503, '7', 7 * SECOND, 30 * SECOND],
    [503, { dateInMs: 9 * SECOND }, 8 * SECOND, 30 * SECOND],
    [429, { dateInMs: -HOUR }, 0, 20 * SECOND],
    [429, '0', 0, 20 * SECOND],
    [429, '-30', 0, 20 * SECOND],
    [503, 'as soon as possible', 0, 20 * SECOND],
    [503, '999999', HOUR, HOUR + MINUTE],
  ])('fault 3: %i with "%o" is obeyed', async (status, retryAfter, least, most) => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', kind: 'answer', status, retryAfter, times: 1 })

    await outlet.deliver(undefined, 2 * HOUR)

    const [gap = 0] = outlet.gaps('service')
    expect(outlet.story()).toEqual({ ...AT_ONCE, outcomes: ['failed', 'stored'], forms: 2 })
    expect(gap).toBeGreaterThanOrEqual(least)
    expect(gap).toBeLessThan(most)
  })
})

describe('an answer that is no form', () => {
  it.each([500, 502, 504])('fault 4: %i with a web page is asked again', async (status) => {
    await using outlet = await Outlet.open()
    const body = '<html><body>Bad gateway</body></html>'
    outlet.fault({ at: 'service', kind: 'answer', status, body, times: 2 })

    await outlet.deliver()

    expect(outlet.story()).toEqual({
      ...{ ...AT_ONCE, outcomes: ['failed', 'failed', 'stored'], forms: 3 },
    })
  })

  it('fault 4: 200 with a web page is never taken for a form', async () => {
    await using outlet = await Outlet.open()
    const body = '<!doctype html><title>Log in</title>'
    outlet.fault({ at: 'service', kind: 'answer', status: 200, body })

    const version = await outlet.deliver()

    expect(version).toMatchObject({
      ...{ state: 'queued', reason: expect.stringContaining('web page instead of a form') },
    })
    expect(outlet.story()).toMatchObject({ forms: 3, posts: 0 })
  })

  it.each(['truncated', 'invalid', 'empty', 'empty-object', 'no-url', 'no-key'] as const)(
    'fault 4: 200 with JSON that is %s is asked again',
    async (variant) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'service', kind: 'json', variant, times: 1 })

      await outlet.deliver()

      expect(outlet.story()).toEqual({ ...AT_ONCE, outcomes: ['failed', 'stored'], forms: 2 })
    },
  )

  it('fault 4: fields that nobody knows go to storage in order, with every odd byte', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', kind: 'json', variant: 'more-fields' })

    await outlet.deliver()

    expect(outlet.story()).toEqual(AT_ONCE)
  })
})

describe('a service that is slow or gone', () => {
  it.each([
    { kind: 'slow', headersAfterMs: 200 },
    { kind: 'transfer', how: 'byte-by-byte' },
  ] as const)('fault 5: %o is waited for', async (slow) => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', ...slow })

    await outlet.deliver()

    expect(outlet.story()).toEqual(AT_ONCE)
  })

  it('fault 5: an answer that never comes is given up after a minute, and asked for again', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', kind: 'slow', never: true, times: 1 })
    const minutes: number[] = []
    outlet.clock.after = (ms, run) => {
      if (ms !== MINUTE || minutes.push(ms) > 1) return systemClock.after(ms, run)
      // The minute is over as soon as the service has read the request.
      void outlet.sandbox.waitForRequest(({ faults }) => faults.includes('slow')).then(run)
      return { [Symbol.dispose]: () => {} }
    }

    await outlet.deliver()

    expect(outlet.story()).toEqual({ ...AT_ONCE, outcomes: ['failed', 'stored'], forms: 2 })
    expect(outlet.attempts()[0]?.code).toBe('answer-timeout')
  })

  it.each(['fin', 'rst'] as const)(
    'fault 5: a connection that ends (%s) before the answer is made anew',
    async (how) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'service', kind: 'drop', point: 'headers', how, times: 1 })

      await outlet.deliver()

      expect(outlet.story()).toEqual({ ...AT_ONCE, outcomes: ['failed', 'stored'], forms: 2 })
    },
  )
})

describe('an odd form', () => {
  it('fault 6: that has expired is replaced before anything is sent', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', kind: 'form', lifetimeMs: -SECOND, times: 1 })

    await outlet.deliver()

    expect(outlet.story()).toEqual({ ...AT_ONCE, forms: 2 })
  })

  it('fault 6: that expires in 2 s is replaced, too', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', kind: 'form', lifetimeMs: 2 * SECOND, times: 1 })

    await outlet.deliver()

    expect(outlet.story()).toEqual({ ...AT_ONCE, forms: 2 })
  })

  it.each(['whole-seconds', 'with-newlines'] as const)(
    'fault 6: with a policy %s is used as it is',
    async (policy) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'service', kind: 'form', policy })

      await outlet.deliver()

      expect(outlet.story()).toEqual(AT_ONCE)
    },
  )

  it.each(['not-base64', 'not-json', 'no-expiration'] as const)(
    'fault 6: with a policy that is %s fails by storage’s judgement, after an hour of it',
    async (policy) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'service', kind: 'form', policy })

      const version = await outlet.deliver(undefined, 3 * HOUR)

      expect(outlet.story()).toMatchObject({ state: 'failed', writes: [] })
      expect(new Set(outlet.outcomes())).toEqual(new Set(['refused']))
      expect(version.hint).toContain('service operator')
    },
  )

  it('fault 6: with the key of another one overwrites that object, and both attempts say so', async () => {
    await using outlet = await Outlet.open({ concurrency: 1 })
    outlet.fault({ at: 'service', kind: 'form', sameKey: true })
    for (const name of ['a.xml', 'b.xml']) await outlet.take(name)

    await outlet.run()

    expect(outlet.writes()).toEqual([2])
    expect(outlet.attempts(1)[0]?.key).toBe(outlet.attempts(2)[0]?.key)
  })
})
