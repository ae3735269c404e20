// Makes every command that a person can paste. A hint can only name a command that is in FORMS, and a test runs each of
// them through a shell and the real command line. Pure.

import { shellWord } from '../lib/printable.ts'

/**
 * FORMS are the commands that hints suggest. `<word>` stands for one word, and `<word...>` for one or more. A word
 * after an option is the value of that option. A command that sends never gets a guessed name (see `LookForm`).
 */
export const FORMS = [
  ...['status', 'status --all', 'status --json', 'status <feed>'],
  ...['show <what>', 'show <what> --all'],
  ...['diff <what>', 'diff <older> <newer> --all', 'diff --help'],
  ...['doctor', 'config check', 'alerts test'],
  ...['logs', 'logs <feed>', 'logs --file <file>'],
  ...[
    'release <id...>',
    'release <id...> --account-keeps-all',
    'release --lost-history',
    'release --lost-history --yes',
  ],
  ...['discard <id...>', 'retry <id...>', 'restore <id...>'],
  ...['run', 'resume', 'resume <feed>'],
  ...[
    'campaigns status',
    'campaigns history',
    'campaigns export',
    'campaigns search --name <name>',
  ],
  ...[
    'campaigns plan',
    'campaigns plan <key...>',
    'campaigns preview <key>',
    'campaigns covers <key>',
  ],
  ...['campaigns apply', 'campaigns apply <key...>', 'campaigns apply --plan <digest>'],
  ...['campaigns apply <key...> --plan <digest>', 'campaigns update <id> --status <status>'],
  ...['campaigns forget <key>', 'campaigns search'],
  ...['retry --help', 'campaigns create --help', 'campaigns update --help'],
  ...['demo --stay --dir <directory>'],
] as const

export type Form = (typeof FORMS)[number]

/** LookForm is the form of a command that only shows something, so its word can be a guess. */
export type LookForm = Extract<
  Form,
  'status <feed>' | 'show <what>' | 'diff <what>' | 'logs <feed>'
>

type Word = string | number

/** Words are the words that a form needs, in its order. */
type Words<F extends string> = F extends `${string}<${infer Name}>${infer Rest}`
  ? [Name extends `${string}...` ? readonly Word[] : Word, ...Words<Rest>]
  : []

declare const made: unique symbol

/** Command is a command without the program's name and the configuration: `show 12`. Only this file makes commands. */
export type Command = string & { readonly [made]: true }

/** commandFor fills a form with its words and returns the command, quoted for a shell. */
export function commandFor<F extends Form>(form: F, ...words: Words<F>): Command {
  const unused: (Word | readonly Word[])[] = [...words]
  const takeNext = () => [unused.shift() ?? []].flat().map(String)
  const path = pathOf(form)
  const tokens = form.split(' ').slice(path.split(' ').length)
  const options: string[] = []
  const operands: string[] = []
  for (const [n, token] of tokens.entries()) {
    if (token.startsWith('<')) {
      const values = takeNext()
      const option = tokens[n - 1]?.startsWith('--') ? options.pop() : undefined
      if (option === undefined) operands.push(...values)
      else if (values[0]?.startsWith('-')) options.push(`${option}=${values[0]}`)
      else options.push(option, ...values)
    } else options.push(token)
  }
  // Without `--`, the command line would take an operand that begins with a dash for an option.
  const hasDashedOperand = operands.some((word) => word.startsWith('-'))
  const rest = hasDashedOperand ? [...options, '--', ...operands] : [...operands, ...options]
  return [path, ...rest.map(shellWord)].join(' ') as Command
}

/** withConfig adds `--config FILE` to a command. If `file` is null, it returns the command as it is. */
export function withConfig(command: Command, file: string | null): string {
  if (file === null) return command
  const config = ` --config ${shellWord(file)}`
  // The option must come before a `--` that stands outside of quotes.
  const [, options = command, operands = ''] = /^((?:[^']|'[^']*')*?)( -- .*)$/s.exec(command) ?? []
  return options + config + operands
}

/** hintWith returns a sentence and a command as one text, as the history and errors keep it. */
export function hintWith(words: string | null, command: Command): string {
  return `${words === null ? '' : `${words}: `}feedsyncd ${command}`
}

/**
 * commandOf splits a hint (`hintWith`) into its words and its command. `command` is null if the hint does not end with
 * a command of FORMS.
 */
export function commandOf(text: string): { words: string; command: Command | null } {
  const [, words = '', found] = /^(|.*?: )feedsyncd (.*)$/s.exec(text) ?? []
  const isOurs = found !== undefined && FORMS.some((form) => startsLike(found, form))
  return isOurs ? { words, command: found as Command } : { words: text, command: null }
}

function startsLike(text: string, form: string): boolean {
  const path = pathOf(form)
  return text === path || text.startsWith(`${path} `)
}

/** pathOf returns the words of a form before its first option or operand. */
function pathOf(form: string): string {
  return form.split(/ [-<]/, 1)[0] ?? ''
}
