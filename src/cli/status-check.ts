// `status --check` prints the problems in one line and sets an exit code, like a monitoring plugin.

import { printable } from '../lib/printable.ts'
import { countOf, relativeTime } from '../lib/units.ts'
import { firstLine } from '../ops/problem.ts'
import { worst } from '../ops/problems.ts'
import type { StatusReport } from '../ops/report.ts'
import { middleCut } from '../terminal/render.ts'

/** Longest line, in characters, that pagers and phones show whole. */
const LONGEST = 200
/** A sentence that is cut to fewer characters says nothing. */
const SHORTEST_PART = 40

export interface Checked {
  code: number
  line: string
}

/** The exit code and the word of each severity. If there is no report, callers answer 3, unknown. */
const CODES = {
  critical: [2, 'CRITICAL'],
  warning: [1, 'WARNING'],
  info: [0, 'OK'],
} as const

/** statusCheck returns the worst severity as an exit code, and a line with the problems or, without any, with facts. */
export function statusCheck({ daemon, problems, uploads }: StatusReport, now: number): Checked {
  const [code, word] = CODES[worst(problems) ?? 'info']
  const reported = problems.filter(({ severity }) => severity !== 'info').map(firstLine)
  const facts = `${countOf(uploads.length, 'feed')}, folder listed ${relativeTime(daemon.lastScanAt, now)}`
  return { code, line: lineOf(word, code === 0 ? [facts] : reported) }
}

/**
 * lineOf joins as many parts as fit into a line of 200 characters, and counts the others. If there is too little room,
 * the first part loses its middle, and the last part loses its end.
 */
export function lineOf(word: string, parts: readonly string[]): string {
  const [first = '', ...others] = parts.map(printable)
  const more = (left: number) => (left === 0 ? '' : `; and ${left} more`)
  let line = `${word} - ${first}`
  let left = others.length
  for (const part of others) {
    const room = LONGEST - line.length - '; '.length - more(left - 1).length
    if (part.length > room && room < SHORTEST_PART) break
    line += `; ${part.length > room ? `${part.slice(0, room - 1)}…` : part}`
    left -= 1
  }
  return middleCut(line, LONGEST - more(left).length) + more(left)
}
