import { open, readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it, vi } from 'vitest'
import { proxyServer } from '../../helpers/lib/http-servers.ts'
import { harness } from '../../helpers/upload/harness.ts'

const FEED = '<jobs><job id="1"/></jobs>'

describe('an attempt', () => {
  it('stores the file byte for byte, and returns its address, key, verified checksum and sent bytes', async () => {
    const { sandbox, send } = await harness()

    const result = await send(FEED)

    const [object] = sandbox.objects()
    expect(result).toEqual({
      kind: 'stored',
      fileUrl: expect.stringContaining(object?.key ?? '-'),
      etagVerified: true,
      warning: null,
      tally: { bytesSent: FEED.length, status: 201 },
      key: object?.key,
    })
    expect(await readFile(object?.path ?? '', 'utf8')).toBe(FEED)
  })

  it('runs beside other attempts, each with its own form', async () => {
    const { sandbox, send } = await harness()
    const feeds = Array.from({ length: 12 }, (_, n) => `<jobs><job id="${n}"/></jobs>`)

    const results = await Promise.all(feeds.map((feed) => send(feed)))

    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['stored']))
    const stored = await Promise.all(sandbox.objects().map(({ path }) => readFile(path, 'utf8')))
    expect(stored.sort()).toEqual(feeds.sort())
  })

  it('asks for a form of the account of its feed', async () => {
    const { sandbox, send } = await harness()

    await send(FEED, { account: '43' })

    expect(sandbox.objects()).toMatchObject([{ account: '43' }])
  })

  it('ends as aborted after its signal aborted, and says how much was sent', async () => {
    const { sandbox, send } = await harness()
    const gate = sandbox.faults.add({ at: 'storage', kind: 'gate-at-byte', fileByte: 1 })
    const stop = new AbortController()
    const sent = send(Buffer.alloc(8 * 1024 * 1024), {}, stop.signal)
    await gate.held()

    stop.abort()

    const { kind, tally } = await sent
    expect(kind).toBe('aborted')
    expect(tally.bytesSent).toBeGreaterThan(0)
  })

  it('never uses the form of another account for its next attempt', async () => {
    const { sandbox, send } = await harness()
    sandbox.faults.add({ at: 'storage', kind: 's3-error', code: 'SlowDown', times: 1 })

    await send(FEED, { feed: 'jobs', account: '42' })
    await send(FEED, { feed: 'jobs', account: '43' })

    expect(sandbox.objects()).toMatchObject([{ account: '43' }])
  })

  it('ends as aborted and requests nothing if its signal aborted before', async () => {
    const { sandbox, send } = await harness()

    expect(await send(FEED, {}, AbortSignal.abort())).toMatchObject({ kind: 'aborted' })
    expect(sandbox.requests()).toEqual([])
  })

  it.each(['read', 'stat'] as const)(
    'fails with a condition and stores nothing while a %s of its copy fails, and succeeds after that',
    async (call) => {
      const { directory, sandbox, send } = await harness()
      const content = Buffer.alloc(8 * 1024 * 1024, 'x')
      const file = `${directory}/failing`
      await writeFile(file, content)
      const handle = await open(file)
      await handle.close()
      const failing = vi.spyOn(Object.getPrototypeOf(handle), call).mockImplementation(async () => {
        throw Object.assign(new Error(`EIO: i/o error, ${call}`), { code: 'EIO', errno: -5 })
      })

      const result = await send(content, { file })
      failing.mockRestore()

      const condition = 'state-failing'
      expect(result).toMatchObject({ kind: 'failed', failure: { code: 'EIO', condition } })
      expect(sandbox.objects()).toEqual([])
      expect(await send(content, { file })).toMatchObject({ kind: 'stored' })
    },
  )

  it('reports the sent bytes of the file without the form around it, while it sends and at the end', async () => {
    const h = await harness()
    const content = Buffer.alloc(700_000, 'z')
    const seen: number[] = []

    const { tally } = await h.send(content, { progress: (sent) => seen.push(sent) })

    expect(seen).toEqual([0, 262_144, 524_288, 700_000, 700_000])
    expect(tally.bytesSent).toBe(700_000)
  })

  it('waits for the rate limit that all uploads share, and then stores its file', async () => {
    const h = await harness({ maxRate: 20_000 })
    const content = Buffer.alloc(1_000_000, 'z')

    await Promise.all([h.send(content), h.send(content)])

    // The test's clock never waits. Each wait grows with the bytes before it: up to 100 s for both files together, less
    // the seconds that a busy machine needs. If each upload had a limit of its own, no wait would be longer than 50 s.
    expect(Math.max(...h.clock.waits)).toBeGreaterThan(50_000)
    expect(h.sandbox.objects()).toHaveLength(2)
  })

  it('reaches the service and storage through an http proxy of the environment', async () => {
    const proxy = await proxyServer()
    const h = await harness({ env: { HTTP_PROXY: proxy.url.href } })

    const result = await h.send(FEED)

    expect(result.kind).toBe('stored')
    expect(proxy.seen).toHaveLength(2)
    expect(await readFile(h.sandbox.objects()[0]?.path ?? '', 'utf8')).toBe(FEED)
  })
})
