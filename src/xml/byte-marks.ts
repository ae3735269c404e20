// Marks the bytes that end a text or a value, one bit for each byte, so that readers jump from mark to mark instead of
// looking at every byte. A WebAssembly kernel (kernel/byte-marks.wat) marks 16 bytes in one step. It knows no grammar,
// only the tables made from the classes of bytes.ts. `markByteByByte` does the same where the kernel cannot run.
//
// Without the kernel the check is 1.9 to 2.9 times as fast as xmllint, with the kernel 2.1 to 3.4 times. Without the
// kernel a feed of 200 MB takes 0.60 to 0.68 of the time of a shell script in four of seven shapes; the target is 0.6
// (docs/design.md).

import { CLASSES, CONTROL, TEXT_STOP, VALUE_STOP } from './bytes.ts'
import { KERNEL } from './kernel/assembled.ts'

/** Marks has one bit for each byte: bit 31 of the first word is byte 0, bit 30 is byte 1, and so on. */
export interface Marks {
  /** text marks the bytes that end plain text (TEXT_STOP). */
  readonly text: Int32Array
  /** value marks the bytes that end plain attribute values (VALUE_STOP). */
  readonly value: Int32Array
}

/** marksFor returns empty marks for this many bytes. */
export function marksFor(bytes: number): Marks {
  const words = () => new Int32Array((bytes >> 5) + 2)
  return { text: words(), value: words() }
}

/** Hot: nextMark returns the first marked place at or after `from`. There must be such a place. */
export function nextMark(marks: Int32Array, from: number): number {
  let at = from >> 5
  let word = (marks[at] as number) << from
  if (word !== 0) return from + Math.clz32(word)
  do word = marks[++at] as number
  while (word === 0)
  return (at << 5) + Math.clz32(word)
}

/** markEnd marks the byte at `at`, so that texts and values end there. */
export function markEnd(marks: Marks, at: number): void {
  for (const words of kindsOf(marks)) set(words, at)
}

/**
 * mark sets the marks of `data` from `from`, a multiple of 32, to `to`. The marks from `to` to the next multiple of 32
 * are undefined. It returns true if there might be a control character that XML forbids.
 */
export function mark(data: Uint8Array, from: number, to: number, marks: Marks): boolean {
  kernel ??= startKernel()
  if (kernel === 'none') return markByteByByte(data, from, to, marks)
  let hasControl = false
  for (let at = from; at < to; at += BLOCK) {
    const length = Math.min(BLOCK, to - at)
    kernel.block.set(data.subarray(at, at + length))
    kernel.block.fill(0x20, length, length + STEP)
    if (kernel.mark(length) !== 0) hasControl = true
    const words = (length + WORD - 1) >> 5
    marks.text.set(kernel.text.subarray(0, words), at >> 5)
    marks.value.set(kernel.value.subarray(0, words), at >> 5)
  }
  return hasControl
}

/** markByteByByte does the same as `mark` without the kernel. */
export function markByteByByte(data: Uint8Array, from: number, to: number, marks: Marks): boolean {
  let hasControl = false
  for (const words of kindsOf(marks)) words.fill(0, from >> 5, (to + WORD - 1) >> 5)
  for (let at = from; at < to; at++) {
    const classes = CLASSES[data[at] as number] as number
    if ((classes & TEXT_STOP) !== 0) set(marks.text, at)
    if ((classes & VALUE_STOP) !== 0) set(marks.value, at)
    if ((classes & CONTROL) !== 0) hasControl = true
  }
  return hasControl
}

const kindsOf = ({ text, value }: Marks) => [text, value]

function set(words: Int32Array, at: number): void {
  words[at >> 5] = (words[at >> 5] as number) | (0x80000000 >>> at)
}

/** STEP, WORD and BLOCK are the bytes for each step of the kernel, each word of marks, and each call of the kernel. */
const STEP = 16
const WORD = 32
const BLOCK = 65_536

/** WebAssembly is declared here as far as it is used, because Node's types lack it. */
declare const WebAssembly: {
  validate(bytes: Uint8Array<ArrayBuffer>): boolean
  Module: new (bytes: Uint8Array<ArrayBuffer>) => object
  Instance: new (module: object) => { exports: KernelExports }
}

/** KernelExports has what kernel/byte-marks.wat exports. The values of its globals are places in its memory. */
interface KernelExports {
  memory: { buffer: ArrayBuffer }
  textMarks: { value: number }
  valueMarks: { value: number }
  tables: { value: number }
  mark: Kernel['mark']
}

interface Kernel extends Marks {
  /** mark marks this many bytes of `block`; the result is not 0 if there might be a forbidden control character. */
  mark: (length: number) => number
  block: Uint8Array
}

/** kernel starts with the first document of a thread. `none` means that this machine lacks the SIMD instructions. */
let kernel: Kernel | 'none' | null = null

function startKernel(): Kernel | 'none' {
  const bytes = Uint8Array.from(Buffer.from(KERNEL, 'base64'))
  if (!WebAssembly.validate(bytes)) return 'none'
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes))
  const { buffer } = exports.memory
  new Uint8Array(buffer, exports.tables.value).set(kernelTables().flat())
  const marks = (at: number) => new Int32Array(buffer, at, BLOCK >> 5)
  return {
    mark: exports.mark,
    block: new Uint8Array(buffer, 0, BLOCK + WORD),
    text: marks(exports.textMarks.value),
    value: marks(exports.valueMarks.value),
  }
}

/** kernelTables returns the tables of 16 bytes in the order in which the kernel loads them. */
function kernelTables(): number[][] {
  const reversed = Array.from({ length: 16 }, (_, i) => 15 - i)
  const low = new Array<number>(16).fill(0x0f)
  // In the tables of TEXT_STOP, bit 0 stands for the bytes 00 to 0f and bit 1 for the bytes 10 to 1f: control
  // characters.
  const controls = new Array<number>(16).fill(3)
  return [reversed, low, ...nibbleTables(TEXT_STOP), ...nibbleTables(VALUE_STOP), controls]
}

/**
 * nibbleTables returns two tables, for the lower and the upper half of a byte. The entries of the two halves share a
 * bit exactly if the byte is in the class. Each distinct set of lower halves has one bit, so a class can have up to
 * eight sets.
 */
function nibbleTables(ofClass: number): [number[], number[]] {
  const isWanted = (byte: number) => ((CLASSES[byte] as number) & ofClass) !== 0
  const sets: string[] = []
  const low = new Array<number>(16).fill(0)
  const high = new Array<number>(16).fill(0)
  for (let upper = 0; upper < 16; upper++) {
    const lowers = Array.from({ length: 16 }, (_, i) => i).filter((i) => isWanted(upper * 16 + i))
    if (lowers.length === 0) continue
    const key = lowers.join()
    if (!sets.includes(key)) sets.push(key)
    const bit = 1 << sets.indexOf(key)
    high[upper] = bit
    for (const lower of lowers) low[lower] = (low[lower] as number) | bit
  }
  return [low, high]
}
