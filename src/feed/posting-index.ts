// Collects one entry a posting in bounded memory, and writes them down as a sorted file.

import { IndexWriter } from './index-file.ts'
import { type HeldIndex, IndexFile } from './index-place.ts'
import { SortedRuns } from './sorted-runs.ts'

/** Two 32-bit hashes of a string; together they tell apart what a feed contains (2^-25 at 2^20 ids). */
export function hash64(value: string): [high: number, low: number] {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i)
    a = Math.imul(a ^ unit, 2654435761)
    b = Math.imul(b ^ unit, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return [b >>> 0, a >>> 0]
}

export class PostingIndexBuilder implements Disposable {
  readonly #runs: SortedRuns
  #writer: IndexWriter | null = null

  /** `directory`: where what does not fit into memory is put. `segment`: see `SortedRuns`. */
  constructor(directory: string, segment?: number) {
    this.#runs = new SortedRuns({ directory, distinct: false, segment })
  }

  /** Throws `NoRoom`. */
  add(high: number, low: number, content: number): void {
    this.#runs.add(high, low, content)
  }

  /** Writes the index to a new file or into memory, if it is wanted; answers how many entries have the id of another one. Throws `NoRoom`. */
  finish(to: string | HeldIndex | null): { duplicates: number } {
    const writer =
      to === null ? null : new IndexWriter(typeof to === 'string' ? new IndexFile(to) : to)
    this.#writer = writer
    let duplicates = 0
    let lastHigh = -1
    let lastLow = -1
    this.#runs.merge((entries, at) => {
      const high = entries[at] as number
      const low = entries[at + 1] as number
      if (high === lastHigh && low === lastLow) duplicates++
      lastHigh = high
      lastLow = low
      writer?.add(entries, at)
    })
    writer?.finish()
    return { duplicates }
  }

  /** Takes the file away again. */
  discard(): void {
    this.#writer?.discard()
  }

  [Symbol.dispose](): void {
    this.#runs.close()
  }
}

/** Counts distinct strings by their hashes. */
export class DistinctCount implements Disposable {
  readonly #runs: SortedRuns

  constructor(directory: string, segment?: number) {
    this.#runs = new SortedRuns({ directory, distinct: true, segment })
  }

  /** Throws `NoRoom`. */
  add(value: string): void {
    const [high, low] = hash64(value)
    this.#runs.add(high, low, 0)
  }

  finish(): number {
    let count = 0
    this.#runs.merge(() => {
      count++
    })
    return count
  }

  [Symbol.dispose](): void {
    this.#runs.close()
  }
}
