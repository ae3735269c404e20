// Answers of the service to a request for a form: the result for the feed, and the number of requests. Tests beside
// src/service check the meaning of single answers.

import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND, systemClock } from '../../../src/lib/clock.ts'
import { Outlet } from '../../helpers/outlet.ts'
import { waitForRequest } from '../../helpers/sandbox/waiting.ts'

/** The story of a version that the first post of the first form stored. */
const AT_ONCE = { state: 'uploaded', outcomes: ['stored'], forms: 1, posts: 1, writes: [1] }

it('a refused signature is reported once and stops every feed until a try after 5 minutes succeeds', async () => {
  await using outlet = await Outlet.open({ concurrency: 1 })
  outlet.fault({ at: 'service', kind: 'signature-mismatch', times: 2 })
  for (const name of ['a.xml', 'b.xml', 'c.xml']) await outlet.take(name)

  await outlet.run(4 * MINUTE)
  const paused = [1, 2, 3].map((id) => outlet.version(id).attempts)
  const askedWhilePaused = outlet.requests('service').length
  await outlet.run(30 * MINUTE)

  expect(paused).toEqual([1, 0, 0])
  expect(askedWhilePaused).toBe(1)
  expect(outlet.gaps('service')[0]).toBeGreaterThanOrEqual(5 * MINUTE)
  expect([1, 2, 3].flatMap((id) => outlet.outcomes(id)).toSorted()).toEqual([
    ...['refused', 'refused', 'stored', 'stored', 'stored'],
  ])
  expect(outlet.writes()).toEqual([1, 1, 1])
  // The refusal is reported once while it lasts.
  expect(outlet.reported).toHaveLength(1)
  expect(outlet.reported[0]).toContain('401')
})

describe('Retry-After of the service', () => {
  it.each([
    [429, '7', 7 * SECOND, 30 * SECOND],
    [503, { dateInMs: 9 * SECOND }, 8 * SECOND, 30 * SECOND],
    [429, { dateInMs: -HOUR }, 0, 20 * SECOND],
    [503, '999999', HOUR, HOUR + MINUTE],
  ])('%i with "%o" is obeyed', async (status, retryAfter, least, most) => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', kind: 'answer', status, retryAfter, times: 1 })

    await outlet.deliver(undefined, 2 * HOUR)

    const [gap = 0] = outlet.gaps('service')
    expect(outlet.story()).toEqual({ ...AT_ONCE, outcomes: ['failed', 'stored'], forms: 2 })
    expect(gap).toBeGreaterThanOrEqual(least)
    expect(gap).toBeLessThan(most)
  })
})

describe('an answer that is not a form', () => {
  it.each([500, 502, 504])('%i with a web page is followed by another request', async (status) => {
    await using outlet = await Outlet.open()
    const body = '<html><body>Bad gateway</body></html>'
    outlet.fault({ at: 'service', kind: 'answer', status, body, times: 2 })

    await outlet.deliver()

    expect(outlet.story()).toEqual({
      ...{ ...AT_ONCE, outcomes: ['failed', 'failed', 'stored'], forms: 3 },
    })
  })

  it('200 with a web page is not a form, and the reason says so', async () => {
    await using outlet = await Outlet.open()
    const body = '<!doctype html><title>Log in</title>'
    outlet.fault({ at: 'service', kind: 'answer', status: 200, body })

    const version = await outlet.deliver()

    expect(version).toMatchObject({
      ...{ state: 'queued', reason: expect.stringContaining('web page instead of a form') },
    })
    expect(outlet.story()).toMatchObject({ posts: 0, writes: [] })
  })

  it('200 with cut JSON is followed by another request', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', kind: 'json', variant: 'truncated', times: 1 })

    await outlet.deliver()

    expect(outlet.story()).toEqual({ ...AT_ONCE, outcomes: ['failed', 'stored'], forms: 2 })
    expect(outlet.attempts()[0]).toMatchObject({ status: 200, code: 'bad-form' })
  })

  it('unknown fields go to storage in order, with every odd byte', async () => {
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
  ] as const)('%o is waited for', async (slow) => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', ...slow })

    await outlet.deliver()

    expect(outlet.story()).toEqual(AT_ONCE)
  })

  it('an answer that is not HTTP is named as such, with what to check', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', kind: 'raw', what: 'folded-header' })

    await outlet.take('jobs.xml')
    await outlet.run(0)

    expect(outlet.version()).toMatchObject({
      ...{ state: 'queued', hint: expect.stringContaining('service.baseUrl') },
      reason: expect.stringMatching(
        /^the service answered, and the answer cannot be read \(Unexpected/,
      ),
    })
  })

  it('an answer that never comes is given up after four minutes and requested again', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', kind: 'slow', never: true, times: 1 })
    const limits: number[] = []
    outlet.clock.after = (ms, run) => {
      if (ms !== 4 * MINUTE || limits.push(ms) > 1) return systemClock.after(ms, run)
      // End the time as soon as the service has read the request.
      void waitForRequest(outlet.sandbox, ({ faults }) => faults.includes('slow')).then(run)
      return { [Symbol.dispose]: () => {} }
    }

    await outlet.deliver()

    expect(outlet.story()).toEqual({ ...AT_ONCE, outcomes: ['failed', 'stored'], forms: 2 })
    expect(outlet.attempts()[0]?.code).toBe('answer-timeout')
  })

  it.each(['fin', 'rst'] as const)(
    'a connection that ends (%s) before the answer is opened again',
    async (how) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'service', kind: 'drop', point: 'headers', how, times: 1 })

      await outlet.deliver()

      expect(outlet.story()).toEqual({ ...AT_ONCE, outcomes: ['failed', 'stored'], forms: 2 })
    },
  )
})

describe('an odd form', () => {
  it.each([-SECOND, 2 * SECOND])(
    'that expires in %i ms is replaced before anything is sent',
    async (lifetimeMs) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'service', kind: 'form', lifetimeMs, times: 1 })

      await outlet.deliver()

      expect(outlet.story()).toEqual({ ...AT_ONCE, forms: 2 })
    },
  )

  it('that expires in 4 s like the form before it is used anyway', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', kind: 'form', lifetimeMs: 4 * SECOND })

    await outlet.deliver()

    expect(outlet.story()).toEqual({ ...AT_ONCE, forms: 2 })
  })

  it.each(['whole-seconds', 'with-newlines'] as const)(
    'with a policy %s is used as it is',
    async (policy) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'service', kind: 'form', policy })

      await outlet.deliver()

      expect(outlet.story()).toEqual(AT_ONCE)
    },
  )

  it('with a policy that is not JSON is refused by storage until the version fails, with a hint', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', kind: 'form', policy: 'not-json' })

    const version = await outlet.deliver(undefined, 3 * HOUR)

    expect(outlet.story()).toMatchObject({ state: 'failed', writes: [] })
    expect(new Set(outlet.outcomes())).toEqual(new Set(['refused']))
    expect(version.hint).toContain('service operator')
  })

  it('with the key of another form overwrites that object, and both attempts name the key', async () => {
    await using outlet = await Outlet.open({ concurrency: 1 })
    outlet.fault({ at: 'service', kind: 'form', sameKey: true })
    for (const name of ['a.xml', 'b.xml']) await outlet.take(name)

    await outlet.run()

    expect(outlet.writes()).toEqual([2])
    expect(outlet.attempts(1)[0]?.key).toBe(outlet.attempts(2)[0]?.key)
  })
})
