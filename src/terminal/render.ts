// Turns models into text for people. All text from a vendor's folder (names, reasons) is made harmless first, because a
// file name can hold a newline or an escape sequence. A Chinese character takes two columns of a terminal; an accent on
// another character takes none. A grapheme, which people see as one character, is never cut.

import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters, styleText } from 'node:util'
import { printable } from '../lib/printable.ts'
import { siblingFile } from '../lib/sibling-file.ts'

/** Display says whether text goes to a terminal. Only text for a terminal is coloured, cut to the width and redrawn. */
export interface Display {
  terminal: boolean
}

/** SizedDisplay also has the environment, whose COLUMNS and LINES can say the size of the terminal. */
export interface SizedDisplay extends Display {
  env: NodeJS.ProcessEnv
}

export type Cell = string | number | null

const ASCII = /^[\x20-\x7E]*$/
/** Smallest width of a column that is cut. */
const LEAST_COLUMNS = 12
/** Smallest width of a wrapped last column; a narrower one goes below its row. */
const LEAST_PROSE = 24
const HANG = 2
/** A number with its commas. */
const NUMBER = /^\d{1,3}(,\d{3})*$/
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
const COMMAND = /^(next:?)? *(feedsyncd|npm|systemctl|journalctl|kill|timedatectl) ?/
/** The label of a line: `reason    `, `TIME info  `, or only spaces. */
const LABEL = /^(\S+( \S+)? {2,}| +)/

/**
 * table returns lines with two spaces between columns and numbers aligned to the right. If the rows are wider than
 * `width`, the widest columns lose the middle of their cells. Numbers and times stay whole.
 */
export function table(headers: string[], rows: Cell[][], width: number | null): string {
  const texts = rows.map((row) =>
    row.map((cell) => (cell === null ? '-' : printable(String(cell)))),
  )
  const sizes = headers.map((header, column) =>
    // Math.max(...sizes) would fail: there can be more rows than a call can take as arguments.
    texts.reduce((size, row) => Math.max(size, columnsOf(row[column] ?? '')), header.length),
  )
  const columnsWhere = (is: (cell: Cell | undefined) => boolean) =>
    headers.map((_, column) => rows.every((row) => row[column] === null || is(row[column])))
  const isNumeric = columnsWhere((cell) => typeof cell === 'number' || NUMBER.test(cell ?? ''))
  const isWhole = columnsWhere((cell) => typeof cell === 'number' || TIME.test(cell ?? ''))
  const widths = width === null ? sizes : narrowed(sizes, isWhole, width)
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => {
        const size = widths[column] ?? 0
        const text = middleCut(cell, size)
        const space = ' '.repeat(size - columnsOf(text))
        return isNumeric[column] ? space + text : text + space
      })
      .join('  ')
      .trimEnd()
  return [line(headers), ...texts.map(line)].join('\n')
}

/** narrowed shrinks the widest columns until all fit into `width` or none can shrink. Whole columns keep their size. */
function narrowed(
  wanted: readonly number[],
  isWhole: readonly boolean[],
  width: number,
): readonly number[] {
  const sizes = [...wanted]
  const excess = () => sizes.reduce((sum, size) => sum + size + 2, -2) - width
  for (let left = excess(); left > 0; left = excess()) {
    const [widest, next = 0] = sizes
      .filter((size, column) => !isWhole[column] && size > LEAST_COLUMNS)
      .sort((a, b) => b - a)
    if (widest === undefined) break
    const column = sizes.findIndex((size, n) => size === widest && !isWhole[n])
    sizes[column] = Math.max(LEAST_COLUMNS, Math.min(widest - 1, next), widest - left)
  }
  return sizes
}

