// Context holds all that a command may use: streams, environment, clock and signals. A command prints and sets an exit
// code. It never ends the process, and only src/app builds adapters for it.

import { existsSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { findConfig, loadConfig } from '../config/load.ts'
import type { Links } from '../config/rules.ts'
import type { Clock } from '../lib/clock.ts'
import { printable, printableJson } from '../lib/printable.ts'
import { hintText } from '../ops/advice.ts'
import type { CommandLine } from '../ops/port.ts'
import type { SizedDisplay } from './render.ts'
import type { SignalledProcess } from './signals.ts'

export interface Context extends SizedDisplay {
  clock: Clock
  /** Prints the answer on stdout. */
  out: (text: string) => void
  /** Writes to stdout, and resolves when the bytes were written. */
  write: (bytes: string | Uint8Array) => Promise<void>
  /** Prints everything else on stderr. */
  err: (text: string) => void
  /** Takes the log of the daemon, line by line. */
  log: { write(line: string): void }
  process: SignalledProcess
  /** Asks the person at the terminal and resolves to true for yes; null if stdin is not a terminal. */
  ask: ((question: string) => Promise<boolean>) | null
  /** Sets the exit code of the process. The process ends with it when no work is left. The default is 0. */
  exit: (code: number) => void
}

/** readConfig returns the effective configuration and prints its warnings. It throws what `loadConfig` throws. */
export function readConfig(context: Context, flag: string | undefined, links?: Links): Config {
  const { config, warnings } = loadConfig(findConfig(flag, context.env), context.env, links)
  for (const warning of warnings) context.err(`warning: ${warning}`)
  return config
}

/** printError prints an error as every command does: a line with what failed, and a line with what to try, if known. */
export function printError(context: Context, message: string, hint: string | null): void {
  context.err(`error: ${printable(message)}`)
  if (hint !== null) context.err(`try: ${printable(hint)}`)
}

/** errorPrinter returns a function that prints errors of a running daemon, with commands for this shell. */
export const errorPrinter =
  (context: Context, commandLine: CommandLine) =>
  (message: string, hint: string | null): void =>
    printError(context, message, hint && hintText(hint, commandLine))

/**
 * readConfigIfThere returns the same as `readConfig`; null if the person names no configuration file and the default
 * file does not exist.
 */
export function readConfigIfThere(context: Context, flag: string | undefined): Config | null {
  const isNamed = flag !== undefined || context.env.FEEDSYNCD_CONFIG !== undefined
  const isThere = isNamed || existsSync(findConfig(flag, context.env))
  return isThere ? readConfig(context, flag, 'as-written') : null
}

/** outJson prints an answer as one JSON document that begins with the schema version. */
export function outJson({ out }: { out: Context['out'] }, answer: object): void {
  out(printableJson(JSON.stringify({ schemaVersion: 1, ...answer })))
}
