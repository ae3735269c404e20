import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const SRC = join(import.meta.dirname, '..', '..', 'src')

const WORD = String.raw`\b(?:reason|hint|problem)\b`
/** Ways to decide something by the wording of a sentence. An abort signal has a `reason` that is an object. */
const BY_TEXT = [
  String.raw`${WORD}\??\.(?:startsWith|endsWith|includes|indexOf|lastIndexOf|match|search|split)\(`,
  String.raw`\.(?:exec|test)\([^)]*${WORD}`,
  String.raw`(?<!(?:signal|stop|abort)\.)${WORD} (?:===|!==) (?!null|undefined)`,
  String.raw`(?:===|!==) (?!(?:\w+\.)*(?:signal|stop|abort)\.)[\w.#?]*${WORD}`,
].map((pattern) => new RegExp(pattern))

const SHOWN = [
  // Shown again when its words change: nothing else follows from them.
  'lib/conditions.ts: if (known?.message !== message || known.hint !== hint)',
  // The command at its end is shown as it is called here.
  'ops/advice.ts: const found = /^(.*: )?feedsyncd (.*)$/.exec(hint)',
]

it('decides nothing by the words of a reason, a hint or a problem: their codes are there for that', () => {
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
})
