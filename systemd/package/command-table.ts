// The command table, for the manual page and the completions.

import type { Command } from 'commander'
import type { Context } from '../../src/cli/context.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { systemClock } from '../../src/lib/clock.ts'

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
