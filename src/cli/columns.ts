// How much room text takes on a terminal: a Chinese character takes two columns, an accent that stands on
// another character none. What a person sees as one character (a grapheme) is never cut.

import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { beside } from '../lib/beside.ts'

const DOTS = '...'
const ASCII = /^[\x20-\x7E]*$/

/** Node keeps what it has loaded. */
function wide(): typeof import('./wide-columns.ts') {
  return createRequire(import.meta.url)(fileURLToPath(beside('wide-columns', import.meta.url)))
}

export function columnsOf(text: string): number {
  return ASCII.test(text) ? text.length : wide().columnsOf(text)
}

export function padStart(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - columnsOf(text))) + text
}

export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)))
}

/** `null` columns: any length. */
export function cut(text: string, columns: number | null): string {
  if (columns === null || columnsOf(text) <= columns) return text
  return beginning(graphemes(text), columns - DOTS.length) + DOTS
}

/** Both ends of a name tell more than its beginning. */
export function middleCut(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text
  const end = Math.floor((columns - DOTS.length) / 2)
  const all = graphemes(text)
  return beginning(all, columns - DOTS.length - end) + DOTS + ending(all, end)
}

function beginning(all: readonly string[], columns: number): string {
  return all.slice(0, fitting(all, columns)).join('')
}

function ending(all: readonly string[], columns: number): string {
  return all.slice(all.length - fitting(all.toReversed(), columns)).join('')
}

/** How many of the first. */
function fitting(all: readonly string[], columns: number): number {
  let left = columns
  const first = all.findIndex((grapheme) => {
    left -= columnsOf(grapheme)
    return left < 0
  })
  return first === -1 ? all.length : first
}

function graphemes(text: string): string[] {
  return ASCII.test(text) ? [...text] : wide().graphemes(text)
}
