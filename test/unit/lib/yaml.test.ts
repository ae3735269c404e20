import { describe, expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import { parseYaml, writeYaml } from '../../../src/lib/yaml.ts'

/** CPU time of this work. */
function costOf(work: () => void): number {
  const before = process.cpuUsage()
  work()
  return process.cpuUsage(before).user
}

describe('reading YAML', () => {
  it('returns plain values by the rules of YAML 1.2: no, on and dates are text', () => {
    const { value, problems } = parseYaml('a: no\nb: [1, 1.5, true, null, 2027-01-04, 0o7]\n')

    expect(problems).toEqual([])
    expect(value).toEqual({ a: 'no', b: [1, 1.5, true, null, '2027-01-04', 7] })
  })

  it('keeps every scalar as text with the failsafe schema', () => {
    const { value } = parseYaml('a: [NO, 01230, 1500.00, true, ~]\n1: x\n', 'failsafe')

    expect(value).toEqual({ '1': 'x', a: ['NO', '01230', '1500.00', 'true', '~'] })
  })

  it('returns null for an empty document and for comments alone', () => {
    expect([parseYaml(''), parseYaml('# nothing\n')].map(({ value }) => value)).toEqual([
      null,
      null,
    ])
  })

  it('takes time in proportion to the keys of a large block, even if it has many mistakes', () => {
    const count = 15_000
    const keys = Array.from({ length: count }, (_, n) => `K${n}: x\n`).join('')
    const plain = costOf(() => parseDocument(keys, { uniqueKeys: false }))

    const cost = costOf(() => {
      const { problems, problemAt } = parseYaml(`${keys}K7: x\n`, 'failsafe')
      const lines = Array.from({ length: count }, (_, n) => problemAt([`K${n}`], 'key', '').line)

      expect(problems).toEqual([{ line: count + 1, column: 1, key: '', reason: 'duplicate key' }])
      expect(lines.at(-1)).toBe(count)
    })

    // A comparison of each key with all keys before it takes ten times as long as reading them.
    expect(cost).toBeLessThan(5 * plain)
  })

  it('reports all mistakes of syntax in the order of the file', () => {
    const text = 'a: 1\na: 2\nb: &x 3\nc: *x\nd: !!str 4\n<<: {}\n'

    const { value, problems } = parseYaml(text)

    expect(value).toBeNull()
    expect(problems).toEqual([
      { line: 2, column: 1, key: '', reason: 'duplicate key' },
      { line: 3, column: 7, key: '', reason: 'anchors are not supported (&x)' },
      { line: 4, column: 4, key: '', reason: 'aliases are not supported (*x)' },
      { line: 5, column: 10, key: '', reason: 'tags are not supported (tag:yaml.org,2002:str)' },
      { line: 6, column: 1, key: '', reason: 'merge keys are not supported (<<)' },
    ])
  })

  it.each([
    ['a tab that indents', 'a:\n\tb: 1\n', 2, 1],
    ['a second document', 'a: 1\n---\nb: 1\n', 2, 1],
    ['a version directive', '%YAML 1.1\n---\na: NO\n', 1, 1],
    ['a list as a key', '? [a]\n: 1\n', 1, 3],
    ['a quote that is never closed', 'a: "x\n', 2, 1],
    ['an alias without an anchor', 'key: *nope\n', 1, 6],
    ['a colon in plain text', 'a: b: c\n', 1, 4],
    ['a key twice in a flow map', 'a: {b: 1, b: 2}\n', 1, 11],
  ])('refuses %s, with its position', (_, text, line, column) => {
    expect(parseYaml(text).problems[0]).toMatchObject({ line, column })
  })

  it('never expands a document', () => {
    const bomb = `a: &a [x]\n${[...'bcdefgh'].map((c, i) => `${c}: &${c} [*${'abcdefg'[i]}, *${'abcdefg'[i]}]`).join('\n')}\n`

    expect(parseYaml(bomb).value).toBeNull()
  })

  it('reports a problem for endless nesting and does not crash', () => {
    expect(parseYaml('['.repeat(20_000)).problems).not.toEqual([])
    expect(parseYaml('- '.repeat(20_000)).problems).not.toEqual([])
  })

  it('reads __proto__ as an ordinary key', () => {
    const value = parseYaml('__proto__: {polluted: 1}\n').value as object

    expect(Object.keys(value)).toEqual(['__proto__'])
    expect('polluted' in value).toBe(false)
  })
})

describe('positions', () => {
  const document = parseYaml('a: 1\nb:\n  c: x\n  d:\nl:\n  - q: 1\n  - 2\n')

  it.each([
    [['a'], 'key', 1, 1],
    [['a'], 'value', 1, 4],
    [['b', 'c'], 'value', 3, 6],
    [['l', 0, 'q'], 'value', 6, 8],
    [['l', 1], 'value', 7, 5],
  ] as const)('of %j (%s) are where it stands', (path, what, line, column) => {
    expect(document.problemAt(path, what, 'x')).toMatchObject({ line, column })
  })

  it.each([
    ['a key without a value', ['b', 'd'], 4, 3],
    ['a missing key', ['b', 'zz'], 2, 1],
    ['a missing key at the top', ['zz'], 1, 1],
    ['a missing item', ['l', 7], 5, 1],
    ['something below a scalar', ['a', 'b', 0], 1, 1],
    ['nothing at all', [], 1, 1],
  ] as const)('of %s are its nearest place', (_, path, line, column) => {
    expect(document.problemAt(path, 'value', 'x')).toMatchObject({ line, column })
  })
})

describe('writing YAML', () => {
  it('writes values that read back unchanged, also text that looks like another type', () => {
    const value = { a: ['NO', '1', 'x: y', '{1}', ''], b: { c: null, d: 'word '.repeat(40) } }

    expect(parseYaml(writeYaml(value)).value).toEqual(value)
  })
})
