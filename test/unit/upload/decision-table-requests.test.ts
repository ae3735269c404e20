// One test for each row of docs/decision-table.md that a network can bring about:
// the form, the connection and our own side.

import { open, truncate, writeFile } from 'node:fs/promises'
import { describe, expect, it, vi } from 'vitest'
import { HOUR } from '../../../src/lib/clock.ts'
import {
  codes,
  distinctKeys,
  formsAsked,
  harness,
  keysSeen,
  outcomes,
} from '../../helpers/upload/harness.ts'

const FEED = '<jobs><job id="1"/></jobs>'
const BIG = Buffer.alloc(8 * 1024 * 1024, 'x')

describe('asking for a form', () => {
  it('row 1: asks again when the connection breaks, at most three times, then later', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'service', kind: 'refuse', how: 'rst' })

    const result = await h.deliver(FEED)

    expect(result).toMatchObject({ kind: 'later', failure: { class: 'transient' } })
    expect(outcomes(h)).toEqual(['failed', 'failed', 'failed'])
    expect(h.clock.waits).toHaveLength(2)
  })

  it('row 3: asks again after a 502 with a web page', async () => {
    const h = await harness()
    const body = '<html><title>Bad gateway</title></html>'
    h.sandbox.faults.add({ at: 'service', kind: 'answer', status: 502, body, times: 1 })

    const result = await h.deliver(FEED)

    expect(result.kind).toBe('stored')
    expect(codes(h)).toEqual(['http-502', null])
  })

  it.each(['truncated', 'invalid', 'empty', 'empty-object', 'no-url', 'no-key'] as const)(
    'row 3: asks again when the form is %s',
    async (variant) => {
      const h = await harness()
      h.sandbox.faults.add({ at: 'service', kind: 'json', variant, times: 1 })

      const result = await h.deliver(FEED)

      expect(result.kind).toBe('stored')
      expect(h.attempts[0]).toMatchObject({ outcome: 'failed', status: 200, code: 'bad-form' })
    },
  )

  it('row 4: waits as long as Retry-After says when the service is busy', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'service', kind: 'answer', status: 429, retryAfter: '40', times: 1 })

    const result = await h.deliver(FEED)

    expect(result.kind).toBe('stored')
    expect(h.clock.waits).toEqual([40_000])
  })

  it('row 4: leaves the slot when Retry-After is longer than a minute', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503, retryAfter: '600' })

    const before = h.clock.now()
    const result = await h.deliver(FEED)

    expect(result.kind).toBe('later')
    expect(result.kind === 'later' && result.at - before).toBeGreaterThanOrEqual(599_000)
    expect(h.attempts).toHaveLength(1)
  })

  it('row 5: signs once more with the time of the service when our clock is wrong', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'service', kind: 'date', skewMs: 30 * 60_000 })

    const result = await h.deliver(FEED)

    expect(result.kind).toBe('stored')
    expect(h.attempts).toHaveLength(1)
    expect(h.forms.clockSkewMs()).toBeGreaterThan(29 * 60_000)
  })

  it('row 6: stops everything when the credentials are refused, without a second try', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'service', kind: 'signature-mismatch' })

    const result = await h.deliver(FEED)

    expect(result).toMatchObject({ kind: 'credentials', failure: { status: 401 } })
    expect(formsAsked(h)).toBe(1)
    expect(outcomes(h)).toEqual(['refused'])
  })

  it.each([400, 404, 409, 413, 415, 422])(
    'row 7: waits on %i, and ends after an hour of it',
    async (status) => {
      const h = await harness()
      h.sandbox.faults.add({
        at: 'service',
        kind: 'answer',
        status,
        body: '{"message":"no such route"}',
      })

      const first = await h.deliver(FEED)
      const asked = formsAsked(h)
      const last = await h.deliver(FEED, { failingMs: HOUR })

      const failure = { class: 'broken', reason: expect.stringContaining('no such route') }
      expect(first).toMatchObject({ kind: 'later', failure })
      expect(last).toMatchObject({ kind: 'refused', failure })
      expect(asked).toBe(1)
    },
  )
})

describe('the form at hand', () => {
  it('row 8: is replaced before sending when it expires too soon', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'service', kind: 'form', lifetimeMs: 2000, times: 1 })

    const result = await h.deliver(FEED)

    expect(result.kind).toBe('stored')
    expect(formsAsked(h)).toBe(2)
    expect(keysSeen(h.sandbox)).toHaveLength(1)
  })

  it('row 8: is used all the same when two are short-lived', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'service', kind: 'form', lifetimeMs: 4000 })

    const result = await h.deliver(FEED)

    expect(result.kind).toBe('stored')
    expect(formsAsked(h)).toBe(2)
  })

  it('row 9: refuses a file outside its size range before a byte is sent', async () => {
    const h = await harness({ sandbox: { contentLengthRange: [1, 10] } })

    const result = await h.deliver(FEED)

    expect(result).toMatchObject({
      kind: 'refused',
      failure: { class: 'file', code: 'file-too-large', reason: expect.stringMatching(/26.* 10 /) },
    })
    expect(keysSeen(h.sandbox)).toEqual([])
    expect(outcomes(h)).toEqual(['refused'])
  })
})

