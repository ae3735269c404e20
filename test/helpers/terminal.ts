// Runs a command on a pseudo-terminal that stays open after the answer, as a person's terminal does.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { eventually } from './eventually.ts'

export class Terminal {
  readonly #script: ChildProcess
  #shown = ''

  /** `words` are the program and its arguments, without single quotes. The end of the test kills the program. */
  constructor(words: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    const line = words.map((word) => `'${word}'`).join(' ')
    this.#script = spawn('script', ['-qec', line, '/dev/null'], { env, stdio: 'pipe' })
    for (const stream of [this.#script.stdout, this.#script.stderr])
      stream?.on('data', (bytes: Buffer) => {
        this.#shown += bytes.toString()
      })
    onTestFinished(() => {
      this.#script.kill('SIGKILL')
    })
  }

  /** shown returns everything that the terminal has shown so far. */
  get shown(): string {
    return this.#shown.replaceAll('\r\n', '\n')
  }

  async until(text: string): Promise<void> {
    await eventually(() => {
      if (!this.shown.includes(text)) throw new Error(`the terminal shows only: ${this.shown}`)
    })
  }

  type(keys: string): void {
    this.#script.stdin?.write(keys)
  }

  /** ended resolves to the exit code of the command. The terminal's input is still open then. */
  async ended(): Promise<number | null> {
    if (this.#script.exitCode !== null) return this.#script.exitCode
    const [code] = await once(this.#script, 'exit', { signal: AbortSignal.timeout(20_000) })
    return code as number | null
  }
}
