// The command table, for the manual page and the completions.

import type { Command } from 'commander'
import { buildProgram } from '../../src/cli/program.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Context } from '../../src/terminal/context.ts'

const context: Context = {
  ...{ env: {}, clock: systemClock, terminal: false, ask: null },
  ...{
    out: () => {},
    write: async () => {},
    err: () => {},
    exit: () => {},
    log: process.stdout,
    process,
  },
}

const program = await buildProgram(context)

export const commandTable = { context, program: (): Command => program }
