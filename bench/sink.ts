// Starts the process of sink-server.ts and receives the times of its requests.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export type SinkMessage =
  | { kind: 'listening'; port: number }
  /** The headers of a post to storage have arrived; `at` is in shared ms. */
  | { kind: 'request'; at: number }
  /** The last byte of a post has arrived and was answered. */
  | { kind: 'stored'; at: number }

/** PATIENCE_MS limits the wait for files. */
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

  /** storage is the address for `curl -F`. */
  get storage(): string {
    return `${this.url}/storage`
  }

  /**
   * stored waits until `count` files have been stored since the last call, and returns the number of files, and the
   * times of the first request and of the last file in shared ms. Then it forgets them. Rejects after PATIENCE_MS.
   */
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

  /** count is the number of files stored since the last call of `stored`. */
  get count(): number {
    return this.#stored.length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.disconnect()
    await once(this.#child, 'exit')
  }
}
