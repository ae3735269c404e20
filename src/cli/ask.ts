// Asks the person at the terminal. The question goes to stderr, because stdout holds the answer of the command.

import { createInterface } from 'node:readline'

/** ask returns true if the person answers yes. The end of the input counts as no. */
export async function ask(question: string): Promise<boolean> {
  process.stderr.write(question)
  // With `terminal: false` readline leaves Ctrl-C alone, so it ends this command like any other.
  for await (const line of createInterface({ input: process.stdin, terminal: false }))
    return /^y(es)?$/i.test(line.trim())
  return false
}
