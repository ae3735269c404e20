// Answers of storage: success, errors and redirects.

import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { lettersOf } from '../../helpers/feed.ts'
import { Outlet } from '../../helpers/outlet.ts'

const AT_ONCE = { state: 'uploaded', outcomes: ['stored'], forms: 1, posts: 1, writes: [1] }

describe('success', () => {
  it.each(['200', '201', '204'])('is %s if the form says so', async (status) => {
    await using outlet = await Outlet.open({ sandbox: { successStatus: status } })

    const version = await outlet.deliver()

    expect(outlet.story()).toEqual(AT_ONCE)
    expect(version.reason).toBeNull()
    expect(outlet.attempts()[0]?.status).toBe(Number(status))
  })

  it.each([
    ['201', 204],
    ['202', 204],
    ['201', 200],
  ])(
    'with %s in the form and %i in the answer gives a warning and no second upload',
    async (...row) => {
      const [successStatus, status] = row
      await using outlet = await Outlet.open()
      outlet.fault(
        { at: 'service', kind: 'form', successStatus },
        { at: 'storage', kind: 'success', status, body: 'none' },
      )

      const version = await outlet.deliver(undefined, HOUR)

      expect(outlet.story()).toEqual(AT_ONCE)
      expect(version.reason).toBe(
        `storage answered ${status} and the form names ${successStatus}; the file counts as stored`,
      )
    },
  )

  it('is not a login page with 200: the version waits with a hint, and is stored later', async () => {
    await using outlet = await Outlet.open({ sandbox: { successStatus: '200' } })
    const body = '<!doctype html><html><title>Sign in</title></html>'
    outlet.fault({ at: 'storage', kind: 'answer', status: 200, body })

    const version = await outlet.deliver(undefined, 5 * MINUTE)
    const posts = outlet.requests('storage').length
    const outcomes = outlet.outcomes()
    outlet.sandbox.faults.clear()
    await outlet.run(HOUR)

    expect(version).toMatchObject({ state: 'queued', hint: expect.stringContaining('proxy') })
    expect(outcomes).not.toContain('stored')
    expect(posts).toBeLessThan(10)
    expect(outlet.version().state).toBe('uploaded')
  })

  it.each(['truncated', 'cut'] as const)(
    'counts although the XML of the 201 is %s',
    async (body) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'storage', kind: 'success', body })

      await outlet.deliver()

      expect(outlet.story()).toEqual(AT_ONCE)
    },
  )

  it.each([
    [{}, true],
    [{ etag: 'weak' }, true],
    [{ etag: 'unquoted' }, true],
    [{ etag: 'opaque' }, false],
    [{ etag: 'missing' }, false],
    [{ checksum: 'wrong' }, true],
  ] as const)('with %o has its checksum verified: %s', async (answer, verified) => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 'success', ...answer })

    const version = await outlet.deliver()

    expect(outlet.story()).toEqual(AT_ONCE)
    expect(version.etagVerified).toBe(verified)
  })

  it('with the checksum of other bytes does not count, and the file is sent again', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 'success', etag: 'wrong', times: 1 })

    const version = await outlet.deliver()

    expect(version).toMatchObject({ state: 'uploaded', etagVerified: true })
    expect(outlet.attempts()[0]).toMatchObject({ outcome: 'failed', code: 'etag-mismatch' })
    expect(outlet.writes()).toEqual([2])
  })

  it('with the checksum of other bytes each time fails the version after three posts, with a hint', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 'success', etag: 'wrong' })

    const version = await outlet.deliver(undefined, HOUR)

    expect(version).toMatchObject({ state: 'failed', hint: expect.stringContaining('proxy') })
    expect(outlet.story()).toMatchObject({ forms: 1, posts: 3 })
  })
})

describe('an error of storage', () => {
  it('that ends costs no new form and stores nothing twice', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 's3-error', code: 'InternalError', times: 3 })

    await outlet.deliver(undefined, 5 * MINUTE)

    expect(outlet.story()).toEqual({
      ...{ ...AT_ONCE, outcomes: ['failed', 'failed', 'failed', 'stored'], posts: 4 },
    })
  })

  it('that calls three uploads too slow gets the same form again', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 's3-error', code: 'RequestTimeout', times: 3 })

    await outlet.deliver(undefined, 5 * MINUTE)

    expect(outlet.story()).toMatchObject({ state: 'uploaded', forms: 1, posts: 4 })
    expect(
      new Set(
        outlet
          .attempts()
          .slice(0, 3)
          .map(({ key }) => key),
      ).size,
    ).toBe(1)
  })

  it.each([
    [undefined, 100, 19 * SECOND],
    ['20', 20 * SECOND, 40 * SECOND],
    [{ dateInMs: 20 * SECOND }, 19 * SECOND, 40 * SECOND],
    ['300', 300 * SECOND, 330 * SECOND],
  ])('SlowDown with Retry-After %o is obeyed', async (retryAfter, least, most) => {
    await using outlet = await Outlet.open()
    outlet.fault({
      ...{ at: 'storage', kind: 's3-error', code: 'SlowDown', times: 1 },
      ...(retryAfter === undefined ? {} : { retryAfter }),
    })

    await outlet.deliver(undefined, HOUR)

    const [gap = 0] = outlet.gaps('storage')
    expect(outlet.version().state).toBe('uploaded')
    expect(gap).toBeGreaterThanOrEqual(least)
    expect(gap).toBeLessThan(most)
  })

  it('at every second request opens no breaker, and everything is delivered', async () => {
    await using outlet = await Outlet.open({ concurrency: 1 })
    outlet.fault({ at: 'storage', kind: 'answer', status: 500, every: 2 })
    for (let n = 0; n < 6; n++) await outlet.take(`${lettersOf(n)}.xml`)

    await outlet.run(5 * MINUTE)

    expect(outlet.writes()).toEqual([1, 1, 1, 1, 1, 1])
    expect(outlet.requests('storage')).toHaveLength(12)
    expect(outlet.logged).not.toContain('endpoint-down')
  })
})

describe('a redirect', () => {
  it('307 on the same host is followed once, with the whole body', async () => {
    await using outlet = await Outlet.open()
    const location = outlet.sandbox.storageUrl
    outlet.fault({ at: 'storage', kind: 'redirect', status: 307, location, times: 1 })

    await outlet.deliver()

    expect(outlet.story()).toEqual({ ...AT_ONCE, posts: 2 })
  })

  it.each([
    [308, 'https://user:word@127.0.0.1.example/', 'failed'],
    [307, 'loop', 'failed'],
    [303, 'https://elsewhere.example/feeds', 'queued'],
  ])(
    '%i to %s ends as %s, stores nothing, and is shown without a password',
    async (status, location, state) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'storage', kind: 'redirect', status, location })

      const version = await outlet.deliver(undefined, 3 * HOUR)

      expect(outlet.story()).toMatchObject({ state, writes: [] })
      expect(outlet.requests('storage').length).toBeLessThan(120)
      expect(version.reason).not.toContain('word')
    },
  )
})
