// Makes every command that a person can paste. A hint can only name a command that is in FORMS, and a test runs each of
// them through a shell and the real command line. Pure.

import { shellWord } from '../lib/printable.ts'

/**
 * FORMS are the commands that hints suggest. `<word>` stands for one word, `<word...>` for at least one; after an option
 * it is the option's value. Commands that send take no name that was guessed (see `LookForm`).
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

/** LookForm is a form that only shows something: its word can be a guess. */
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

/** commandFor returns a command of this form. */
export function commandFor<F extends Form>(form: F, ...words: Words<F>): Command {
  const left: (Word | readonly Word[])[] = [...words]
  const take = () => [left.shift() ?? []].flat().map(String)
  const path = pathOf(form)
  const tokens = form.split(' ').slice(path.split(' ').length)
  const options: string[] = []
  const operands: string[] = []
  for (const [n, token] of tokens.entries()) {
    if (token.startsWith('<')) {
      const words = take()
      const option = tokens[n - 1]?.startsWith('--') ? options.pop() : undefined
      if (option === undefined) operands.push(...words)
      else if (words[0]?.startsWith('-')) options.push(`${option}=${words[0]}`)
      else options.push(option, ...words)
    } else options.push(token)
  }
  // A word that begins with a dash would be an option.
  const isDashed = operands.some((word) => word.startsWith('-'))
  const rest = isDashed ? [...options, '--', ...operands] : [...operands, ...options]
  return [path, ...rest.map(shellWord)].join(' ') as Command
}

/** withConfig adds the configuration file to a command, or nothing for null. */
export function withConfig(made: Command, file: string | null): string {
  if (file === null) return made
  const config = ` --config ${shellWord(file)}`
  const [, options = made, operands = ''] = /^((?:[^']|'[^']*')*?)( -- .*)$/s.exec(made) ?? []
  return options + config + operands
}

/** hintWith returns a sentence and a command as one text, as the history and errors keep it. */
export function hintWith(words: string | null, made: Command): string {
  return `${words === null ? '' : `${words}: `}feedsyncd ${made}`
}

/** commandOf returns the words and the command of such a text. Text of others cannot begin a command. */
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