describe('a connection to storage that breaks', () => {
  it('row 10/11: is made anew at once, with the same form', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'storage', kind: 'drop', point: 'headers', how: 'fin', times: 1 })

    const result = await h.deliver(BIG)

    expect(result.kind).toBe('stored')
    expect(formsAsked(h)).toBe(1)
  })

  it('row 12: in the body gets two more tries with the form, then a new form', async () => {
    const h = await harness()
    h.sandbox.faults.add({
      at: 'storage',
      kind: 'drop-at-byte',
      fileByte: 65_536,
      how: 'rst',
      times: 3,
    })

    const result = await h.deliver(BIG)

    expect(result.kind).toBe('stored')
    expect(outcomes(h)).toEqual(['failed', 'failed', 'failed', 'stored'])
    expect(distinctKeys(h)).toBe(2)
    expect(new Set(keysSeen(h.sandbox).slice(0, 3)).size).toBe(1)
  })

  it.each(['fin', 'rst'] as const)(
    'row 13: after the last byte (%s) is unknown, and goes again with the same form',
    async (how) => {
      const h = await harness()
      h.sandbox.faults.add({ at: 'storage', kind: 'lose-answer', stored: true, how, times: 1 })

      const result = await h.deliver(FEED)

      expect(result.kind).toBe('stored')
      expect(outcomes(h)).toEqual(['unknown', 'stored'])
      expect(h.sandbox.objects()).toMatchObject([{ writes: 2 }])
    },
  )

  it('row 13: after the last byte in silence is unknown, too', async () => {
    const h = await harness()
    h.sandbox.faults.add({
      at: 'storage',
      kind: 'lose-answer',
      stored: false,
      how: 'silence',
      times: 1,
    })

    const delivered = h.deliver(FEED)
    await h.sandbox.waitForRequest(({ fileBytes }) => fileBytes === FEED.length)
    await h.clock.passUntil(() => h.attempts.length > 0)
    const result = await delivered

    expect(result.kind).toBe('stored')
    expect(h.attempts[0]).toMatchObject({ outcome: 'unknown', bytesSent: FEED.length })
  })

  it('row 14: is given up when storage stops taking bytes', async () => {
    // However many minutes pass until that is detected: the form lives on.
    const h = await harness({ sandbox: { formLifetimeMs: 10 * HOUR } })
    const gate = h.sandbox.faults.add({
      ...{ at: 'storage', kind: 'gate-at-byte', fileByte: 1, times: 1 },
    })

    const delivered = h.deliver(Buffer.alloc(32 * 1024 * 1024))
    await gate.held()
    await h.clock.passUntil(() => h.attempts.length > 0)
    const result = await delivered

    expect(result.kind).toBe('stored')
    expect(h.attempts[0]).toMatchObject({ outcome: 'failed', code: 'stalled' })
    expect(distinctKeys(h)).toBe(1)
  })
})

describe('our own side', () => {
  it('row 29: a spool file of another size is not sent', async () => {
    const h = await harness()

    const result = await h.deliver(FEED, { bytes: FEED.length + 1 })

    expect(result).toMatchObject({
      kind: 'refused',
      failure: { class: 'broken', code: 'spool-changed' },
    })
    expect(keysSeen(h.sandbox)).toEqual([])
  })

  it('row 29: a spool file that shrinks while it is sent ends the version, and storage has nothing', async () => {
    const h = await harness()
    const file = `${h.directory}/shrinking`
    await writeFile(file, BIG)
    let cut: Promise<void> | undefined

    const result = await h.deliver(BIG, {
      file,
      progress: (sent) => {
        if (sent > 0) cut ??= truncate(file, 600_000)
      },
    })

    await cut
    expect(result).toMatchObject({ kind: 'refused', failure: { code: 'spool-changed' } })
    expect(h.sandbox.objects()).toEqual([])
  })

  it('row 29: a spool file that is gone is said to be gone', async () => {
    const h = await harness()

    const result = await h.deliver(FEED, { file: `${h.directory}/none` })

    expect(result).toMatchObject({ kind: 'refused', failure: { code: 'spool-gone' } })
  })

  it.each(['read', 'stat'] as const)(
    'row 29: a spool file of which a %s fails at the moment is sent later',
    async (call) => {
      const h = await harness()
      const file = `${h.directory}/failing`
      await writeFile(file, BIG)
      const handle = await open(file)
      await handle.close()
      const failing = vi.spyOn(Object.getPrototypeOf(handle), call).mockImplementation(async () => {
        throw Object.assign(new Error(`EIO: i/o error, ${call}`), { code: 'EIO', errno: -5 })
      })

      const result = await h.deliver(BIG, { file })
      failing.mockRestore()

      const condition = 'state-failing'
      expect(result).toMatchObject({ kind: 'later', failure: { code: 'EIO', condition } })
      expect(h.sandbox.objects()).toEqual([])
      expect(await h.deliver(BIG, { file })).toMatchObject({ kind: 'stored' })
    },
  )

  it('row 30: an abort in the body ends the attempt as unknown', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'storage', kind: 'gate-at-byte', fileByte: 1 })
    const stop = new AbortController()

    const result = await h.deliver(
      BIG,
      { progress: (sent) => sent > 0 && stop.abort() },
      stop.signal,
    )

    expect(result).toEqual({ kind: 'aborted' })
    expect(outcomes(h)).toEqual(['unknown'])
  })

  it('row 30: an abort before anything was sent makes no attempt', async () => {
    const h = await harness()

    expect(await h.deliver(FEED, {}, AbortSignal.abort())).toEqual({ kind: 'aborted' })
    expect(h.attempts).toEqual([])
  })
})
