// What the checker tells of a document while nothing is wrong with it. Everything is handed out as
// places in a memory that is used again: whoever wants to keep something makes a string of it.

import type { Name, NameTable } from './names.ts'

/** Character data from `from` to `to`, as written. A long run, or one that a piece cuts, comes in several. */
export interface Text {
  readonly data: Buffer
  readonly from: number
  readonly to: number
  /** Nothing in it is a reference: it is a CDATA section, or has none. */
  readonly literal: boolean
}

export interface XmlHandler {
  /** The tag begins at `from`. False: nothing of this element is to be told any more, its end included. */
  open(name: Name, attributes: Attributes, from: number): boolean
  text(text: Text): void
  /** The end tag, or the start tag of an empty element, ends at `to` of `data`. */
  close(data: Buffer, to: number): void
  /** `data` is about to be used for something else: what follows `to` comes to its beginning. */
  moving(data: Buffer, to: number): void
}

/** The attributes of one tag, namespace declarations included. */
export class Attributes {
  data: Buffer = Buffer.alloc(0)
  /** The same bytes. */
  view: DataView = new DataView(new ArrayBuffer(0))
  count = 0
  /** The numbers of the names (names.ts). */
  readonly numbers: Int32Array
  /** Where each attribute begins in `data`. */
  readonly begin: Int32Array
  /** Where each value, without its quotes, begins and ends in `data`. */
  readonly from: Int32Array
  readonly to: Int32Array

  readonly #names: NameTable

  /** `most`: attributes that a tag may have. */
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

  /** As the application should see it (XML 1.0 §3.3.3). */
  valueAt(i: number): string {
    const written = this.data.toString('utf8', this.from[i], this.to[i])
    return withReferences(written.replace(/\r\n|[\t\r\n]/g, ' '))
  }
}

/** Text as the application should see it (XML 1.0 §2.11 and §4.4). */
export function decodedText({ data, from, to, literal }: Text): string {
  const read = data.toString('utf8', from, to)
  const written = read.includes('\r') ? read.replace(/\r\n?/g, '\n') : read
  return literal ? written : withReferences(written)
}

const PREDEFINED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** `written` was checked: every reference in it is complete and known. */
function withReferences(written: string): string {
  if (!written.includes('&')) return written
  return written.replace(/&(?:#x([^;]*)|#([^;]*)|([^;]*));/g, (_, hex, decimal, name) => {
    if (name !== undefined) return PREDEFINED[name] ?? ''
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
  })
}
