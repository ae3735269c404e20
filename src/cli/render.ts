// Turns models into text for people. Whatever comes from a vendor's folder (names, reasons) is made harmless first: a
// file name may hold a newline or an escape sequence. A Chinese character takes two columns of a terminal, an accent
// on another character none; what a person sees as one character (a grapheme) is never cut.

import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { styleText } from 'node:util'
import { beside } from '../lib/beside.ts'
import { printable } from '../lib/printable.ts'

export { printable }

export type Cell = string | number | null

const DOTS = '...'
const ASCII = /^[\x20-\x7E]*$/
const LEAST_COLUMNS = 12

/**
 * Lower-case headers, two spaces between columns, numbers to the right. Where the rows are wider than `width`, the
 * cells of the widest column lose their middle.
 */
export function table(headers: string[], rows: Cell[][], width: number | null): string {
  const texts = rows.map((row) =>
    row.map((cell) => (cell === null ? '-' : printable(String(cell)))),
  )
  const sizes = headers.map((header, column) =>
    // Not as arguments: there may be more rows than a call can take.
    texts.reduce((size, row) => Math.max(size, columnsOf(row[column] ?? '')), header.length),
  )
  const widest = sizes.indexOf(Math.max(...sizes))
  const excess =
    sizes.reduce((sum, size) => sum + size + 2, -2) - (width ?? Number.POSITIVE_INFINITY)
  if (excess > 0) sizes[widest] = Math.max(LEAST_COLUMNS, (sizes[widest] ?? 0) - excess)
  const numeric = headers.map((_, column) =>
    rows.every((row) => row[column] === null || typeof row[column] === 'number'),
  )
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => {
        const size = sizes[column] ?? 0
        const text = middleCut(cell, size)
        const space = ' '.repeat(size - columnsOf(text))
        return numeric[column] ? space + text : text + space
      })
      .join('  ')
      .trimEnd()
  return [line(headers), ...texts.map(line)].join('\n')
}

/** A name and its value on each line; what is null is left out. */
export function factsText(facts: readonly (readonly [name: string, value: Cell])[]): string {
  const known = facts.filter(([, value]) => value !== null)
  const width = Math.max(...known.map(([name]) => name.length))
  return known
    .map(([name, value]) => `${printable(name).padEnd(width)}  ${printable(String(value))}`)
    .join('\n')
}

/** Columns of the terminal; null: none. A serial console tells 0. */
export function widthOf(terminal: boolean): number | null {
  return (terminal && process.stdout.columns) || null
}

/** Both ends of a name tell more than its beginning. */
export function middleCut(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text
  const end = Math.floor((columns - DOTS.length) / 2)
  const all = ASCII.test(text) ? [...text] : wide().graphemes(text)
  const tail = all.slice(all.length - fitting(all.toReversed(), end))
  return [...all.slice(0, fitting(all, columns - DOTS.length - end)), DOTS, ...tail].join('')
}

/** How many of the first fit. */
function fitting(all: readonly string[], columns: number): number {
  let left = columns
  const first = all.findIndex((grapheme) => {
    left -= columnsOf(grapheme)
    return left < 0
  })
  return first === -1 ? all.length : first
}

export function columnsOf(text: string): number {
  return ASCII.test(text) ? text.length : wide().columnsOf(text)
}

/** Node keeps what it has loaded. */
function wide(): typeof import('./wide-columns.ts') {
  return createRequire(import.meta.url)(fileURLToPath(beside('wide-columns', import.meta.url)))
}

type Style = Parameters<typeof styleText>[0]

/** Colour only on a terminal, and never as the only sign. */
export function styled(style: Style, text: string, terminal: boolean): string {
  return terminal ? styleText(style, text, { validateStream: true, stream: process.stdout }) : text
}