/** proseTable wraps its last column: below itself, or below the row if the other columns leave too little room. */
export function proseTable(headers: string[], rows: Cell[][], width: number | null): string {
  if (width === null) return table(headers, rows, null)
  const others = rows.map((row) => row.slice(0, -1))
  const lines = table(headers.slice(0, -1), others, width).split('\n')
  const before = lines.reduce((size, line) => Math.max(size, columnsOf(line)), 0) + 2
  const isBeside = width - before >= LEAST_PROSE
  const hang = isBeside ? before : HANG
  return lines
    .map((line, n) => {
      const cell = n === 0 ? headers.at(-1) : rows[n - 1]?.at(-1)
      const start = isBeside ? line.padEnd(line.length + before - columnsOf(line)) : `${line}\n  `
      return start + wrapped(printable(String(cell ?? '-')), width, hang)
    })
    .join('\n')
}

/**
 * fitted wraps lines that are wider than the terminal and indents them under the text after their label. A command and
 * a single word, such as an address, stay whole, because people copy them.
 */
export function fitted(text: string, width: number | null): string {
  if (width === null) return text
  const fit = (line: string): string => {
    if (shownColumns(line) <= width || COMMAND.test(stripVTControlCharacters(line))) return line
    const [label = ''] = LABEL.exec(line) ?? []
    const hang = shownColumns(label)
    return hang > width / 2
      ? wrapped(line, width, HANG)
      : label + wrapped(line.slice(label.length), width, hang || HANG)
  }
  return text.split('\n').map(fit).join('\n')
}

/** wrapped breaks text at spaces. The first line begins at column `hang`; all other lines begin with `hang` spaces. */
function wrapped(text: string, width: number, hang: number): string {
  if (shownColumns(text) <= width - hang) return text.trimEnd()
  return layout()
    .wrapped(text, width - hang)
    .join(`\n${' '.repeat(hang)}`)
}

const shownColumns = (text: string) => columnsOf(stripVTControlCharacters(text))

/** factsText prints one name and its value on each line. It leaves out values that are null. */
export function factsText(facts: readonly (readonly [name: string, value: Cell])[]): string {
  const known = facts.filter(([, value]) => value !== null)
  const width = Math.max(...known.map(([name]) => name.length))
  return known
    .map(([name, value]) => `${printable(name).padEnd(width)}  ${printable(String(value))}`)
    .join('\n')
}

/** widthOf returns the columns of the terminal; null if unknown. COLUMNS is for a serial console, which reports 0. */
export function widthOf({ env, terminal }: SizedDisplay): number | null {
  return (terminal && (Number(env.COLUMNS) || process.stdout.columns)) || null
}

/** heightOf returns the lines of the terminal; null if unknown. */
export function heightOf({ env, terminal }: SizedDisplay): number | null {
  return (terminal && (Number(env.LINES) || process.stdout.rows)) || null
}

/** cutToHeight keeps what fits on a screen of this height, and says how many lines do not. */
export function cutToHeight(text: string, height: number | null): string {
  const lines = text.split('\n')
  if (height === null || lines.length < height) return text
  const kept = lines.slice(0, Math.max(1, height - 2))
  return [...kept, `… ${lines.length - kept.length} more lines: leave out --watch`].join('\n')
}

/** middleCut removes the middle of a text that is wider than `columns`, because people need both ends of a name. */
export function middleCut(text: string, columns: number): string {
  return columnsOf(text) <= columns ? text : layout().middleCut(text, columns)
}

export function columnsOf(text: string): number {
  return ASCII.test(text) ? text.length : layout().columnsOf(text)
}

/** layout loads the tables of wide characters on first use. Node keeps them loaded. */
function layout(): typeof import('./text-layout.ts') {
  return createRequire(import.meta.url)(fileURLToPath(siblingFile('text-layout', import.meta.url)))
}

type Style = Parameters<typeof styleText>[0]

/** styled colours text only on a terminal. Colour is never the only sign. */
export function styled(style: Style, text: string, { terminal }: Display): string {
  return terminal ? styleText(style, text, { validateStream: true, stream: process.stdout }) : text
}
