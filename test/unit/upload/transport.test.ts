// What a network and an odd server can do to an upload, beyond the rows of the decision table.

import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { HOUR } from '../../../src/lib/clock.ts'
import { proxyServer } from '../../helpers/lib/http-servers.ts'
import { harness, keysSeen } from '../../helpers/upload/harness.ts'

const FEED = '<jobs><job id="1"/></jobs>'

describe('an upload', () => {
  it.each([100, 102, 103] as const)('is stored in spite of an interim %i', async (status) => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'storage', kind: 'interim', status })

    expect(await h.deliver(FEED)).toMatchObject({ kind: 'stored' })
    expect(h.attempts).toHaveLength(1)
  })

  it.each(['chunked', 'gzip', 'byte-by-byte'] as const)(
    'is stored when the answer travels %s',
    async (how) => {
      const h = await harness()
      h.sandbox.faults.add({ at: 'storage', kind: 'transfer', how })

      expect(await h.deliver(FEED)).toMatchObject({ kind: 'stored', etagVerified: true })
    },
  )

  it.each(['garbage', 'oversized-headers'] as const)(
    'is sent again when the answer is %s',
    async (what) => {
      const h = await harness()
      h.sandbox.faults.add({ at: 'storage', kind: 'raw', what, times: 1 })

      expect(await h.deliver(FEED)).toMatchObject({ kind: 'stored' })
      expect(h.attempts[0]).toMatchObject({ outcome: 'unknown', code: 'bad-http' })
    },
  )

  it.each(['bom', 'namespace', 'cdata', 'huge'] as const)(
    'is judged by the code of an error document with %s',
    async (style) => {
      const h = await harness()
      h.sandbox.faults.add({ at: 'storage', kind: 's3-error', code: 'EntityTooLarge', style })

      const result = await h.deliver(FEED)

      expect(result).toMatchObject({ kind: 'refused', failure: { code: 'EntityTooLarge' } })
    },
  )

  it('expands no entity of an error document', async () => {
    const h = await harness()
    h.sandbox.faults.add({
      ...{ at: 'storage', kind: 's3-error', code: 'AccessDenied', style: 'entities' },
    })

    const result = await h.deliver(FEED)

    expect(result).toMatchObject({ kind: 'later', failure: { code: 'http-403' } })
  })

  it('works when storage closes every connection', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'storage', kind: 'connection-close' })

    expect(await h.deliver(FEED)).toMatchObject({ kind: 'stored' })
    expect(await h.deliver(FEED)).toMatchObject({ kind: 'stored' })
  })

  it('arrives when the kept connection ends at the moment of its reuse', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'storage', kind: 'drop', point: 'reuse', how: 'rst' })
    const results = []

    for (let i = 0; i < 4; i++) results.push((await h.deliver(FEED)).kind)

    expect(results).toEqual(['stored', 'stored', 'stored', 'stored'])
  })

  it('reports the bytes of the file that went out, never those around it', async () => {
    const h = await harness()
    const content = Buffer.alloc(700_000, 'z')
    const seen: number[] = []

    await h.deliver(content, { progress: (sent) => seen.push(sent) })

    expect(seen).toEqual([0, 262_144, 524_288, 700_000, 700_000])
    expect(h.attempts).toMatchObject([{ bytesSent: 700_000 }])
  })

  it('stays under the rate that all uploads share', async () => {
    const h = await harness({ maxRate: 20_000 })
    const content = Buffer.alloc(1_000_000, 'z')

    await Promise.all([h.deliver(content), h.deliver(content)])

    // The test's clock does not wait: each wait is as long as all bytes before it are ahead of time, 100 s at
    // the end, less the seconds that a busy machine needs; without a rate there is none.
    expect(Math.max(...h.clock.waits)).toBeGreaterThan(10_000)
    expect(h.sandbox.objects()).toHaveLength(2)
  })

  it('carries no header of the service to storage, and each field once', async () => {
    const h = await harness()

    await h.deliver(FEED)

    // The sandbox refuses both, as storage does.
    expect(h.sandbox.requests().map(({ status }) => status)).toEqual([200, 201])
  })

  it('passes on fields that it does not know, byte for byte', async () => {
    const h = await harness()
    h.sandbox.faults.add({ at: 'service', kind: 'json', variant: 'more-fields' })

    // With a newline, quotes and umlauts; the sandbox refuses a form that is not as it was issued.
    expect(await h.deliver(FEED)).toMatchObject({ kind: 'stored' })
  })

  it.each(['not-base64', 'not-json', 'no-expiration', 'whole-seconds', 'with-newlines'] as const)(
    'leaves the judgement of a policy that is %s to storage',
    async (policy) => {
      const h = await harness()
      h.sandbox.faults.add({ at: 'service', kind: 'form', policy })

      const result = await h.deliver(FEED, { failingMs: HOUR })

      expect(keysSeen(h.sandbox).length).toBeGreaterThan(0)
      const well = policy === 'whole-seconds' || policy === 'with-newlines'
      expect(result.kind).toBe(well ? 'stored' : 'refused')
    },
  )

  it('reaches storage through an http proxy of the environment', async () => {
    const proxy = await proxyServer()
    const h = await harness({ env: { HTTP_PROXY: proxy.url.href } })

    const result = await h.deliver(FEED)

    expect(result.kind).toBe('stored')
    expect(proxy.seen).toHaveLength(2)
    expect(await readFile(h.sandbox.objects()[0]?.path ?? '', 'utf8')).toBe(FEED)
  })
})
