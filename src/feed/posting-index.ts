// Collects one entry a posting in typed arrays: 12 bytes each, whatever the ids look like. Half a
// million postings as JavaScript strings would cost ten times that.

import type { PostingIndex } from './port.ts'

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

export class PostingIndexBuilder {
  #high = new Uint32Array(1_024)
  #low = new Uint32Array(1_024)
  #contents = new Uint32Array(1_024)
  #length = 0

  add(high: number, low: number, content: number): void {
    if (this.#length === this.#high.length) this.#grow()
    this.#high[this.#length] = high
    this.#low[this.#length] = low
    this.#contents[this.#length++] = content
  }

  /** The index, and how many entries have the id of another one. The builder is empty afterwards. */
  finish(): { index: PostingIndex; duplicates: number } {
    this.#sort(0, this.#length - 1)
    const ids = new BigUint64Array(this.#length)
    let duplicates = 0
    for (let i = 0; i < this.#length; i++) {
      ids[i] = (BigInt(this.#high[i] ?? 0) << 32n) | BigInt(this.#low[i] ?? 0)
      if (i > 0 && this.#high[i] === this.#high[i - 1] && this.#low[i] === this.#low[i - 1]) {
        duplicates++
      }
    }
    const contents = this.#contents.slice(0, this.#length)
    this.#high = this.#low = this.#contents = new Uint32Array(0)
    this.#length = 0
    return { index: { ids, contents }, duplicates }
  }

  #grow(): void {
    this.#high = larger(this.#high)
    this.#low = larger(this.#low)
    this.#contents = larger(this.#contents)
  }

  /** Quicksort in place: a comparator over an index array takes ten times the memory. */
  #sort(first: number, last: number): void {
    let from = first
    let to = last
    while (from < to) {
      const middle = (from + to) >>> 1
      const high = this.#high[middle] ?? 0
      const low = this.#low[middle] ?? 0
      const content = this.#contents[middle] ?? 0
      let i = from
      let j = to
      while (i <= j) {
        while (this.#compare(i, high, low, content) < 0) i++
        while (this.#compare(j, high, low, content) > 0) j--
        if (i <= j) this.#swap(i++, j--)
      }
      // The smaller part by recursion, so that the stack stays logarithmic.
      if (j - from < to - i) {
        this.#sort(from, j)
        from = i
      } else {
        this.#sort(i, to)
        to = j
      }
    }
  }

  #compare(i: number, high: number, low: number, content: number): number {
    return (
      (this.#high[i] ?? 0) - high || (this.#low[i] ?? 0) - low || (this.#contents[i] ?? 0) - content
    )
  }

  #swap(i: number, j: number): void {
    for (const column of [this.#high, this.#low, this.#contents]) {
      const held = column[i] ?? 0
      column[i] = column[j] ?? 0
      column[j] = held
    }
  }
}

/** Counts distinct strings by their hashes, in 8 bytes each. */
export class DistinctCount {
  #hashes = new BigUint64Array(1_024)
  #length = 0

  add(value: string): void {
    if (this.#length === this.#hashes.length) {
      this.#compact()
      if (this.#length > this.#hashes.length / 2) {
        const larger = new BigUint64Array(this.#hashes.length * 2)
        larger.set(this.#hashes)
        this.#hashes = larger
      }
    }
    const [high, low] = hash64(value)
    this.#hashes[this.#length++] = (BigInt(high) << 32n) | BigInt(low)
  }

  finish(): number {
    this.#compact()
    return this.#length
  }

  #compact(): void {
    const sorted = this.#hashes.subarray(0, this.#length).sort()
    let kept = 0
    for (let i = 0; i < sorted.length; i++) {
      const hash = sorted[i] ?? 0n
      if (i === 0 || hash !== sorted[kept - 1]) sorted[kept++] = hash
    }
    this.#length = kept
  }
}

function larger(column: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(column.length * 2)
  grown.set(column)
  return grown
}
