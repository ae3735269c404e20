import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { boundaryOf, readParts } from '../../../src/sandbox/storage/multipart-parser.ts'
import { multipart } from '../../helpers/sandbox/client.ts'

/** parse reads a body in pieces of the given sizes, which repeat. */
async function parse(body: Buffer, boundary: string, sizes: readonly number[]) {
  const parts: { name: string; value: Buffer }[] = []
  for await (const { name, value } of readParts(pieces(body, sizes), boundary)) {
    parts.push({ name, value: Buffer.concat(await Array.fromAsync(value)) })
  }
  return parts
}

const MALFORMED = { answer: { code: 'MalformedPOSTRequest' } }

async function* pieces(body: Buffer, sizes: readonly number[]) {
  for (let at = 0, i = 0; at < body.length; i++) {
    const size = sizes[i % sizes.length] ?? 1
    yield body.subarray(at, at + size)
    at += size
  }
}

// Values are made of parts of a boundary.
const value = fc
  .array(fc.constantFrom('\r', '\n', '-', '--', '\r\n', '\r\n--', '\r\n--B', 'B', 'x', '\0'), {
    maxLength: 12,
  })
  .map((pieces) => Buffer.from(pieces.join('')))

describe('the multipart parser', () => {
  it('yields each byte of each value, for any pieces of the body', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { minLength: 1, maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
        async (values, sizes) => {
          const body = multipart(
            values.map((v, i) => [`f${i}`, v]),
            'BoundarY',
          )

          const parts = await parse(body, 'BoundarY', sizes)

          expect(parts).toEqual(values.map((v, i) => ({ name: `f${i}`, value: v })))
        },
      ),
      { numRuns: 500 },
    )
  })

  it('refuses a body that is cut anywhere before the end of its closing boundary', async () => {
    const body = multipart(
      [
        ['a', '1'],
        ['file', '<a/>'],
      ],
      'B',
    )

    for (let cut = 0; cut < body.length - 2; cut++) {
      await expect(parse(body.subarray(0, cut), 'B', [1000])).rejects.toMatchObject(MALFORMED)
    }
  })

  it('drops the unread rest of a part', async () => {
    const body = multipart(
      [
        ['a', 'x'.repeat(100)],
        ['b', '1'],
      ],
      'B',
    )

    const names: string[] = []
    for await (const { name } of readParts(pieces(body, [7]), 'B')) names.push(name)

    expect(names).toEqual(['a', 'b'])
  })

  it.each([
    ['no name', '--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n--B--'],
    ['no disposition', '--B\r\nContent-Type: text/plain\r\n\r\nx\r\n--B--'],
    ['an endless head', `--B\r\n${'x: y\r\n'.repeat(2000)}`],
    ['bytes after the boundary', '--Bx\r\n'],
  ])('refuses a malformed body: %s', async (_, body) => {
    await expect(parse(Buffer.from(body), 'B', [64])).rejects.toMatchObject(MALFORMED)
  })

  it.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['multipart/form-data; charset=utf-8; BOUNDARY="a b"', 'a b'],
    ['multipart/form-data', null],
    [`multipart/form-data; boundary="${'x'.repeat(71)}"`, null],
  ])('finds in %s the boundary %s', (type, boundary) => {
    expect(boundaryOf(type)).toBe(boundary)
  })
})
