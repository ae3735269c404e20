// Asks the person at the terminal: on stderr, since stdout has the answer of the command.

import { createInterface } from 'node:readline'

/** Whether the answer is yes; the end of the input is a no. */
export async function ask(question: string): Promise<boolean> {
  process.stderr.write(question)
  // Not as a terminal of readline's own: Ctrl-C then ends the command as any other.
  for await (const line of createInterface({ input: process.stdin, terminal: false }))
    return /^y(es)?$/i.test(line.trim())
  return false
}
