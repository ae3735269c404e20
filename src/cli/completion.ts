// feedsyncd completion: a script for a shell, from the command table, so that it is always complete. It is static: no
// shell starts Node to complete a word.

import { Argument, Command, type Option } from 'commander'
import type { Context } from './context.ts'

interface Place {
  /** The commands that lead here: none, `config`, `config check`. */
  path: string[]
  commands: { name: string; description: string }[]
  options: { long: string; description: string; choices: readonly string[] }[]
}

const SHELLS = { bash, zsh, fish }

type Shell = keyof typeof SHELLS

export function completionCommand(context: Context): Command {
  const shells = Object.keys(SHELLS)
  return new Command('completion')
    .description('print a completion script: source <(feedsyncd completion bash)')
    .addArgument(new Argument('<shell>').choices(shells))
    .action((shell: Shell, _options, command: Command) => {
      const root = command.parent ?? command
      context.out(SHELLS[shell](placesOf(root)))
    })
}

function placesOf(root: Command): Place[] {
  const global = root.options.filter(({ long }) => long === '--config')
  const visit = (command: Command, path: string[]): Place[] => {
    const inherited = path.length === 0 ? [] : global
    const options = [...command.options, ...inherited].flatMap(optionOf)
    const place: Place = {
      path,
      commands: command.commands.map((inner) => ({
        name: inner.name(),
        description: inner.description(),
      })),
      options: [...options, { long: '--help', description: 'what it does', choices: [] }],
    }
    return [place, ...command.commands.flatMap((inner) => visit(inner, [...path, inner.name()]))]
  }
  return visit(root, [])
}

function optionOf({ long, description, argChoices }: Option): Place['options'] {
  return long == null ? [] : [{ long, description, choices: argChoices ?? [] }]
}

const single = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const wordsOf = ({ commands, options }: Place) => [
  ...commands.map(({ name }) => name),
  ...options.map(({ long }) => long),
]

/** A path as the scripts build it: with a space before each word. */
const at = (path: readonly string[]) => single(path.map((word) => ` ${word}`).join(''))

/** The commands, as patterns for the words that were typed. */
function stepsOf(places: Place[]): string {
  return places
    .flatMap(({ path, commands }) => commands.map(({ name }) => at([...path, name])))
    .join(' | ')
}

/** Options with a closed set of values. */
function valuesOf(places: Place[]): { path: string[]; choices: readonly string[] }[] {
  return places.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ long, choices }) => ({ path: [...path, long], choices })),
  )
}

function bash(places: Place[]): string {
  const words = places.map(
    (place) => `    ${at(place.path)}) words=${single(wordsOf(place).join(' '))} ;;`,
  )
  const values = valuesOf(places).map(
    ({ path, choices }) => `    ${at(path)}) words=${single(choices.join(' '))} ;;`,
  )
  return `# bash completion for feedsyncd
_feedsyncd() {
  local place='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place $word" in
    ${stepsOf(places)}) place="$place $word" ;;
    esac
  done
  case "$place" in
${words.join('\n')}
  esac
  case "$place \${COMP_WORDS[COMP_CWORD-1]}" in
${values.join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _feedsyncd feedsyncd`
}

function zsh(places: Place[]): string {
  const described = ({ commands, options }: Place) =>
    [
      ...commands.map(({ name, description }) => single(`${name}:${description}`)),
      ...options.map(({ long, description }) => single(`${long}:${description}`)),
    ].join(' ')
  const cases = places.map((place) => `    ${at(place.path)}) choices=(${described(place)}) ;;`)
  const values = valuesOf(places).map(
    ({ path, choices }) => `    ${at(path)}) choices=(${choices.join(' ')}) ;;`,
  )
  return `#compdef feedsyncd
_feedsyncd() {
  local place='' word
  local -a choices
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
    ${stepsOf(places)}) place="$place $word" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  case "$place \${words[CURRENT-1]}" in
${values.join('\n')}
  esac
  _describe -o feedsyncd choices
  _files
}
# zsh has loaded this file for a completion, or somebody has sourced it.
if [[ $funcstack[1] == _feedsyncd ]]; then
  _feedsyncd "$@"
else
  compdef _feedsyncd feedsyncd
fi`
}

function fish(places: Place[]): string {
  const lines = places.flatMap(({ path, commands, options }) => {
    const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`)
    const none =
      commands.length === 0
        ? []
        : [`not __fish_seen_subcommand_from ${commands.map(({ name }) => name).join(' ')}`]
    const condition = single([...seen, ...none].join('; and '))
    const line = (rest: string) => `complete -c feedsyncd -n ${condition} ${rest}`
    return [
      ...commands.map(({ name, description }) => line(`-a ${name} -d ${single(description)}`)),
      ...options.map(({ long, description, choices }) => {
        const values = choices.length === 0 ? '' : ` -x -a ${single(choices.join(' '))}`
        return line(`-l ${long.slice(2)}${values} -d ${single(description)}`)
      }),
    ]
  })
  return ['# fish completion for feedsyncd', ...lines].join('\n')
}
