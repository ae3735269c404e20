// Gzip-compressed feeds: the unpacked bytes are the feed, and each fault of the compression has its own reason.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readFeed } from '../../../src/feed/feed-reader.ts'
import type { ReadOptions } from '../../../src/feed/read-options.ts'
import { feedOf } from '../../helpers/feed.ts'
import { Folder, jobFor } from '../../helpers/feeds.ts'

const FEED = feedOf(3_000)
const PACKED = gzipSync(FEED)

/** reading reads the bytes as `jobs.xml.gz` with and without a copy, and expects that only the MD5 differs. */
async function reading(bytes: Buffer, options: Partial<ReadOptions> = {}) {
  using folder = new Folder()
  const source = folder.file('jobs.xml.gz', bytes)
  const [copyTo, indexTo] = [join(folder.path, 'copy'), join(folder.path, 'index')]
  const result = await readFeed(jobFor(source, { copyTo, indexTo }), options)
  const uncopied = await readFeed(jobFor(source), options)
  if (result.kind !== 'read' || uncopied.kind !== 'read') throw new Error(JSON.stringify(result))
  expect({ ...uncopied, md5: result.md5, verdict: uncopied.verdict.kind }).toEqual({
    ...result,
    verdict: result.verdict.kind,
  })
  const copy = existsSync(copyTo) ? readFileSync(copyTo, 'utf8') : null
  return { ...result, copy, isIndexed: existsSync(indexTo) }
}

const half = (text: string) => text.length / 2

describe('a gzip-compressed feed', () => {
  it('is unpacked, copied, hashed and counted, with pieces of any size', async () => {
    for (const pieceSize of [100, 4_096, 2 ** 20]) {
      expect(await reading(PACKED, { pieceSize })).toMatchObject({
        verdict: { kind: 'ok', content: { postings: 3_000, records: '/source/job' } },
        sha256: createHash('sha256').update(FEED).digest('hex'),
        md5: createHash('md5').update(FEED).digest('hex'),
        bytes: Buffer.byteLength(FEED),
        copy: FEED,
        isIndexed: true,
      })
    }
  })

  it('of several members is one document', async () => {
    const members = [FEED.slice(0, half(FEED)), '', FEED.slice(half(FEED))].map((text) =>
      gzipSync(text),
    )

    const result = await reading(Buffer.concat(members))

    expect(result).toMatchObject({ verdict: { kind: 'ok' }, copy: FEED })
  })

  it('has the place of a fault in its document, and the hash of its document', async () => {
    const document = `<source>\n${'<job/>\n'.repeat(20_000)}  &</source>`

    const { verdict, sha256 } = await reading(gzipSync(document))

    const position = { offset: document.indexOf('&'), line: 20_002, column: 3 }
    expect(verdict).toMatchObject({ kind: 'broken', code: 'not-well-formed', position })
    expect(sha256).toBe(createHash('sha256').update(document).digest('hex'))
  })

  it('has the same result as a plain feed if its record path is found only at its end', async () => {
    const groups = '<group><entry><id>1</id></entry><entry><id>2</id></entry></group>'
    const document = `<source>${groups.repeat(3)}<job><id>1</id></job></source>`
    using folder = new Folder()

    const packed = await readFeed(jobFor(folder.file('a.xml.gz', gzipSync(document))))
    const plain = await readFeed(jobFor(folder.file('a.xml', document)))

    expect(packed).toEqual(plain)
  })

  it('is incomplete if its document ends early, and has the place of the end', async () => {
    const { verdict } = await reading(gzipSync('<source>\n<job>'))

    expect(verdict).toMatchObject({ kind: 'incomplete', position: { line: 2, column: 6 } })
  })
})

const unpackable = { sha256: null, md5: null, encoding: null, copy: null, isIndexed: false }

