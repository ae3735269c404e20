// Asks the person at the terminal. The question goes to stderr, because stdout holds the answer of the command.

import { createInterface } from 'node:readline'

/** ask returns true if the person answers yes. The end of the input counts as no. */
export async function ask(question: string): Promise<boolean> {
  process.stderr.write(question)
  const { stdin } = process
  stdin.ref()
  // With `terminal: false` readline leaves Ctrl-C alone, so Ctrl-C ends this command as it ends any other.
  const lines = createInterface({ input: stdin, terminal: false })
  const line = await new Promise<string>((resolve) => {
    lines.once('line', resolve)
    lines.once('close', () => resolve(''))
  })
  lines.close()
  // The terminal stays open after the answer. Without unref, the process would wait for another line for ever.
  stdin.unref()
  return /^y(es)?$/i.test(line.trim())
}
