// One test for each row of docs/decision-table.md that a network can bring about:
// what storage answers.

import { describe, expect, it } from 'vitest'
import { HOUR } from '../../../src/lib/clock.ts'
import {
  distinctKeys,
  formsAsked,
  harness,
  keysSeen,
  outcomes,
} from '../../helpers/upload/harness.ts'

const FEED = '<jobs><job id="1"/></jobs>'
const BIG = Buffer.alloc(8 * 1024 * 1024, 'x')

describe('success', () => {
  it('row 15: stands when the body of the answer is cut', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'storage', kind: 'success', body: 'truncated' })

    const result = await h.deliver(FEED)

    expect(result).toMatchObject({ kind: 'stored', warning: null })
  })

  it('row 16: is another 2xx than the one named, with a warning', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'storage', kind: 'success', status: 204, body: 'none' })

    const result = await h.deliver(FEED)

    expect(result).toMatchObject({ kind: 'stored', warning: expect.stringContaining('204') })
    expect(keysSeen(h.sandbox)).toHaveLength(1)
  })

  it('row 28: is not a login page that says 200', async () => {
    const h = await harness()
    const body = '<!DOCTYPE html><title>Sign in</title>'
    h.sandbox.faults.add({ at: 'storage', kind: 'answer', status: 200, body, times: 1 })

    const result = await h.deliver(FEED)

    expect(result.kind).toBe('stored')
    expect(outcomes(h)).toEqual(['failed', 'stored'])
    expect(h.clock.waits).toEqual([30_000])
    expect(distinctKeys(h)).toBe(2)
  })

  it.each([
    ['opaque', 'none'],
    ['missing', 'xml'],
  ] as const)(
    'stands unverified when the ETag is %s and the document is %s',
    async (etag, body) => {
      const h = await harness()
      h.sandbox.faults.add({ at: 'storage', kind: 'success', etag, body })

      expect(await h.deliver(FEED)).toMatchObject({ kind: 'stored', etagVerified: false })
    },
  )

  it.each(['weak', 'unquoted'] as const)('is verified when the ETag is %s', async (etag) => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'storage', kind: 'success', etag })

    expect(await h.deliver(FEED)).toMatchObject({ kind: 'stored', etagVerified: true })
  })
})

