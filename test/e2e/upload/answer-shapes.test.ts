// Answers of storage in odd shapes that HTTP and XML allow or forbid.

import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { feedOf } from '../../helpers/feed.ts'
import { Outlet } from '../../helpers/outlet.ts'

const AT_ONCE = { state: 'uploaded', outcomes: ['stored'], forms: 1, posts: 1, writes: [1] }

describe('an answer', () => {
  it.each([100, 102, 103] as const)('that comes after an interim %i counts', async (status) => {
    await using outlet = await Outlet.open()
    outlet.fault(
      { at: 'service', kind: 'interim', status },
      { at: 'storage', kind: 'interim', status },
    )

    await outlet.deliver()

    expect(outlet.story()).toEqual(AT_ONCE)
  })

  it('that comes twice counts as the first answer, an error, and the same object is written again', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 'raw', what: 'two-answers', times: 1 })

    await outlet.deliver()

    // Storage stored the file although it answered 500. The same key makes one object.
    expect(outlet.story()).toMatchObject({ outcomes: ['failed', 'stored'], posts: 2, writes: [2] })
    expect(outlet.attempts()[0]?.status).toBe(500)
  })

  it.each(['garbage', 'without-cr', 'both-lengths', 'folded-header', 'oversized-headers'] as const)(
    'that cannot be read (%s) makes the outcome unknown, and the same form stores the file again',
    async (what) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'storage', kind: 'raw', what, times: 1 })

      await outlet.deliver(undefined, 10 * MINUTE)

      expect(outlet.story()).toMatchObject({
        ...{ state: 'uploaded', outcomes: ['unknown', 'stored'], forms: 1, posts: 2, writes: [2] },
      })
      expect(outlet.attempts()[0]?.code).toBe('unreadable-answer')
    },
  )

  it.each(['without-cr', 'both-lengths', 'folded-header', 'oversized-headers'] as const)(
    'that cannot be read (%s) fails the version the third time, with reason and hint; a retry is one attempt',
    async (what) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'storage', kind: 'raw', what })

      await outlet.deliver(undefined, 24 * HOUR)
      const version = outlet.version()
      outlet.carryOut('retry', 1)
      await outlet.run(24 * HOUR)

      expect(version).toMatchObject({
        ...{ state: 'failed', reasonCode: 'unreadable-answer', attempts: 3 },
        reason: expect.stringMatching(/^storage answered, and the answer cannot be read \(.+\)$/),
        hint: expect.stringMatching(/whether the file is there/),
      })
      expect(outlet.story()).toMatchObject({ state: 'failed', forms: 2, posts: 4 })
    },
  )

  it('that cannot be read fails each version after three posts also if all feeds get such answers', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 'raw', what: 'without-cr' })
    for (const name of ['a', 'b', 'c', 'd', 'e']) await outlet.take(`${name}.xml`, feedOf(3, name))

    await outlet.run(24 * HOUR)

    expect(outlet.history.list({}).map(({ state }) => state)).toEqual(Array(5).fill('failed'))
    expect(outlet.requests('storage')).toHaveLength(15)
  })

  it.each([20, 250])('with %i KiB of cookies counts', async (kib) => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 'raw', what: 'oversized-headers', bytes: kib * 1024 })

    await outlet.deliver()

    expect(outlet.story()).toEqual(AT_ONCE)
  })

  it.each(['chunked', 'gzip', 'byte-by-byte'] as const)(
    'that is sent %s counts, with its checksum',
    async (how) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'storage', kind: 'transfer', how })

      await outlet.deliver()

      expect(outlet.story()).toEqual(AT_ONCE)
      expect(outlet.version().etagVerified).toBe(true)
    },
  )

  it.each(['chunked', 'gzip', 'byte-by-byte'] as const)(
    'that refuses and is sent %s is judged by its code, and the hint blames the form',
    async (how) => {
      await using outlet = await Outlet.open()
      outlet.fault(
        { at: 'storage', kind: 's3-error', code: 'EntityTooSmall' },
        { at: 'storage', kind: 'transfer', how },
      )

      await outlet.deliver(undefined, 10 * MINUTE)

      expect(outlet.story()).toMatchObject({ state: 'failed', outcomes: ['refused'], posts: 1 })
      expect(outlet.attempts()[0]?.code).toBe('EntityTooSmall')
      expect(outlet.version().hint).toMatch(/^the form is at fault, not the file: /)
    },
  )

  it.each(['bom', 'namespace', 'cdata', 'huge'] as const)(
    'that refuses in XML with %s is judged by its code',
    async (style) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'storage', kind: 's3-error', code: 'EntityTooSmall', style })

      await outlet.deliver(undefined, 10 * MINUTE)

      expect(outlet.story()).toMatchObject({ state: 'failed', outcomes: ['refused'], posts: 1 })
      expect(outlet.attempts()[0]?.code).toBe('EntityTooSmall')
    },
  )

  it('with exploding entities is not expanded, and memory does not grow', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'storage', kind: 's3-error', code: 'AccessDenied', style: 'entities' })
    const before = process.memoryUsage().rss

    const version = await outlet.deliver(undefined, 40 * SECOND)

    expect(version).toMatchObject({ state: 'queued', reason: 'storage answered 403' })
    expect(process.memoryUsage().rss - before).toBeLessThan(2 ** 30)
  })
})
