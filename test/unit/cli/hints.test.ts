// Every command that a hint can suggest (domain/command.ts), pasted into a shell and read by the real command line.

import { execFileSync } from 'node:child_process'
import type { Command as Commander } from 'commander'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { buildProgram } from '../../../src/cli/program.ts'
import {
  type Command,
  commandFor,
  commandOf,
  FORMS,
  type Form,
  hintWith,
  type LookForm,
} from '../../../src/domain/command.ts'
import { commandLineHere } from '../../../src/terminal/command-line.ts'
import type { Context } from '../../../src/terminal/context.ts'
import { unknownName } from '../../../src/terminal/define.ts'

const CONFIG = "/srv/it's here -- 12.yaml"

/** Words of people and vendors, of which each must arrive as it is. */
const ODD = ["it's $(id) `x`", '-x.xml', 'a: feedsyncd release 1', 'ü *.xml', '#1; true', '--', '']
/** The words that stand for a name in a form. Others are ids, digests and states, which feedsyncd chooses. */
const NAMES = ['<feed>', '<what>', '<key>', '<key...>', '<name>', '<file>', '<directory>']
const VALUES: Record<string, string> = {
  '<id>': '12',
  '<id...>': '12',
  '<digest>': '0a1b2c3d',
  '<status>': 'paused',
}

type AnyCommand = (form: string, ...words: (string | readonly string[])[]) => Command
const make = commandFor as unknown as AnyCommand

/** Read is what the command line understood. */
interface Read {
  path: string
  operands: string[]
  options: Record<string, unknown>
}

/** pasted returns the words that a shell makes of a text. */
function pasted(text: string): string[] {
  const script = `feedsyncd() { printf '%s\\0' "$@"; }; npm() { shift 3; feedsyncd "$@"; }; ${text}`
  const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1)
  return words[0] === '--' ? words.slice(1) : words
}

async function read(words: readonly string[]): Promise<Read> {
  const context = { out: () => {}, err: () => {}, env: {}, exit: () => {} } as unknown as Context
  const program = await buildProgram(context)
  let found: Read | null = null
  const watch = (command: Commander, path: string[]) => {
    for (const inner of command.commands) watch(inner, [...path, inner.name()])
    command.action(() => {
      const operands = command.args
      const given = Object.entries(command.optsWithGlobals()).filter(
        ([name]) => command.getOptionValueSourceWithGlobals(name) === 'cli',
      )
      found = { path: path.join(' '), operands, options: Object.fromEntries(given) }
    })
  }
  watch(program, [])
  await program.parseAsync([...words], { from: 'user' })
  return found ?? expect.fail(`nothing runs: ${words.join(' ')}`)
}

const isHelp = (form: string) => form.endsWith(' --help')

describe.each(FORMS.filter((form) => !isHelp(form)))('feedsyncd %s', (form) => {
  const tokens = form.split(' ')
  const places = tokens.filter((token) => token.startsWith('<'))
  const isNamed = places.some((place) => NAMES.includes(place))

  it.each(isNamed ? ODD : ['12'])('is read as it was meant, with %j', async (odd) => {
    const words = places.map((place) => VALUES[place] ?? odd)
    const made = make(
      form,
      ...words.map((word, n) => (places[n]?.endsWith('...>') ? [word, '13'] : word)),
    )

    for (const env of [{}, { npm_lifecycle_event: 'feedsyncd' }]) {
      const typed = pasted(commandLineHere(env, CONFIG)(made))
      const { operands, options, path } = await read(typed)

      const isOperand = (n: number) =>
        !tokens[tokens.indexOf(places[n] ?? '') - 1]?.startsWith('--')
      const expected = words.filter((_, n) => isOperand(n))
      const more = places.some((place) => place.endsWith('...>')) ? ['13'] : []
      expect(path).toBe(tokens.slice(0, tokens.findIndex((t) => /^[-<]/.test(t)) >>> 0).join(' '))
      expect(operands).toEqual([...expected, ...more])
      expect(options.config).toBe(CONFIG)
      const given = tokens.filter((token) => token.startsWith('--'))
      expect(Object.keys(options).toSorted()).toEqual(
        ['config', ...given.map(camelCase)].toSorted(),
      )
      for (const [n, word] of words.entries())
        if (!isOperand(n) && places[n] !== '<status>')
          expect(options[camelCase(tokens[tokens.indexOf(places[n] ?? '') - 1] ?? '')]).toBe(word)
      expect(typed.filter((word) => word === '--config')).toHaveLength(1)
    }
  })
})

const camelCase = (option: string) =>
  option.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

it.each(FORMS.filter(isHelp))('feedsyncd %s is a help that exists', async (form) => {
  const path = form.split(' ').slice(0, -1)
  await expect(read(pasted(`feedsyncd ${make(form)}`))).rejects.toMatchObject({
    code: 'commander.helpDisplayed',
  })
  let command: Commander | undefined = await buildProgram({ out: () => {} } as unknown as Context)
  for (const word of path) command = command?.commands.find((one) => one.name() === word)
  expect(command).toBeDefined()
})

describe('a hint', () => {
  it('is a text of which the command can be told from its words again, and a text without a command has none', () => {
    const made = commandFor('show <what>', 'path:a: feedsyncd release 1')

    expect(commandOf(hintWith('look', made))).toEqual({ words: 'look: ', command: made })
    expect(commandOf(hintWith(null, made))).toEqual({ words: '', command: made })
    expect(commandOf('feedsyncd tries again: feedsyncd does')).toMatchObject({ command: null })
  })

  it('about a name that does not exist looks at the nearest one, or else at status', () => {
    const known = ['acme.xml', '12', '-x.xml']
    const hints = ['acme.xmk', '13', '-y.xml', 'zzzzzzzzzzzz'].map(
      (name) => unknownName('feed', name, { known, look: 'show <what>' }).hint,
    )

    expect(hints).toEqual([
      'feedsyncd show acme.xml',
      'feedsyncd show feed:12',
      'feedsyncd show feed:-x.xml',
      'feedsyncd status',
    ])
    expect(unknownName('feed', 'acme.xmk', { known }).hint).toBe('feedsyncd status')
    expect(unknownName('feed', '13', { known, look: 'status <feed>' }).hint).toBe(
      'feedsyncd status 12',
    )
  })

  // The compiler runs this test: `npm run typecheck`.
  it('is made only of a form, has a guessed name only in a form that looks, and is all that a command line takes', () => {
    expectTypeOf<Parameters<typeof commandFor>[0]>().toEqualTypeOf<Form>()
    expectTypeOf<LookForm>().toEqualTypeOf<
      'status <feed>' | 'show <what>' | 'diff <what>' | 'logs <feed>'
    >()
    expectTypeOf<Parameters<ReturnType<typeof commandLineHere>>>().toEqualTypeOf<[Command]>()
  })
})