describe('a refusal of storage', () => {
  it('row 17: "policy expired" gets a new form once, then waits for later', async () => {
    const h = await harness()
    h.sandbox.faults.add({
      ...{ at: 'storage', kind: 's3-error', code: 'AccessDenied' },
      message: 'Invalid according to Policy: Policy expired.',
    })

    const result = await h.deliver(FEED)

    expect(result).toMatchObject({ kind: 'later', failure: { code: 'policy-expired' } })
    expect(distinctKeys(h)).toBe(2)
    expect(h.attempts).toHaveLength(2)
  })

  it.each(['ExpiredToken', 'InvalidAccessKeyId'] as const)(
    'row 18: %s gets two new forms',
    async (code) => {
      const h = await harness()
      h.sandbox.faults.add({ at: 'storage', kind: 's3-error', code, times: 2 })

      const result = await h.deliver(FEED)

      expect(result.kind).toBe('stored')
      expect(distinctKeys(h)).toBe(3)
    },
  )

  it.each(['SignatureDoesNotMatch', 'NoSuchBucket', 'InvalidPolicyDocument'] as const)(
    'row 19: %s gets one new form, then ends as broken',
    async (code) => {
      const h = await harness()
      h.sandbox.faults.add({ at: 'storage', kind: 's3-error', code })

      const result = await h.deliver(FEED, { failingMs: HOUR })

      expect(result).toMatchObject({ kind: 'refused', failure: { class: 'broken', code } })
      expect(distinctKeys(h)).toBe(2)
      expect(outcomes(h)).toEqual(['refused', 'refused'])
    },
  )

  it('row 20: "Extra input fields" is our bug and is not sent again', async () => {
    const h = await harness()
    h.sandbox.faults.add({
      ...{ at: 'storage', kind: 's3-error', code: 'AccessDenied' },
      message: 'Invalid according to Policy: Extra input fields: content-md5',
    })

    const result = await h.deliver(FEED, { failingMs: HOUR })

    expect(result).toMatchObject({ kind: 'refused', failure: { class: 'broken' } })
    expect(h.attempts).toHaveLength(1)
  })

  it.each(['drain', 'destroy', 'hold'] as const)(
    'row 21: EntityTooLarge in the middle of the body (%s) ends the file, with the sizes',
    async (ending) => {
      const h = await harness()
      h.sandbox.faults.add({
        ...{ at: 'storage', kind: 's3-error', code: 'EntityTooLarge', point: 'middle', ending },
        details: { ProposedSize: '8388608', MaxSizeAllowed: '1000' },
      })

      const result = await h.deliver(BIG)

      expect(result).toMatchObject({
        kind: 'refused',
        failure: { class: 'file', code: 'EntityTooLarge', reason: expect.stringContaining('1000') },
      })
      expect(outcomes(h).at(-1)).toBe('refused')
      // What is destroyed may take its answer with it; then it is asked for again.
      if (ending !== 'destroy') expect(h.attempts).toHaveLength(1)
    },
  )

  it('row 22: RequestTimeout goes twice with the same form, then with a new one', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'storage', kind: 's3-error', code: 'RequestTimeout', times: 3 })

    const result = await h.deliver(FEED)

    expect(result.kind).toBe('stored')
    expect(distinctKeys(h)).toBe(2)
  })

  it('row 23: another checksum goes again once, once more with a new form, then ends', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'storage', kind: 'success', etag: 'wrong' })

    const result = await h.deliver(FEED)

    expect(result).toMatchObject({ kind: 'refused', failure: { code: 'etag-mismatch' } })
    expect(distinctKeys(h)).toBe(2)
    expect(keysSeen(h.sandbox)).toHaveLength(4)
  })

  it('row 23: another checksum ends at once when it was our copy that changed', async () => {
    const h = await harness()

    const result = await h.deliver(FEED, { md5: '0'.repeat(32) })

    expect(result).toMatchObject({ kind: 'refused', failure: { code: 'spool-changed' } })
    expect(h.attempts).toHaveLength(1)
  })

  it.each([500, 502, 504, 408])('row 24: %i goes again with the same form', async (status) => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'storage', kind: 'answer', status, times: 2 })

    const result = await h.deliver(FEED)

    expect(result.kind).toBe('stored')
    expect(formsAsked(h)).toBe(1)
  })

  it('row 25: SlowDown goes again after Retry-After, with the same form', async () => {
    const h = await harness()
    h.sandbox.faults.add({
      ...{
        at: 'storage',
        kind: 's3-error',
        code: 'SlowDown',
        retryAfter: { dateInMs: 30_000 },
        times: 1,
      },
    })

    const result = await h.deliver(FEED)

    expect(result.kind).toBe('stored')
    expect(formsAsked(h)).toBe(1)
    expect(h.clock.waits[0]).toBeGreaterThanOrEqual(28_000)
  })

  it('row 26: a move for good gets one new form, then ends', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'storage', kind: 's3-error', code: 'PermanentRedirect' })

    const result = await h.deliver(FEED, { failingMs: HOUR })

    expect(result).toMatchObject({ kind: 'refused', failure: { class: 'broken' } })
    expect(formsAsked(h)).toBe(2)
  })

  it('row 27: one redirect on the same host is followed, with the whole body', async () => {
    const h = await harness()
    const fault = { at: 'storage', kind: 'redirect', status: 307, times: 1 } as const
    h.sandbox.faults.add({ ...fault, location: `${h.sandbox.storageUrl}` })

    const result = await h.deliver(FEED)

    expect(result.kind).toBe('stored')
    expect(h.attempts).toHaveLength(1)
    expect(formsAsked(h)).toBe(1)
  })

  it.each(['http://example.com/feeds', 'https://127.0.0.1.example.com/', 'loop'])(
    'row 27: a redirect to %s is not followed; a new form once, then the end',
    async (location) => {
      const h = await harness()
      h.sandbox.faults.add({ at: 'storage', kind: 'redirect', status: 307, location })

      const result = await h.deliver(FEED, { failingMs: HOUR })

      expect(result).toMatchObject({
        kind: 'refused',
        failure: { class: 'broken', code: 'http-307' },
      })
      expect(formsAsked(h)).toBe(2)
    },
  )

  it('row 28: a 403 that is no answer of storage gets a new form after 30 s, then later', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'storage', kind: 'answer', status: 403, body: 'blocked' })

    const result = await h.deliver(FEED)

    expect(result).toMatchObject({ kind: 'later', failure: { class: 'transient' } })
    expect(h.clock.waits).toEqual([30_000])
    expect(formsAsked(h)).toBe(2)
  })
})
