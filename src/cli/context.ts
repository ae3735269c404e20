// What a command may touch: streams, environment, clock and signals. Commands print and set an exit code; they
// never end the process, and they build adapters through src/app only.

import type { Config } from '../config/config.ts'
import { findConfig, loadConfig } from '../config/load.ts'
import type { Links } from '../config/rules.ts'
import type { Clock } from '../lib/clock.ts'
import { printable, printableJson } from '../lib/printable.ts'
import { hintText } from '../ops/advice.ts'
import type { CommandLine } from '../ops/port.ts'
import type { SignalledProcess } from './signals.ts'

export interface Context {
  env: NodeJS.ProcessEnv
  clock: Clock
  /** The answer. */
  out: (text: string) => void
  /** Everything else. */
  err: (text: string) => void
  /** The log of a daemon, line by line. */
  log: { write(line: string): void }
  process: SignalledProcess
  /** Whether the answer goes to a terminal; then it may be coloured, cut to its width and redrawn. */
  terminal: boolean
  /** Puts a question to the person at the terminal: whether the answer is yes. null: stdin is no terminal. */
  ask: ((question: string) => Promise<boolean>) | null
  /** The code that the process ends with once nothing runs any more; 0 until a command says otherwise. */
  exit: (code: number) => void
}

/** The effective configuration, as `loadConfig` reads it. */
export function readConfig(context: Context, flag: string | undefined, links?: Links): Config {
  const { config, warnings } = loadConfig(findConfig(flag, context.env), context.env, links)
  for (const warning of warnings) context.err(`warning: ${warning}`)
  return config
}

/** The two lines of every error: what failed, and what to try. */
export function printError(context: Context, message: string, hint: string | null): void {
  context.err(`error: ${printable(message)}`)
  if (hint !== null) context.err(`try: ${printable(hint)}`)
}

/** Tells errors while a daemon runs in the terminal, each with its command as it is called here. */
export const errorPrinter =
  (context: Context, commandLine: CommandLine) =>
  (message: string, hint: string | null): void =>
    printError(context, message, hint && hintText(hint, commandLine))

/** A JSON answer: one document, the schema version first. */
export function outJson(context: Pick<Context, 'out'>, answer: object): void {
  context.out(printableJson(JSON.stringify({ schemaVersion: 1, ...answer })))
}
