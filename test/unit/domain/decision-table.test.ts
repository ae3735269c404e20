// docs/decision-table.md and domain/decision-table.ts have the same rows.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Rule } from '../../../src/domain/decision-rule.ts'
import { RULES, ruleOfCode, ruleOfStatus } from '../../../src/domain/decision-table.ts'

const PAGE = readFileSync(new URL('../../../docs/decision-table.md', import.meta.url), 'utf8')

/** rowOf returns a rule as one row of the page. */
function rowOf(rule: Rule): string {
  const cells = [
    `\`${rule.name}\``,
    rule.from,
    rule.when,
    rule.statuses.join(', '),
    rule.codes.join(', '),
    rule.class,
    rule.pace,
    rule.freshForm ? 'fresh' : '',
    rule.class === 'broken' ? String(rule.tries) : '',
    rule.hint,
  ]
  return `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |').replaceAll('|  |', '| |')
}

const squeezed = (line: string) => line.replace(/ +/g, ' ')

describe('the page of the decision table', () => {
  it('has exactly the rows of the code', () => {
    const rows = PAGE.split('\n').filter((line) => line.startsWith('| `'))

    expect(rows.map(squeezed)).toEqual(Object.values(RULES).map(rowOf).map(squeezed))
  })
})

describe('the decision table', () => {
  it('gives each status and each code to one row', () => {
    for (const side of ['service', 'storage'] as const) {
      const rows = Object.values(RULES).filter(({ from }) => from === side || from === 'either')
      const statuses = rows.flatMap((row) => row.statuses)
      expect(statuses.toSorted()).toEqual([...new Set(statuses)].toSorted())
      for (const row of rows)
        for (const status of row.statuses) expect(ruleOfStatus(side, status)).toBe(row)
    }
    for (const row of Object.values(RULES))
      for (const code of row.codes) expect(ruleOfCode(code)).toBe(row)
  })

  it('fails a version at once only because of the file or this host', () => {
    const final = Object.values(RULES).filter(
      (row) => row.class === 'file' || (row.class === 'broken' && row.tries === 1),
    )

    expect(final.map(({ name }) => name)).toEqual([
      ...['accountUnusable', 'largerThanForm', 'smallerThanForm', 'tooLarge', 'tooSmall'],
      ...['formAllowsOtherSize', 'spoolChanged'],
    ])
  })
})
