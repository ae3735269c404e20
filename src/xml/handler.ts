// The events of a document up to its first fault. They carry places in memory that is reused, so a handler must copy
// what it wants to keep.

import type { Name, NameTable } from './names.ts'

/** Text is character data from `from` to `to`, as written. A long or cut text arrives in several portions. */
export interface Text {
  readonly data: Buffer
  readonly from: number
  readonly to: number
  /** literal is true if the text contains no references to decode. */
  readonly literal: boolean
}

export interface XmlHandler {
  /** open reports a start tag that begins at `from`. If it returns false, the rest of the element is not reported. */
  open(name: Name, attributes: Attributes, from: number): boolean
  text(text: Text): void
  /** close reports an end tag, or the tag of an empty element, that ends at `to` of `data`. */
  close(data: Buffer, to: number): void
  /** moving is called before the bytes from `to` on are moved to the beginning of `data`. */
  moving(data: Buffer, to: number): void
}

/** Attributes has the attributes of one tag, including its namespace declarations. */
export class Attributes {
  data: Buffer = Buffer.alloc(0)
  /** view has the same bytes as `data`. */
  view: DataView = new DataView(new ArrayBuffer(0))
  count = 0
  /** `numbers[i]` is the number of attribute i's name in the NameTable. */
  readonly numbers: Int32Array
  /** begin has the place of each attribute in `data`. */
  readonly begin: Int32Array
  /** `from[i]` and `to[i]` are where the value of attribute i begins and ends in `data`, without its quotes. */
  readonly from: Int32Array
  readonly to: Int32Array

  readonly #names: NameTable

  /** `most` limits the attributes of a tag. */
  constructor(names: NameTable, most: number) {
    this.#names = names
    this.numbers = new Int32Array(most)
    this.begin = new Int32Array(most)
    this.from = new Int32Array(most)
    this.to = new Int32Array(most)
  }

  nameAt(i: number): Name {
    return this.#names.of(this.numbers[i] as number)
  }

  /** valueAt returns a value as the application should see it (XML 1.0 §3.3.3). */
  valueAt(i: number): string {
    const written = this.data.toString('utf8', this.from[i], this.to[i])
    return withReferences(written.replace(/\r\n|[\t\r\n]/g, ' '))
  }
}

/** decodedText returns a text as the application should see it (XML 1.0 §2.11 and §4.4). */
export function decodedText({ data, from, to, literal }: Text): string {
  const read = data.toString('utf8', from, to)
  const written = read.includes('\r') ? read.replace(/\r\n?/g, '\n') : read
  return literal ? written : withReferences(written)
}

const PREDEFINED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** withReferences decodes the references in `written`, which the checker has accepted. */
function withReferences(written: string): string {
  if (!written.includes('&')) return written
  return written.replace(/&(?:#x([^;]*)|#([^;]*)|([^;]*));/g, (_, hex, decimal, name) => {
    if (name !== undefined) return PREDEFINED[name] ?? ''
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
  })
}
