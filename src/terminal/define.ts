// The parts that all commands share: reading the configuration, --json, and errors about names.

import { Command, InvalidArgumentError } from 'commander'
import type { Config } from '../config/config.ts'
import { commandFor, hintWith, type LookForm } from '../domain/command.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { nearest } from '../lib/nearest.ts'
import { feedWord } from '../lib/printable.ts'
import type { CommandLine } from '../ops/port.ts'
import { commandLineHere } from './command-line.ts'
import { type Context, outJson, readConfig } from './context.ts'
import { fitted, widthOf } from './render.ts'

export interface Call<Options> {
  context: Context
  options: Options & { config?: string; json?: boolean }
  /** The configuration, read on first access. Throws `FeedsyncError` (78). */
  readonly config: Config
  commandLine: CommandLine
  /** Prints the answer as JSON with --json, else as text. */
  show(json: object, text: () => string): void
  /** Prints like `show`, and wraps the text at the width of the terminal. Commands that people paste stay whole. */
  showWrapped(json: object, text: () => string): void
}

/** define returns a command with --json. `run` gets the arguments. The exit code is 0 unless `run` sets another. */
export function define<Options>(
  context: Context,
  name: string,
  description: string,
  run: (call: Call<Options>, ...args: never[]) => Promise<void>,
): Command {
  const command = new Command(name)
    .description(description)
    .option('--json', 'print the answer as JSON')
  return command.action(async () => {
    const options = command.optsWithGlobals<Call<Options>['options']>()
    let read: Config | null = null
    const call: Call<Options> = {
      context,
      options,
      get config() {
        read ??= readConfig(context, options.config, 'as-written')
        return read
      },
      commandLine: commandLineHere(context.env, options.config),
      show: (json, text) => (options.json ? outJson(context, json) : context.out(text())),
      showWrapped: (json, text) => call.show(json, () => fitted(text(), widthOf(context))),
    }
    context.exit(0)
    await run(call, ...(command.processedArgs as never[]))
  })
}

export const usageError = (message: string, hint: string) =>
  new FeedsyncError(message, { hint, exitCode: EXIT.usage })

interface NameHelp {
  known: readonly string[]
  /** A command that only shows something, because the nearest name is a guess. */
  look?: LookForm
  /** The hint if no known name is near, or `look` is not given. */
  next?: string
}

/**
 * unknownName returns the error (64) for a name that does not exist, with the nearest of the `known` names. Its hint is
 * the command `look` with the nearest name.
 */
export function unknownName(
  what: string,
  name: string,
  { known, look, next = hintWith(null, commandFor('status')) }: NameHelp,
): FeedsyncError {
  const near = nearest(name, known)
  const meant = near === null ? '' : `; the nearest is "${near}"`
  const hint =
    near !== null && look !== undefined
      ? hintWith(null, commandFor(look, look.endsWith('<what>') ? feedWord(near) : near))
      : next
  return usageError(`no ${what} is named "${name}"${meant}`, hint)
}

/** numberOf returns a parser for whole numbers above 0. It throws `expected` as an error of commander. */
export const numberOf = (expected: string) => (text: string) => {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError(`${expected}.`)
  return Number(text)
}

export const versionId = numberOf('expected the id of a version, such as 12')

/** versionIds parses one more id of an argument that takes several, and returns it after the ids before. */
export const versionIds = (text: string, before: number[] | undefined) => [
  ...(before ?? []),
  versionId(text),
]
