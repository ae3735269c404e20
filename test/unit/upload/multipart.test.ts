import { open, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createMultipartBody } from '../../../src/upload/multipart.ts'
import { temporaryDirectory } from '../../helpers/upload/harness.ts'

/** body returns a body that announces `bytes` of a file, which is read from a handle, or is `inOnePiece` in memory. */
async function body(
  fields: ReadonlyArray<readonly [string, string]>,
  content: string | Buffer,
  { bytes = Buffer.byteLength(content), inOnePiece = false } = {},
) {
  const file = join(await temporaryDirectory(), 'spool')
  await writeFile(file, content)
  const form = { url: 'https://storage.example/', fileUrl: '', fields }
  if (inOnePiece)
    return {
      file,
      made: createMultipartBody(form, { file: Buffer.from(content), bytes, bandwidth: null }),
    }
  const opened = await open(file)
  onTestFinished(() => opened.close())
  return { file, made: createMultipartBody(form, { file: opened, bytes, bandwidth: null }) }
}

async function bytesOf(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}

describe('the multipart body', () => {
  it('has every field in order, then the file, and nothing else, and announces its length', async () => {
    const { made } = await body(
      [
        ['key', 'a.xml'],
        ['policy', 'cG9s'],
      ],
      '<jobs/>',
    )
    const boundary = made.contentType.slice('multipart/form-data; boundary='.length)

    const sent = await bytesOf(made.chunks(new AbortController().signal))

    expect(boundary).toMatch(/^[A-Za-z0-9]{32}$/)
    expect(sent.toString()).toBe(
      [
        `--${boundary}`,
        'Content-Disposition: form-data; name="key"',
        '',
        'a.xml',
        `--${boundary}`,
        'Content-Disposition: form-data; name="policy"',
        '',
        'cG9s',
        `--${boundary}`,
        'Content-Disposition: form-data; name="file"; filename="feed.xml"',
        'Content-Type: application/xml',
        '',
        '<jobs/>',
        `--${boundary}--`,
        '',
      ].join('\r\n'),
    )
    expect(made.length).toBe(sent.length)
  })

  it('is read correctly by another implementation, and has its announced length', async () => {
    const text = fc.string({ unit: 'grapheme' })
    const field = fc.tuple(
      fc.stringMatching(/^[\w-]{1,12}$/).filter((name) => name !== 'file'),
      text,
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(field, { maxLength: 5 }),
        fc.uint8Array(),
        fc.boolean(),
        async (fields, bytes, inOnePiece) => {
          const { made } = await body(fields, Buffer.from(bytes), { inOnePiece })

          const sent = await bytesOf(made.chunks(new AbortController().signal))
          const headers = { 'content-type': made.contentType }
          const read = [...(await new Response(new Uint8Array(sent), { headers }).formData())]

          expect(sent.length).toBe(made.length)
          expect(read.slice(0, -1)).toEqual(fields)
          const file = read.at(-1)?.[1]
          expect(file instanceof File && new Uint8Array(await file.arrayBuffer())).toEqual(
            new Uint8Array(bytes),
          )
        },
      ),
      { numRuns: 50, seed: 7 },
    )
  })

  it('keeps the line ends of values, and escapes quotes and line ends in names', async () => {
    const { made } = await body([['a"\r\nb', 'one\ntwo\r\n']], '')

    const sent = (await bytesOf(made.chunks(new AbortController().signal))).toString()

    expect(sent).toContain('name="a%22%0D%0Ab"\r\n\r\none\ntwo\r\n\r\n--')
  })

  it('has a new boundary each time', async () => {
    const made = await Promise.all([body([], ''), body([], '')])

    expect(made[0].made.contentType).not.toBe(made[1].made.contentType)
  })

  it('stops at the announced size if the file grew, and earlier if it shrank', async () => {
    const content = Buffer.alloc(600_000, 'x')
    const longer = Buffer.concat([content, Buffer.from('more')])
    const grown = await body([], longer, { bytes: content.length })
    const shrunk = await body([], content)
    await truncate(shrunk.file, 300_000)

    expect(await bytesOf(grown.made.chunks(new AbortController().signal))).toHaveLength(
      grown.made.length,
    )
    const short = (await bytesOf(shrunk.made.chunks(new AbortController().signal))).length
    expect(short).toBeLessThanOrEqual(shrunk.made.length - 300_000)
    expect(short).toBeGreaterThan(300_000)
  })

  it('does not change the last two pieces while the next one is read', async () => {
    const content = Buffer.from(Uint32Array.from({ length: 500_000 }, (_, n) => n).buffer)
    const { made } = await body([], content)
    const pieces: { at: number; chunk: Buffer }[] = []
    let at = -made.headLength

    for await (const chunk of made.chunks(new AbortController().signal)) {
      pieces.push({ at, chunk })
      at += chunk.length
      // Give the read ahead enough time to overwrite a piece.
      await new Promise((resolve) => setTimeout(resolve, 2))
      for (const piece of pieces.slice(-2)) {
        if (piece.at < 0 || piece.at >= content.length) continue
        const end = piece.at + piece.chunk.length
        expect(piece.chunk.equals(content.subarray(piece.at, end))).toBe(true)
      }
    }

    expect(pieces.length).toBeGreaterThan(8)
    expect(at + made.headLength).toBe(made.length)
  })

  it('counts sizes beyond 4 GiB', async () => {
    const { made } = await body([], '', { bytes: 5 * 2 ** 30 })

    expect(made.length - 5 * 2 ** 30).toBe((await body([], '')).made.length)
  })
})
