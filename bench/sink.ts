// Starts the sink's process and hears from it what arrived when.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export type SinkMessage =
  | { kind: 'listening'; port: number }
  /** The headers of a post to storage are there; `at` in shared ms. */
  | { kind: 'request'; at: number }
  /** Its last byte is there and answered. */
  | { kind: 'stored'; at: number }

const PATIENCE_MS = 15 * 60_000

export class Sink implements AsyncDisposable {
  readonly url: string
  readonly #child: ChildProcess
  #requests: number[] = []
  #stored: number[] = []
  #heard: () => void = () => {}

  constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.url = `http://127.0.0.1:${port}`
    child.on('message', (message: SinkMessage) => {
      if (message.kind === 'request') this.#requests.push(message.at)
      if (message.kind === 'stored') this.#stored.push(message.at)
      this.#heard()
    })
  }

  static async start(): Promise<Sink> {
    const child = fork(join(import.meta.dirname, 'sink-server.ts'), { execArgv: [] })
    const [message] = (await once(child, 'message')) as [SinkMessage]
    if (message.kind !== 'listening') throw new Error('the sink did not start')
    return new Sink(child, message.port)
  }

  /** Where `curl -F` posts to. */
  get storage(): string {
    return `${this.url}/storage`
  }

  /** Waits until so many files are stored since the last call, and forgets them. Times of the first request, the last file. */
  async stored(count = 1): Promise<{ files: number; requestedAt: number; storedAt: number }> {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    while (this.#stored.length < count) {
      signal.throwIfAborted()
      await new Promise<void>((resolve, reject) => {
        this.#heard = resolve
        signal.onabort = () => reject(new Error(`the sink waited in vain for ${count} files`))
      })
    }
    const [requestedAt = 0] = this.#requests
    const [storedAt = 0] = this.#stored.slice(-1)
    const files = this.#stored.length
    this.#requests = []
    this.#stored = []
    return { files, requestedAt, storedAt }
  }

  /** Files stored since anybody asked. */
  get count(): number {
    return this.#stored.length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.disconnect()
    await once(this.#child, 'exit')
  }
}
