import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/load.ts'
import { ConfigProblems } from '../../../src/config/problems.ts'

const EXAMPLE = readFileSync(
  join(import.meta.dirname, '../../../config/feedsyncd.example.yaml'),
  'utf8',
)

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'feedsyncd-robust-'))
})

afterAll(() => rmSync(folder, { recursive: true }))

/** holds checks that the file can be used, or that each of its mistakes has a place in the file. */
function holds(text: string): void {
  const file = join(folder, 'feedsyncd.yaml')
  writeFileSync(file, text)

  try {
    loadConfig(file, {})
  } catch (error) {
    if (!(error instanceof ConfigProblems)) throw error
    expect(error.lines.length).toBeGreaterThan(0)
    for (const shown of error.lines) {
      const [, line, column, problem] = /^:(\d+):(\d+) (.+)$/s.exec(shown.slice(file.length)) ?? []
      expect(Number(line)).toBeGreaterThanOrEqual(1)
      expect(Number(line)).toBeLessThanOrEqual(text.split(/\r\n|\r|\n/).length)
      expect(Number(column)).toBeGreaterThanOrEqual(1)
      expect(problem).not.toMatch(/: $/)
    }
  }
}

describe('a damaged configuration file', () => {
  it('can be used, or has only problems with a place in it, after any cut or insertion', () => {
    const oddities = [
      '\t',
      ':',
      '- ',
      '{',
      ']',
      '"',
      '&a ',
      '*a',
      '!!x ',
      '\n',
      'null',
      '~',
      '1e999',
      '---\n',
      '\u0000',
    ]
    const damage = fc.record({
      at: fc.nat(EXAMPLE.length),
      cut: fc.nat(40),
      put: fc.constantFrom('', ...oddities),
    })

    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 4 }), (damages) => {
        holds(
          damages.reduce(
            (text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut),
            EXAMPLE,
          ),
        )
      }),
      { seed: 1, numRuns: 60 },
    )
  })

  it('can be used, or has only problems with a place in it, with values of any shape', () => {
    const keys = fc.constantFrom(
      'service',
      'inbox',
      'feeds',
      'alerts',
      'match',
      'on',
      'exec',
      'auth',
      'keyFile',
      '0',
      '__proto__',
    )
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.string(),
        fc.double(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value')),
        fc.dictionary(keys, tie('value')),
      ),
    }))

    fc.assert(
      fc.property(value, (any) => holds(JSON.stringify(any) ?? '')),
      { seed: 1, numRuns: 100 },
    )
  })
})
