// Sorts entries in bounded memory, however many they are: a full segment is sorted and put into a
// scratch file as a run, and in the end all runs are merged. Small feeds never fill a segment.

import { compareEntries, sortEntries, WORDS } from './entry-sort.ts'
import { ScratchFile } from './scratch-file.ts'

export interface RunOptions {
  /** Where the scratch file is made, once it is needed. */
  directory: string
  /** Equal entries are kept once. */
  distinct: boolean
  /** Entries that are sorted in memory; 12 bytes each. */
  segment?: number | undefined
}

const FIRST_ROOM = 1_024
const SEGMENT = 65_536
/** Bytes that all runs together have in memory while they are merged. */
const MERGE_ROOM = 2 ** 20
const LEAST_ROOM = 4_096
const ENTRY_BYTES = WORDS * Uint32Array.BYTES_PER_ELEMENT

export class SortedRuns {
  readonly #directory: string
  readonly #distinct: boolean
  readonly #segment: number
  #entries: Uint32Array<ArrayBuffer>
  #count = 0
  #scratch: ScratchFile | null = null
  /** Where each run begins in the scratch file. */
  readonly #runs: number[] = []

  constructor({ directory, distinct, segment = SEGMENT }: RunOptions) {
    this.#directory = directory
    this.#distinct = distinct
    this.#segment = segment
    this.#entries = new Uint32Array(Math.min(FIRST_ROOM, segment) * WORDS)
  }

  /** Throws `NoRoom`. */
  add(high: number, low: number, content: number): void {
    if (this.#count * WORDS === this.#entries.length) this.#makeRoom()
    const at = this.#count++ * WORDS
    this.#entries[at] = high
    this.#entries[at + 1] = low
    this.#entries[at + 2] = content
  }

  /** Hands out every entry, sorted: its words stand in the array from the place on. Throws `NoRoom`. */
  merge(take: (entries: Uint32Array, at: number) => void): void {
    this.#sort()
    if (this.#scratch === null) {
      for (let i = 0; i < this.#count; i++) take(this.#entries, i * WORDS)
      return
    }
    this.#spill()
    this.#entries = new Uint32Array(0)
    const room = Math.max(LEAST_ROOM, MERGE_ROOM / this.#runs.length)
    const heads = this.#runs.map((from, i) => {
      const to = this.#runs[i + 1] ?? this.#scratch?.size ?? from
      return new RunHead(this.#scratch as ScratchFile, from, to, Math.floor(room / ENTRY_BYTES))
    })
    const heap = new Heap(heads)
    const last = new Uint32Array(WORDS)
    let first = true
    for (let head = heap.least; head !== null; head = heap.least) {
      const { entries, at } = head
      if (!this.#distinct || first || compareEntries(entries, at, last, 0) !== 0) {
        take(entries, at)
        for (let word = 0; word < WORDS; word++) last[word] = entries[at + word] as number
        first = false
      }
      heap.advance()
    }
  }

  close(): void {
    this.#scratch?.close()
    this.#scratch = null
  }

  #makeRoom(): void {
    if (this.#count < this.#segment) {
      const larger = new Uint32Array(Math.min(this.#count * 2, this.#segment) * WORDS)
      larger.set(this.#entries)
      this.#entries = larger
      return
    }
    this.#sort()
    if (!this.#distinct || this.#count > this.#segment / 2) this.#spill()
  }

  #sort(): void {
    const entries = this.#entries
    sortEntries(entries, this.#count)
    if (!this.#distinct) return
    let kept = 0
    for (let i = 0; i < this.#count; i++) {
      if (i > 0 && compareEntries(entries, i * WORDS, entries, (kept - 1) * WORDS) === 0) continue
      entries.copyWithin(kept++ * WORDS, i * WORDS, (i + 1) * WORDS)
    }
    this.#count = kept
  }

  #spill(): void {
    if (this.#count === 0) return
    this.#scratch ??= new ScratchFile(this.#directory)
    this.#runs.push(this.#scratch.size)
    this.#scratch.append(new Uint8Array(this.#entries.buffer, 0, this.#count * ENTRY_BYTES))
    this.#count = 0
  }
}

/** The least entry of a run that was not handed out yet. */
class RunHead {
  readonly entries: Uint32Array<ArrayBuffer>
  at = 0
  readonly #file: ScratchFile
  readonly #end: number
  #next: number
  #filled = 0

  constructor(file: ScratchFile, from: number, to: number, room: number) {
    this.#file = file
    this.#next = from
    this.#end = to
    this.entries = new Uint32Array(Math.min(room, (to - from) / ENTRY_BYTES) * WORDS)
    this.#fill()
  }

  /** False at the end of the run. */
  advance(): boolean {
    this.at += WORDS
    return this.at < this.#filled || this.#fill()
  }

  #fill(): boolean {
    const length = Math.min(this.entries.byteLength, this.#end - this.#next)
    this.#file.read(new Uint8Array(this.entries.buffer, 0, length), this.#next)
    this.#next += length
    this.#filled = length / Uint32Array.BYTES_PER_ELEMENT
    this.at = 0
    return length > 0
  }
}

/** A binary heap: the least of the heads stands first. */
class Heap {
  readonly #heads: RunHead[]

  constructor(heads: RunHead[]) {
    this.#heads = heads
    for (let i = heads.length >> 1; i >= 0; i--) this.#sink(i)
  }

  get least(): RunHead | null {
    return this.#heads[0] ?? null
  }

  advance(): void {
    const least = this.#heads[0]
    if (least !== undefined && !least.advance()) {
      const last = this.#heads.pop()
      if (last !== undefined && last !== least) this.#heads[0] = last
    }
    this.#sink(0)
  }

  #sink(from: number): void {
    const heads = this.#heads
    for (let i = from; ; ) {
      let least = this.#before(2 * i + 1, i) ? 2 * i + 1 : i
      if (this.#before(2 * i + 2, least)) least = 2 * i + 2
      if (least === i) return
      const held = heads[i] as RunHead
      heads[i] = heads[least] as RunHead
      heads[least] = held
      i = least
    }
  }

  #before(i: number, j: number): boolean {
    const a = this.#heads[i]
    const b = this.#heads[j]
    return (
      a !== undefined && b !== undefined && compareEntries(a.entries, a.at, b.entries, b.at) < 0
    )
  }
}
