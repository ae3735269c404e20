// feedsyncd completion: a script for a shell, from the command table, so that it is always complete. Only ids, feeds
// and keys are asked for while a person types: feedsyncd completion ids.

import { Argument, Command, type Option } from 'commander'
import { campaignsSeen, openCampaignMemory, openStatus } from '../app/queries.ts'
import type { Config } from '../config/config.ts'
import { type Context, readConfig } from './context.ts'
import { printable } from './render.ts'

interface Place {
  /** The commands that lead here: none, `config`, `config check`. */
  path: string[]
  commands: { name: string; description: string }[]
  options: { long: string; description: string; choices: readonly string[] }[]
  /** What its argument names. */
  takes: Kind | null
}

/** Values that only the state directory knows. */
const KINDS = {
  ids: (config: Config, context: Context) => versions(config, context).map(({ id }) => String(id)),
  feeds: (config: Config, context: Context) => versions(config, context).map(({ feed }) => feed),
  keys: (config: Config) => {
    using memory = openCampaignMemory(config)
    return campaignsSeen(memory).map(({ record }) => record.key)
  },
}

type Kind = keyof typeof KINDS

function versions(config: Config, { clock, env }: Context) {
  using status = openStatus(config, clock, env)
  return status.report({}).uploads
}

const SHELLS = { bash, zsh, fish }

type Shell = keyof typeof SHELLS

export function completionCommand(context: Context): Command {
  const shells = [...Object.keys(SHELLS), ...Object.keys(KINDS)]
  return new Command('completion')
    .description('print a completion script: source <(feedsyncd completion bash)')
    .addArgument(new Argument('<what>', 'a shell, or the values to complete').choices(shells))
    .action((what: Shell | Kind, _options, command: Command) => {
      const { config } = command.optsWithGlobals<{ config?: string }>()
      context.out(
        what in KINDS
          ? KINDS[what as Kind](readConfig(context, config), context).map(printable).join('\n')
          : SHELLS[what as Shell](placesOf(command.parent ?? command)),
      )
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
      takes: kindOf(command, path),
    }
    return [place, ...command.commands.flatMap((inner) => visit(inner, [...path, inner.name()]))]
  }
  return visit(root, [])
}

/** The id of a campaign is the service's. */
function kindOf({ registeredArguments }: Command, [group]: readonly string[]): Kind | null {
  const name = registeredArguments[0]?.name()
  if (group === 'campaigns') return name === 'key' ? 'keys' : null
  return name === 'id' ? 'ids' : name === 'feed' ? 'feeds' : null
}

/** Commands of a shell that make a list of values, at the places that take them. */
function asked(places: Place[], made: (kind: Kind) => string): string[] {
  return places.flatMap(({ path, takes }) =>
    takes === null ? [] : `    ${at(path)}) ${made(takes)} ;;`,
  )
}

const ask = (kind: Kind) => `$(feedsyncd completion ${kind} 2>/dev/null)`

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

/** As bash reads lines; the words are plain. */
const lines = (words: readonly string[]) => `$'${words.join('\\n')}'`

function bash(places: Place[]): string {
  const words = places.map((place) => `    ${at(place.path)}) words=${lines(wordsOf(place))} ;;`)
  const values = valuesOf(places).map(
    ({ path, choices }) => `    ${at(path)}) words=${lines(choices)} ;;`,
  )
  const known = asked(places, (kind) => `words+=$'\\n'${ask(kind)}`)
  return `# bash completion for feedsyncd
_feedsyncd() {
  local place='' words='' word IFS=$'\\n'
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place $word" in
    ${stepsOf(places)}) place="$place $word" ;;
    esac
  done
  case "$place" in
${words.join('\n')}
  esac
  case "$place" in
${known.join('\n')}
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
  const known = asked(places, (kind) => `choices+=(\${\${(f)"${ask(kind)}"}//:/\\\\:})`)
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
  case "$place" in
${known.join('\n')}
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
  const lines = places.flatMap(({ path, commands, options, takes }) => {
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
      ...(takes === null ? [] : [line(`-a '(feedsyncd completion ${takes} 2>/dev/null)'`)]),
    ]
  })
  return ['# fish completion for feedsyncd', ...lines].join('\n')
}
