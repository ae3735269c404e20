import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  type Marks,
  mark,
  markByteByByte,
  marksFor,
  nextMark,
} from '../../../src/xml/byte-marks.ts'
import { KERNEL } from '../../../src/xml/kernel/assembled.ts'
import { assembledKernel } from '../../helpers/xml/assemble-kernel.ts'

/** placesOf returns all marked places, found as the readers find them. */
function placesOf(marks: Marks, size: number): number[][] {
  return [marks.text, marks.value].map((words) => {
    const places: number[] = []
    for (let at = nextMark(words, 0); at < size; at = nextMark(words, at + 1)) places.push(at)
    return places
  })
}

function marked(setMarks: typeof mark, bytes: Uint8Array) {
  const marks = marksFor(bytes.length + 64)
  const hasControl = setMarks(bytes, 0, bytes.length, marks)
  for (const words of [marks.text, marks.value]) words[(bytes.length >> 5) + 1] = -1
  return { hasControl, places: placesOf(marks, bytes.length) }
}

const SAMPLE = [
  ...Buffer.from('<a b="c">d &amp; e]]></a>\t\r\n0.9-:_Zz'),
  0,
  0x1f,
  0x7f,
  0xc3,
  0xa9,
]
const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(...SAMPLE))

it('marks the same bytes with and without WebAssembly', () => {
  const all = Uint8Array.from({ length: 256 }, (_, i) => i)
  expect(marked(mark, all)).toEqual(marked(markByteByByte, all))
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 400 }), (bytes) => {
      expect(marked(mark, Uint8Array.from(bytes))).toEqual(
        marked(markByteByByte, Uint8Array.from(bytes)),
      )
    }),
  )
})

it('marks the same bytes with and without WebAssembly, also more bytes than one call of the kernel takes', () => {
  const bytes = Uint8Array.from({ length: 200_000 }, (_, i) => SAMPLE[(i * i) % 31] ?? 0)
  expect(marked(mark, bytes)).toEqual(marked(markByteByByte, bytes))
})

it('finds marks at the end of a word, side by side, and after words without a mark', () => {
  const bytes = Buffer.from(`${' '.repeat(31)}<${' '.repeat(100)}<<${' '.repeat(40)}<`)
  expect(marked(mark, bytes).places[0]).toEqual([31, 132, 133, 174])
})

it('uses the kernel that its text assembles to', async () => {
  expect(await assembledKernel()).toContain(KERNEL)
})
