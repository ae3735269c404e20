// Turns models into text for people. Whatever comes from a vendor's folder (names, reasons) is made
// harmless first: a file name may hold a newline or an escape sequence.

import { styleText } from 'node:util'
import { printable } from '../lib/printable.ts'
import { columnsOf, cut, padEnd, padStart } from './columns.ts'

export { printable }

export type Cell = string | number | null

/** Lower-case headers, two spaces between columns, numbers to the right. Long cells are cut to fit `width`. */
export function table(headers: string[], rows: Cell[][], width: number | null): string {
  const texts = rows.map((row) =>
    row.map((cell) => (cell === null ? '-' : printable(String(cell)))),
  )
  const widths = headers.map((header, column) =>
    // Not as arguments: there may be more rows than a call can take.
    texts.reduce((width, row) => Math.max(width, columnsOf(row[column] ?? '')), header.length),
  )
  const numeric = headers.map((_, column) =>
    rows.every((row) => row[column] === null || typeof row[column] === 'number'),
  )
  const line = (cells: string[]) => {
    const padded = cells.map((cell, column) => {
      const size = widths[column] ?? 0
      return numeric[column] ? padStart(cell, size) : padEnd(cell, size)
    })
    return cut(padded.join('  ').trimEnd(), width)
  }
  return [line(headers), ...texts.map(line)].join('\n')
}

/** Columns to cut rows to; null: none. A serial console tells 0. */
export function widthOf(terminal: boolean): number | null {
  return (terminal && process.stdout.columns) || null
}

type Style = Parameters<typeof styleText>[0]

/** Colour only on a terminal, and never as the only sign. */
export function styled(style: Style, text: string, terminal: boolean): string {
  return terminal ? styleText(style, text, { validateStream: true, stream: process.stdout }) : text
}
