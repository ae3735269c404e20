// Forms that storage accepts or refuses. The sandbox compares every upload with the bytes of the form that it issued,
// so the tests change the form on its way.

import { describe, expect, it } from 'vitest'
import { HOUR, MINUTE } from '../../../src/lib/clock.ts'
import type { UploadForm } from '../../../src/service/port.ts'
import { largeFeed, Outlet } from '../../helpers/outlet.ts'

type Fields = UploadForm['fields']
const changed = (change: (fields: Fields) => Fields) => (form: UploadForm) => ({
  ...form,
  fields: change(form.fields),
})
const EXPIRED = 'Invalid according to Policy: Policy expired.'

describe('a form', () => {
  it('is sent as it was issued, in every byte', async () => {
    await using outlet = await Outlet.open()

    await outlet.deliver()

    expect(outlet.story()).toEqual({
      ...{ state: 'uploaded', outcomes: ['stored'], forms: 1, posts: 1, writes: [1] },
    })
  })

  it.each([
    ['a field too much', changed((fields) => [...fields, ['acl', 'private']]), 'AccessDenied'],
    [
      'another key',
      changed((fields) => fields.map(([name, value]) => [name, name === 'key' ? 'k' : value])),
      'AccessDenied',
    ],
    [
      'another policy',
      changed((fields) =>
        fields.map(([name, value]) => [name, name === 'policy' ? `${value}x` : value]),
      ),
      'SignatureDoesNotMatch',
    ],
  ] as const)(
    'that storage refuses for %s is replaced for each post; after few posts the feed fails, with a hint',
    async (...row) => {
      const [, form, code] = row
      await using outlet = await Outlet.open({ form })

      const version = await outlet.deliver(undefined, 3 * HOUR)

      expect(outlet.story()).toMatchObject({ state: 'failed', writes: [] })
      expect(new Set(outlet.attempts().map((attempt) => attempt.code))).toEqual(new Set([code]))
      expect(new Set(outlet.outcomes())).toEqual(new Set(['refused']))
      expect(outlet.requests('storage').length).toBeLessThan(60)
      expect(outlet.requests('service').length).toBe(outlet.requests('storage').length)
      expect(version.reason).toContain(code)
      expect(version.hint).toMatch(/report this|ask the service operator/)
    },
  )

  it.each(['fields', 'middle', 'end'] as const)(
    'that has expired (told at: %s) is replaced, and the second form stores the file',
    async (point) => {
      await using outlet = await Outlet.open()
      outlet.fault({
        ...{ at: 'storage', kind: 's3-error', code: 'AccessDenied', message: EXPIRED },
        ...{ point, times: 1 },
      })

      await outlet.deliver(largeFeed(4_000_000))

      expect(outlet.story()).toEqual({
        ...{ state: 'uploaded', outcomes: ['failed', 'stored'], forms: 2, posts: 2, writes: [1] },
      })
      expect(outlet.attempts()[0]).toMatchObject({ code: 'policy-expired', status: 403 })
    },
  )

  it.each(['ExpiredToken', 'InvalidAccessKeyId'] as const)(
    'that storage refuses twice for %s is replaced twice',
    async (code) => {
      await using outlet = await Outlet.open()
      outlet.fault({ at: 'storage', kind: 's3-error', code, times: 2 })

      await outlet.deliver()

      expect(outlet.story()).toEqual({
        ...{ state: 'uploaded', outcomes: ['failed', 'failed', 'stored'] },
        ...{ forms: 3, posts: 3, writes: [1] },
      })
    },
  )

  it.each(['fields', 'middle', 'end'] as const)(
    'that the file is too large for (told at: %s) fails the version with both sizes',
    async (point) => {
      await using outlet = await Outlet.open()
      const details = { ProposedSize: '4000000', MaxSizeAllowed: '1000000' }
      outlet.fault({ at: 'storage', kind: 's3-error', code: 'EntityTooLarge', details, point })

      const version = await outlet.deliver(largeFeed(4_000_000), 10 * MINUTE)

      expect(outlet.story()).toMatchObject({ state: 'failed', forms: 1, posts: 1, writes: [] })
      expect(version.reason).toContain('the file has 4000000 bytes, at most 1000000 are allowed')
    },
  )
})

describe('a form whose limit storage does not keep', () => {
  it.each(['MaxMessageLengthExceeded', 'EntityTooLarge', 'EntityTooSmall'] as const)(
    'is at fault, not the file, and its sizes are named: %s',
    async (code) => {
      await using outlet = await Outlet.open({ sandbox: { contentLengthRange: [1, 10 ** 10] } })
      outlet.fault({ at: 'storage', kind: 's3-error', code })

      const version = await outlet.deliver()

      expect(version).toMatchObject({
        ...{ state: 'failed', attempts: 1, reasonCode: code },
        reason: `storage answered 400 ${code} (the form allows 1 to 10000000000 bytes)`,
        hint: expect.stringMatching(
          /^the form is at fault, not the file: ask the service operator/,
        ),
      })
    },
  )

  it('is not at fault if it names no limit: the hint is to export a smaller file', async () => {
    const withoutPolicy = changed((fields) => fields.filter(([name]) => name !== 'policy'))
    await using outlet = await Outlet.open({ form: withoutPolicy })
    outlet.fault({
      ...{ at: 'storage', kind: 'answer', status: 400, point: 'headers' },
      body: '<?xml version="1.0"?><Error><Code>MaxMessageLengthExceeded</Code></Error>',
    })

    const version = await outlet.deliver()

    expect(version).toMatchObject({
      state: 'failed',
      hint: expect.stringMatching(/^export a smaller file/),
    })
  })
})

describe('a chain of forms', () => {
  it('whose first form always fails ends with the second form', async () => {
    await using outlet = await Outlet.open({ concurrency: 1 })
    outlet.fault({
      ...{ at: 'storage', kind: 's3-error', code: 'AccessDenied', message: EXPIRED, every: 2 },
    })
    // One after the other, because a feed whose attempt has failed lets the others go first.
    for (const name of ['a.xml', 'b.xml', 'c.xml']) {
      await outlet.take(name)
      await outlet.run()
    }

    expect([1, 2, 3].map((id) => outlet.outcomes(id))).toEqual(Array(3).fill(['failed', 'stored']))
    expect(outlet.writes()).toEqual([1, 1, 1])
  })

  it('that always arrive expired is not asked for often, gives a hint, and recovers automatically', async () => {
    await using outlet = await Outlet.open()
    outlet.fault({ at: 'service', kind: 'form', lifetimeMs: -1 })

    const waiting = await outlet.deliver(undefined, 30 * MINUTE)
    const asked = outlet.requests('service').length
    outlet.sandbox.faults.clear()
    await outlet.run(30 * MINUTE)

    expect(waiting).toMatchObject({ state: 'queued', hint: expect.stringContaining('timedatectl') })
    // Each delivery takes three forms, and the deliveries wait from half a minute to a quarter of an hour.
    expect(asked).toBeLessThan(60)
    expect(outlet.version().state).toBe('uploaded')
    expect(outlet.writes()).toEqual([1])
  })
})
