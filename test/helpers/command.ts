// Runs command lines inside the test's own process, as main.ts does, because a new process takes a second.

import { EventEmitter } from 'node:events'
import { runCli } from '../../src/cli/program.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Context } from '../../src/terminal/context.ts'

export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

/** Command is a running command, to which a test can send signals. */
export class Command {
  readonly ended: Promise<Ran>
  /** The output so far, of stdout and stderr together in order. */
  output = ''
  exitCode: number | null = null
  readonly #signals = new EventEmitter()

  constructor(args: readonly string[], over: Partial<Context> = {}) {
    const ran: Ran = { code: null, stdout: '', stderr: '' }
    const to = (stream: 'stdout' | 'stderr', end: string) => (text: string) => {
      ran[stream] += text + end
      this.output += text + end
    }
    const host = { pid: process.pid, kill: () => true, exit: () => {} }
    const context: Context = {
      ...{ env: {}, clock: systemClock, terminal: false, ask: null },
      write: async (bytes) => to('stdout', '')(Buffer.from(bytes).toString()),
      ...{ out: to('stdout', '\n'), err: to('stderr', '\n'), log: { write: to('stdout', '') } },
      process: Object.assign(this.#signals, host) as unknown as Context['process'],
      exit: (code) => {
        ran.code = code
      },
      ...over,
    }
    this.ended = runCli(args, context).then(() => {
      // A process without an exit code ends with 0.
      ran.code ??= 0
      this.exitCode = ran.code
      return ran
    })
  }

  /** stop ends the command as `systemctl stop` does. */
  stop(): Promise<Ran> {
    this.kill('SIGTERM')
    return this.ended
  }

  kill(signal: 'SIGTERM' | 'SIGINT'): void {
    this.#signals.emit(signal)
  }
}

/** runWithin runs a command line to its end inside this process. */
export function runWithin(args: readonly string[], over: Partial<Context> = {}): Promise<Ran> {
  return new Command(args, over).ended
}
