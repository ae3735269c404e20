// What the checker tells of a document while nothing is wrong with it. Everything is handed out as
// places in a memory that is used again: whoever wants to keep something makes a string of it.

import type { Name } from './names.ts'
import type { Skimmer } from './skimmer.ts'

/** Bytes from `from` to `to`, as written. */
export interface Text {
  readonly data: Buffer
  readonly from: number
  readonly to: number
  readonly cdata: boolean
  /** Goes on where the last call ended; both belong to one run of text, with no white space at the cut. */
  readonly continued: boolean
}

export interface XmlHandler {
  /** Where the handler is, from 1 to 63: in the same place it ignores the same elements; 0: not to be relied on. */
  readonly place: number
  /** What is told of lies in this memory, at the places that it is told with. */
  attach?(memory: Skimmer): void
  /** Whether the text that stands here is to be told; what cannot be decided by the place alone, is. */
  readonly wantsText: boolean
  /**
   * The tag begins at `from`. False: nothing of this element is to be told any more,
   * its end tag included.
   */
  open(name: Name, attributes: Attributes, from: number): boolean
  /** Asked where `open` answered false: whether it does so for each element of this name in this place. */
  ignores(name: Name): boolean
  /** Character data; a long run comes in several calls, cut behind a character that is no white space. */
  text(text: Text): void
  /** The end tag, or the start tag of an empty element, ends at `to`. */
  close(to: number): void
  /** All memory that was handed out is about to be used for something else: what follows `to` comes to its beginning. */
  moving(to: number): void
}

/** The attributes of one tag, namespace declarations included. */
export class Attributes {
  data: Buffer = Buffer.alloc(0)
  count = 0
  readonly names: Name[] = []
  /** Where each attribute begins in `data`. */
  readonly begin: number[] = []
  /** Where each value, without its quotes, begins and ends in `data`. */
  readonly from: number[] = []
  readonly to: number[] = []

  /** The value of the attribute of this name, as the application should see it (XML 1.0 §3.3.3). */
  value(name: string): string | null {
    for (let i = 0; i < this.count; i++) if (this.names[i]?.text === name) return this.valueAt(i)
    return null
  }

  valueAt(i: number): string {
    const written = this.data.toString('utf8', this.from[i], this.to[i])
    return withReferences(written.replace(/\r\n|[\t\r\n]/g, ' '))
  }
}

/** Text as the application should see it (XML 1.0 §2.11 and §4.4). */
export function decodedText({ data, from, to, cdata }: Text): string {
  const read = data.toString('utf8', from, to)
  const written = read.includes('\r') ? read.replace(/\r\n?/g, '\n') : read
  return cdata ? written : withReferences(written)
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
