// Turns models into text for people. Whatever comes from a vendor's folder (names, reasons) is made
// harmless first: a file name may hold a newline or an escape sequence.

import { styleText } from 'node:util'
import { printable } from '../lib/printable.ts'

export { printable }

export type Cell = string | number | null

/** Lower-case headers, two spaces between columns, numbers to the right. Long cells are cut to fit `width`. */
export function table(headers: string[], rows: Cell[][], width: number | null): string {
  const texts = rows.map((row) =>
    row.map((cell) => (cell === null ? '-' : printable(String(cell)))),
  )
  const widths = headers.map((header, column) =>
    Math.max(header.length, ...texts.map((row) => row[column]?.length ?? 0)),
  )
  const numeric = headers.map((_, column) =>
    rows.every((row) => row[column] === null || typeof row[column] === 'number'),
  )
  const line = (cells: string[]) => {
    const padded = cells.map((cell, column) => {
      const size = widths[column] ?? 0
      return numeric[column] ? cell.padStart(size) : cell.padEnd(size)
    })
    return cut(padded.join('  ').trimEnd(), width)
  }
  return [line(headers), ...texts.map(line)].join('\n')
}

/** Both ends of a name tell more than its beginning. */
export function middleCut(text: string, longest: number): string {
  if (text.length <= longest) return text
  const end = Math.floor((longest - 3) / 2)
  return `${text.slice(0, longest - 3 - end)}...${text.slice(-end)}`
}

/** Columns to cut rows to; null: none. A serial console tells 0. */
export function widthOf(terminal: boolean): number | null {
  return (terminal && process.stdout.columns) || null
}

function cut(text: string, width: number | null): string {
  return width === null || text.length <= width
    ? text
    : `${text.slice(0, Math.max(0, width - 3))}...`
}

type Style = Parameters<typeof styleText>[0]

/** Colour only on a terminal, and never as the only sign. */
export function styled(style: Style, text: string, terminal: boolean): string {
  return terminal ? styleText(style, text, { validateStream: true, stream: process.stdout }) : text
}
