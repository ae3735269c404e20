// feedsyncd completion prints a script for a shell. The script is made from the command table, so that no command is
// missing. While a person types, the script runs `feedsyncd completion ids` (or `feeds`, ...) to get values.

import { Argument, Command } from 'commander'
import { openStatus } from '../app/open-status.ts'
import { campaignKeys } from '../campaigns/for-cli.ts'
import type { Config } from '../config/config.ts'
import { printable } from '../lib/printable.ts'
import { type Context, readConfig } from '../terminal/context.ts'

interface OfferedWord {
  word: string
  description: string
  /** The values that an option accepts; empty if it accepts any value. */
  values: readonly string[]
}

interface CommandPlace {
  /** The words before this place, such as `config` and `check`; empty at the first word. */
  path: string[]
  words: OfferedWord[]
  /** The kind of value that the argument takes; null if the shell completes file names. */
  takes: CompletedKind | null
}

/** Each kind of value that comes from the state directory, and how it is read. */
const KINDS = {
  ids: (config: Config, context: Context) => versions(config, context).map(({ id }) => String(id)),
  feeds: (config: Config, context: Context) => versions(config, context).map(({ feed }) => feed),
  names: (config: Config, context: Context) =>
    versions(config, context).flatMap(({ id, feed }) => [String(id), feed]),
  keys: campaignKeys,
}

type CompletedKind = keyof typeof KINDS

function versions(config: Config, { clock, env }: Context) {
  using status = openStatus(config, { clock, env, commandLine: (command) => command })
  return status.report({}).uploads
}

const SHELLS = { bash, zsh, fish }

type Shell = keyof typeof SHELLS

export function completionCommand(context: Context): Command {
  const shells = [...Object.keys(SHELLS), ...Object.keys(KINDS)]
  return new Command('completion')
    .description('print a completion script: source <(feedsyncd completion bash)')
    .addArgument(new Argument('<what>', 'a shell, or a kind of value to list').choices(shells))
    .action(async (what: Shell | CompletedKind, _options, command: Command) => {
      const { config } = command.optsWithGlobals<{ config?: string }>()
      if (what in SHELLS)
        return context.out(SHELLS[what as Shell](placesOf(command.parent ?? command)))
      const values = await KINDS[what as CompletedKind](readConfig(context, config), context)
      context.out(values.map(printable).join('\n'))
    })
}

function placesOf(root: Command): CommandPlace[] {
  const global = root.options.filter(({ long }) => long === '--config')
  const help = { word: '--help', description: 'show the help', values: [] }
  const visit = (command: Command, path: string[]): CommandPlace[] => {
    const commands = command.commands.map((inner) => ({
      word: inner.name(),
      description: inner.description(),
      values: [],
    }))
    const all = [...command.options, ...(path.length === 0 ? [] : global)]
    const options = all.flatMap(({ long, description, argChoices: values = [] }) =>
      long == null ? [] : [{ word: long, description, values }],
    )
    const place = { path, words: [...commands, ...options, help], takes: kindOf(command, path) }
    return [place, ...command.commands.flatMap((inner) => visit(inner, [...path, inner.name()]))]
  }
  return visit(root, [])
}

/** kindOf returns the kind of value that a command takes; null if its values are not completed. */
function kindOf(
  { registeredArguments }: Command,
  [group]: readonly string[],
): CompletedKind | null {
  const name = registeredArguments[0]?.name()
  if (group === 'campaigns') return name === 'key' ? 'keys' : null
  if (name === 'id|feed|path' || name === 'id|feed|file') return 'names'
  return name === 'id' ? 'ids' : name === 'feed' ? 'feeds' : null
}

/** valuePlaces returns a place for each option with a closed set of values. */
function valuePlaces({ path, words }: CommandPlace): CommandPlace[] {
  return words
    .filter(({ values }) => values.length > 0)
    .map(({ word, values }) => {
      const offered = values.map((value) => ({ word: value, description: '', values: [] }))
      return { path: [...path, word], words: offered, takes: null }
    })
}

const listCommand = (kind: CompletedKind) => `$(feedsyncd completion ${kind} 2>/dev/null)`
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
/** casePattern returns a path as the scripts build it, with a space before each word. */
const casePattern = (path: readonly string[]) => quoted(path.map((word) => ` ${word}`).join(''))

/**
 * findPlace returns shell code for bash and zsh. The code walks the words in `typed` to a place, and runs the code that
 * `offer` returns for this place. The place of an option's values counts only directly after the option.
 */
function findPlace(
  places: CommandPlace[],
  typed: string,
  offer: (place: CommandPlace) => string,
): string {
  const all = [...places, ...places.flatMap(valuePlaces)]
  const steps = all.slice(1).map(({ path }) => casePattern(path))
  return `  local place='' word
  for word in "\${${typed}}"; do
    place="\${place% --*}"
    case "$place $word" in
    ${steps.join(' | ')}) place="$place $word" ;;
    esac
  done
  case "$place" in
${all.map((place) => `    ${casePattern(place.path)}) ${offer(place)} ;;`).join('\n')}
  esac`
}

function bash(places: CommandPlace[]): string {
  // Bash splits the words at newlines. The words need no quoting, because commands have no special characters.
  const offer = ({ words, takes }: CommandPlace) =>
    `words=$'${words.map(({ word }) => word).join('\\n')}'${takes === null ? '' : `$'\\n'${listCommand(takes)}`}`
  return `# bash completion for feedsyncd
_feedsyncd() {
  local words='' IFS=$'\\n'
${findPlace(places, 'COMP_WORDS[@]:1:COMP_CWORD-1', offer)}
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _feedsyncd feedsyncd`
}

function zsh(places: CommandPlace[]): string {
  const described = ({ word, description }: OfferedWord) =>
    description === '' ? word : quoted(`${word}:${description}`)
  const offer = ({ words, takes }: CommandPlace) => {
    const known = takes === null ? [] : [`\${\${(f)"${listCommand(takes)}"}//:/\\\\:}`]
    return `choices=(${[...words.map(described), ...known].join(' ')})`
  }
  return `#compdef feedsyncd
_feedsyncd() {
  local -a choices
${findPlace(places, '(@)words[2,CURRENT-1]', offer)}
  _describe -o feedsyncd choices
  _files
}
# Complete now if zsh loaded this file for a completion; register if a person sourced it.
if [[ $funcstack[1] == _feedsyncd ]]; then
  _feedsyncd "$@"
else
  compdef _feedsyncd feedsyncd
fi`
}

function fish(places: CommandPlace[]): string {
  const lines = places.flatMap(({ path, words, takes }) => {
    const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`)
    const commands = words.map(({ word }) => word).filter((word) => !word.startsWith('--'))
    const none =
      commands.length === 0 ? [] : [`not __fish_seen_subcommand_from ${commands.join(' ')}`]
    const line = (rest: string) =>
      `complete -c feedsyncd -n ${quoted([...seen, ...none].join('; and '))} ${rest}`
    return [
      ...words.map(({ word, description, values }) => {
        const given = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
        const offered = values.length === 0 ? '' : ` -x -a ${quoted(values.join(' '))}`
        return line(`${given}${offered} -d ${quoted(description)}`)
      }),
      ...(takes === null ? [] : [line(`-a '(feedsyncd completion ${takes} 2>/dev/null)'`)]),
    ]
  })
  return ['# fish completion for feedsyncd', ...lines].join('\n')
}
