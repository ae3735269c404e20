// `status` on a terminal of 80 columns, with few and with many feeds.

import { describe, expect, it } from 'vitest'
import { statusText } from '../../../src/cli/status-view.ts'
import type { UploadReport } from '../../../src/ops/upload-report.ts'
import { columnsOf, cutToHeight, fitted } from '../../../src/terminal/render.ts'
import { reportOf } from '../../helpers/ops/samples.ts'
import { NOW, statusWith } from '../../helpers/ops/status-report.ts'

const commandLine = (command: string) => `feedsyncd ${command}`

/** feeds returns one feed for each customer. A tenth is rejected for one reason, a tenth is held, and a tenth waits. */
function feeds(count: number): UploadReport[] {
  return Array.from({ length: count }, (_, n) => {
    const feed = `customers/north-west-${String(n).padStart(3, '0')}/jobs-full.xml`
    const over = { id: n + 1, feed, postings: 1000 + n }
    if (n % 10 === 1)
      return reportOf({
        ...over,
        state: 'rejected',
        reason: 'line 311, column 14: "&" must be written "&amp;"',
      })
    if (n % 10 === 2)
      return reportOf({
        ...over,
        state: 'held',
        reason: `postings fell from 1,000 to ${n}, by 99 %`,
      })
    return reportOf({ ...over, state: n % 10 === 3 ? 'queued' : 'uploaded' })
  })
}

function shown(count: number): string[] {
  const report = statusWith({ uploads: feeds(count) })
  const view = { now: NOW, terminal: true, width: 80, commandLine, limit: 50 }
  return fitted(statusText(report, view), 80).split('\n')
}

describe.each([3, 40, 250])('status with %i feeds at 80 columns', (count) => {
  it('fits, except for commands', () => {
    const long = shown(count).filter((line) => columnsOf(line) > 80)

    expect(long.filter((line) => !/^ {4}feedsyncd /.test(line))).toEqual([])
  })

  it('tells each sentence at most twice, and prints no placeholder as a command', () => {
    const lines = shown(count)
    const sentences = lines.filter((line) => /^\w+: |^ {2}\S/.test(line))

    const often = [...Map.groupBy(sentences, (line) => line)].filter(([, all]) => all.length > 2)
    expect(sentences.length).toBeGreaterThan(0)
    expect(often).toEqual([])
    expect(lines.filter((line) => /feedsyncd \w+ (?:ID|PATH|FEED)\b/.test(line))).toEqual([])
  })

  it('keeps the part of each name that differs', () => {
    const names = shown(count).flatMap(
      (line) => line.match(/…\/north-west-\d{3}\/jobs-full\.xml/g) ?? [],
    )

    expect(names.length).toBeGreaterThan(count === 3 ? 2 : 10)
    expect(new Set(names).size).toBe(names.length)
  })
})

it('text that is too high for the terminal is cut and says how many lines are missing, and short text stays whole', () => {
  const all = shown(250)
  const lines = cutToHeight(all.join('\n'), 24).split('\n')

  expect(lines).toHaveLength(23)
  expect(lines.at(-1)).toBe(`… ${all.length - 22} more lines: leave out --watch`)
  expect(cutToHeight('a\nb', 24)).toBe('a\nb')
})

it('status with 250 feeds takes fewer than 140 lines', () => {
  expect(shown(250).length).toBeLessThan(140)
})