describe('a gzip-compressed file that is not complete', () => {
  it('is incomplete at every cut', async () => {
    const packed = gzipSync(feedOf(5))
    const twoMembers = Buffer.concat([packed, packed])
    for (let end = 0; end < packed.length; end += 3) {
      const reason = 'the gzip-compressed file ends early'
      const cut = { ...unpackable, verdict: { kind: 'incomplete', reason } }
      expect(await reading(packed.subarray(0, end))).toMatchObject(cut)
    }
    // The first member is a complete document, but the second member is cut.
    const { verdict } = await reading(twoMembers.subarray(0, packed.length + 8))
    expect(verdict).toMatchObject({ kind: 'incomplete' })
  })

  it.each([
    ['in the middle', PACKED.subarray(0, 2_000)],
    ['at its end', PACKED],
  ])(
    'is incomplete if NUL bytes follow %s, because its writer might have set the size first',
    async (_, written) => {
      const result = await reading(Buffer.concat([written, Buffer.alloc(70_000)]))

      const reason = 'the file ends in 70,000 NUL bytes, so its writer might not have finished'
      expect(result).toMatchObject({ ...unpackable, verdict: { kind: 'incomplete', reason } })
    },
  )
})

describe('a gzip-compressed file that is damaged', () => {
  const flipped = Buffer.from(PACKED)
  flipped.writeUInt8(flipped.readUInt8(5_000) ^ 0xff, 5_000)
  const checksum = Buffer.from(PACKED)
  checksum.writeUInt32LE(1, PACKED.length - 8)
  const damaged = 'the gzip-compressed file is damaged: it cannot be unpacked'
  const twice = 'the file is compressed twice; compress it once'
  const follows = 'something else follows the gzip-compressed feed in the file'

  it.each([
    ['a byte is wrong', flipped, damaged],
    ['the checksum is wrong', checksum, damaged],
    ['text follows', Buffer.concat([PACKED, Buffer.from('</source>')]), follows],
    ['a NUL byte and text follow', Buffer.concat([PACKED, Buffer.from('\0...')]), follows],
    ['it is compressed twice', gzipSync(PACKED), twice],
    [
      'it is compressed twice, after an empty member',
      Buffer.concat([gzipSync(''), gzipSync(PACKED)]),
      twice,
    ],
    ['a part of it is compressed twice', gzipSync(PACKED.subarray(0, 100)), twice],
    ['it is compressed three times', gzipSync(gzipSync(PACKED)), twice],
    [
      'it is plain XML',
      Buffer.from(FEED),
      'the name ends in .gz, but the file is not gzip-compressed',
    ],
  ])('is broken, and leaves no copy: %s', async (_, bytes, reason) => {
    const verdict = { kind: 'broken', code: 'gzip-corrupt', reason, position: null }
    expect(await reading(bytes)).toMatchObject({ ...unpackable, verdict })
  })
})

describe('a gzip-compressed file that unpacks to many bytes', () => {
  const code = 'gzip-too-large'

  it('is broken beyond 200 times its size, and unpacking stops there', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 2 ** 20, ' '))

    const { bytes, verdict, ...rest } = await reading(bomb)

    expect(verdict).toMatchObject({ kind: 'broken', code })
    expect(verdict).toHaveProperty(
      'reason',
      expect.stringMatching(/unpacks to more than 200 times/),
    )
    expect(bytes).toBeLessThan(201 * bomb.length + 2 ** 20)
    expect(rest).toMatchObject(unpackable)
  })

  it('is ok at any ratio up to 1 MiB', async () => {
    const document = `<source><job/>${' '.repeat(2 ** 20 - 30)}</source>`
    const packed = gzipSync(document)

    expect(document.length / packed.length).toBeGreaterThan(200)
    expect(await reading(packed)).toMatchObject({ verdict: { kind: 'ok' } })
  })

  it('is broken beyond the largest size, at any ratio', async () => {
    const result = await reading(PACKED, { mostUnpacked: 100 * 1024 })

    const reason = 'the gzip-compressed file unpacks to more than 100 KiB, which is too much'
    expect(result).toMatchObject({ ...unpackable, verdict: { kind: 'broken', code, reason } })
  })
})
