// Writes the main numbers of the entries as a table with a line of totals.

import { groupedMoney } from '../../lib/units.ts'
import { budgetText, countText, periodText, totalsOf } from '../../ops/campaigns/numbers.ts'
import type { CampaignNumbers, Coverage } from '../../ops/campaigns/run.ts'
import { type Cell, columnsOf, table } from '../../terminal/render.ts'

interface NumbersRow {
  key: string
  state: string
  status: string | null
  coverage: Coverage | null
}

const HEADERS = ['key', 'state', 'covered', 'our count', 'spent', 'left', 'budget', 'period']

/** numbersTable has a row for each entry, and a row of totals if there are several. `now` is wall ms. */
export function numbersTable(
  entries: readonly NumbersRow[],
  now: number,
  width: number | null,
): string {
  const rows = entries.map(({ key, state, status, coverage }) =>
    coverage === null
      ? [key, state, null, null, null, null, null, status]
      : [
          ...[key, state, ...numberCells(coverage), budgetText(coverage)],
          periodText(coverage, status, now),
        ],
  )
  const totals = totalsOf(entries.map(({ coverage }) => coverage))
  const total = ['total', '', ...numberCells(totals), money(totals.budget), '']
  const all = entries.length > 1 && totals.covered !== null ? [...rows, total] : rows
  return table(HEADERS, aligned(all), width)
}

const money = (amount: string | null) => amount && groupedMoney(amount)

const numberCells = (one: CampaignNumbers): Cell[] => [
  one.covered?.toLocaleString('en-US') ?? null,
  countText(one),
  money(one.spent),
  money(one.left),
]

/** aligned puts the digits of each number column below each other. */
function aligned(rows: readonly Cell[][]): Cell[][] {
  const sizes = HEADERS.map((header, n) =>
    rows.reduce((size, row) => Math.max(size, columnsOf(String(row[n] ?? '-'))), header.length),
  )
  const isNumber = (n: number) => n >= 2 && n <= 5
  return rows.map((row) =>
    row.map((cell, n) => (isNumber(n) ? String(cell ?? '-').padStart(sizes[n] ?? 0) : cell)),
  )
}

/** numberFacts returns the main numbers of one entry with their names; none if `coverage` is null. `now` is wall ms. */
export function numberFacts(
  coverage: Coverage | null,
  status: string | null,
  now: number,
): (readonly [string, Cell])[] {
  if (coverage === null) return []
  return [
    ['covered', coverage.covered?.toLocaleString('en-US') ?? null],
    ['our count', countText(coverage)],
    ['spent', money(coverage.spent)],
    ['left', money(coverage.left)],
    ['budget', budgetText(coverage)],
    ['period', periodText(coverage, status, now)],
  ]
}
