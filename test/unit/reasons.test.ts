import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const SRC = join(import.meta.dirname, '..', '..', 'src')

const WORD = String.raw`\b(?:reason|hint|problem)\b`
/** Code that decides by the words of a sentence. The `reason` of an abort signal is an object, so it is left out. */
const BY_TEXT = [
  String.raw`${WORD}\??\.(?:startsWith|endsWith|includes|indexOf|lastIndexOf|match|search|split)\(`,
  String.raw`\.(?:exec|test)\([^)]*${WORD}`,
  String.raw`(?<!(?:signal|stop|abort)\.)${WORD} (?:===|!==) (?!null|undefined)`,
  String.raw`(?:===|!==) (?!(?:\w+\.)*(?:signal|stop|abort)\.)[\w.#?]*${WORD}`,
].map((pattern) => new RegExp(pattern))

const SHOWN = [
  // A condition with new words is shown again. No decision follows from the words.
  'domain/conditions.ts: if (known?.message !== message || known.hint !== hint || known.mark !== mark)',
]

it.each([
  "if (version.reason?.startsWith('it is gone'))",
  'if (/it is gone/.test(found.hint))',
  "if (problem === 'it is gone')",
  "if ('it is gone' !== version.reason)",
])('code that decides by words is found: %s', (line) => {
  expect(BY_TEXT.some((pattern) => pattern.test(line))).toBe(true)
})

it('no code outside the sandbox decides by the words of a reason, a hint or a problem, and no exception is left over', () => {
  const found = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('sandbox/'))
    .flatMap((name) =>
      readFileSync(join(SRC, name), 'utf8')
        .split('\n')
        .filter((line) => !/^\s*(\/\/|\*|\/\*)/.test(line))
        .filter((line) => BY_TEXT.some((pattern) => pattern.test(line)))
        .map((line) => `${name}: ${line.trim()}`),
    )

  expect(found.filter((line) => !SHOWN.some((shown) => line.startsWith(shown)))).toEqual([])
  expect(SHOWN.filter((shown) => !found.some((line) => line.startsWith(shown)))).toEqual([])
})
