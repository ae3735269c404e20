// Sorts the entries of an array (entries.ts) by their three words.

import { WORDS } from './entries.ts'

function compareEntries(a: Uint32Array, atA: number, b: Uint32Array, atB: number): number {
  return (
    (a[atA] as number) - (b[atB] as number) ||
    (a[atA + 1] as number) - (b[atB + 1] as number) ||
    (a[atA + 2] as number) - (b[atB + 2] as number)
  )
}

/** Quicksort in place: a comparator over an array of places takes ten times the memory. */
export function sortEntries(entries: Uint32Array): void {
  sortBetween(entries, 0, entries.length / WORDS - 1, new Uint32Array(WORDS))
}

function sortBetween(entries: Uint32Array, first: number, last: number, pivot: Uint32Array): void {
  let from = first
  let to = last
  while (from < to) {
    // At random: an order that was made for the middle one would take a time that grows with the square.
    const place = (from + Math.floor(Math.random() * (to - from + 1))) * WORDS
    for (let word = 0; word < WORDS; word++) pivot[word] = entries[place + word] as number
    let i = from
    let j = to
    while (i <= j) {
      while (compareEntries(entries, i * WORDS, pivot, 0) < 0) i++
      while (compareEntries(entries, j * WORDS, pivot, 0) > 0) j--
      if (i <= j) swap(entries, i++ * WORDS, j-- * WORDS)
    }
    // The smaller part by recursion, so that the stack stays logarithmic.
    if (j - from < to - i) {
      sortBetween(entries, from, j, pivot)
      from = i
    } else {
      sortBetween(entries, i, to, pivot)
      to = j
    }
  }
}

function swap(entries: Uint32Array, i: number, j: number): void {
  for (let word = 0; word < WORDS; word++) {
    const held = entries[i + word] as number
    entries[i + word] = entries[j + word] as number
    entries[j + word] = held
  }
}
