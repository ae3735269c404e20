// What commands have in common: the configuration, --json, and how this program is called here.

import { Command, InvalidArgumentError } from 'commander'
import type { Config } from '../config/config.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { nearest } from '../lib/nearest.ts'
import type { CommandLine } from '../ops/port.ts'
import { commandLineHere } from './command-line.ts'
import { type Context, outJson, readConfig } from './context.ts'
import { fitted, widthOf } from './render.ts'

export interface Call<Options> {
  context: Context
  options: Options & { config?: string; json?: boolean }
  /** Read when it is first asked for. Throws `FeedsyncError` (78). */
  readonly config: Config
  commandLine: CommandLine
  /** Answers as JSON or as text, whichever was asked for. */
  show(json: object, text: () => string): void
  /** The same of text that is read and not copied: it is fitted into the terminal. */
  read(json: object, text: () => string): void
}

/** A command; `run` takes its arguments. It ends with 0 unless `run` says else. */
export function define<Options>(
  context: Context,
  name: string,
  description: string,
  run: (call: Call<Options>, ...args: never[]) => Promise<void>,
): Command {
  const command = new Command(name).description(description).option('--json', 'as JSON')
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
      read: (json, text) => call.show(json, () => fitted(text(), widthOf(context))),
    }
    context.exit(0)
    await run(call, ...(command.processedArgs as never[]))
  })
}

export const usageError = (message: string, hint: string) =>
  new FeedsyncError(message, { hint, exitCode: EXIT.usage })

/** Of a name that nothing has (64), with the nearest one that there is. `command`: what to type, where that one is meant. */
export function unknownName(
  what: string,
  name: string,
  known: readonly string[],
  command: (near: string | null) => string,
): FeedsyncError {
  const near = nearest(name, known)
  const meant = near === null ? '' : `; the nearest is "${near}"`
  return usageError(`no ${what} is named "${name}"${meant}`, `feedsyncd ${command(near)}`)
}

/** Reads a whole number above 0, as commander wants it. */
export const numberOf = (expected: string) => (text: string) => {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError(`${expected}.`)
  return Number(text)
}

export const versionId = numberOf('expected the id of a version, such as 12')
