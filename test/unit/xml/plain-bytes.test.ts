import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CLASSES, CONTROL, TEXT_STOP, VALUE_STOP } from '../../../src/xml/bytes.ts'
import { firstControl, plainValueEnd, textEnd } from '../../../src/xml/plain-bytes.ts'

const KINDS = [
  ...Buffer.from('aZ 09<&]>"\'/*\t\r\n'),
  0,
  1,
  0x0b,
  0x0c,
  0x1f,
  0x20,
  0x7f,
  0x80,
  0xa0,
  0xff,
]
const byte = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(0x61, 0x20, 0x0a, 0xc3) },
  { weight: 1, arbitrary: fc.constantFrom(...KINDS) },
)

/** Bytes, and the sentinel behind them, as the input has them. */
function inputOf(bytes: readonly number[]) {
  const room = new ArrayBuffer((bytes.length + 64) & ~3)
  const data = Buffer.from(room)
  data.set(bytes)
  return { data, view: new DataView(room), words: new Int32Array(room) }
}

it('finds the first byte of a kind from any place on, as a look at each byte does', () => {
  const bytes = fc.array(byte, { maxLength: 200 })
  fc.assert(
    fc.property(bytes, fc.nat(200), fc.nat(200), (all, a, b) => {
      const [from = 0, to = 0] = [a, b].map((at) => at % (all.length + 1)).sort((x, y) => x - y)
      const { data, view, words } = inputOf(all)
      const first = (kind: number) => {
        const at = all.findIndex((each, i) => i >= from && ((CLASSES[each] ?? 0) & kind) !== 0)
        return at === -1 ? all.length : at
      }

      const found = [
        textEnd(data, view, from),
        plainValueEnd(data, from),
        firstControl(data, words, from, to),
      ]
      expect(found).toEqual([first(TEXT_STOP), first(VALUE_STOP), Math.min(to, first(CONTROL))])
    }),
    { numRuns: 2_000 },
  )
})

it('finds each byte of a kind at each place of a step', () => {
  for (const each of Array.from({ length: 256 }, (_, i) => i)) {
    for (let place = 0; place < 72; place++) {
      const all = new Array<number>(80).fill(0x61).with(place, each)
      const { data, view, words } = inputOf(all)
      const isOf = (kind: number) => ((CLASSES[each] ?? 0) & kind) !== 0

      expect(textEnd(data, view, 0)).toBe(isOf(TEXT_STOP) ? place : 80)
      expect(firstControl(data, words, 0, 80)).toBe(isOf(CONTROL) ? place : 80)
    }
  }
})
