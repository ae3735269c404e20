import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { harness } from '../../helpers/upload/harness.ts'

const FEED = '<jobs><job id="1"/></jobs>'

describe('a delivery', () => {
  it('puts the file into storage, byte for byte, and says where it is', async () => {
    const { deliver, sandbox, attempts } = await harness()

    const result = await deliver(FEED)

    const [object] = sandbox.objects()
    expect(result).toEqual({
      kind: 'stored',
      fileUrl: expect.stringContaining(object?.key ?? '-'),
      etagVerified: true,
      warning: null,
    })
    expect(await readFile(object?.path ?? '', 'utf8')).toBe(FEED)
    expect(attempts).toEqual([
      {
        startedWithKey: null,
        outcome: 'stored',
        status: 201,
        code: null,
        bytesSent: FEED.length,
        key: object?.key,
      },
    ])
  })

  it('goes on beside others, each with a form of its own', async () => {
    const { deliver, sandbox } = await harness()
    const feeds = Array.from({ length: 12 }, (_, n) => `<jobs><job id="${n}"/></jobs>`)

    const results = await Promise.all(feeds.map((feed) => deliver(feed)))

    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['stored']))
    const stored = await Promise.all(sandbox.objects().map(({ path }) => readFile(path, 'utf8')))
    expect(stored.sort()).toEqual(feeds.sort())
  })

  it('is for the account of its feed', async () => {
    const { deliver, sandbox } = await harness()

    await deliver(FEED, { account: '43' })

    expect(sandbox.objects()).toMatchObject([{ account: '43' }])
  })

  it('ends as aborted when its signal aborts, once that is on record', async () => {
    const { deliver, sandbox, attempts } = await harness()
    const gate = sandbox.faults.add({ at: 'storage', kind: 'gate-at-byte', fileByte: 1 })
    const stop = new AbortController()
    const delivered = deliver(Buffer.alloc(8 * 1024 * 1024), {}, stop.signal)
    await gate.held()

    stop.abort()

    expect(await delivered).toEqual({ kind: 'aborted' })
    expect(attempts).toMatchObject([{ outcome: 'unknown', code: 'aborted' }])
  })
})
