import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { harness } from './harness.ts'

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
})
