// Reads a request body in pieces, as values: what a client does wrong with a body (stops, hangs up,
// sends less than it said) is an outcome here, never an exception.

import type { IncomingMessage } from 'node:http'
import type { Clock } from '../lib/clock.ts'

export type Piece =
  | { kind: 'bytes'; bytes: Buffer }
  | { kind: 'end' }
  /** Nothing came for the idle time. */
  | { kind: 'idle' }
  /** FIN before the announced length. */
  | { kind: 'short' }
  /** The connection is gone. */
  | { kind: 'gone' }

export class BodyReader {
  readonly #request: IncomingMessage
  readonly #clock: Clock
  readonly #idleMs: number
  readonly #onReadable = () => this.#wake()
  #wake: () => void = () => {}
  #over: Piece | null = null

  constructor(request: IncomingMessage, clock: Clock, idleMs: number) {
    this.#request = request
    this.#clock = clock
    this.#idleMs = idleMs
    request.on('readable', this.#onReadable)
    request.on('end', () => this.#finish({ kind: 'end' }))
    request.on('error', () => this.#finish({ kind: 'gone' }))
    request.on('close', () => this.#finish({ kind: 'gone' }))
  }

  get ended(): boolean {
    return this.#over?.kind === 'end'
  }

  async next(): Promise<Piece> {
    for (;;) {
      const bytes: Buffer | null = this.#request.read()
      if (bytes !== null) return { kind: 'bytes', bytes }
      if (this.#over !== null) return this.#over
      if (await this.#idle()) return { kind: 'idle' }
    }
  }

  /** The whole body, or null where it did not come whole or is longer than `limit` bytes. */
  async all(limit: number): Promise<Buffer | null> {
    const pieces: Buffer[] = []
    let bytes = 0
    for (;;) {
      const piece = await this.next()
      if (piece.kind === 'end') return Buffer.concat(pieces)
      if (piece.kind !== 'bytes' || bytes + piece.bytes.length > limit) return null
      bytes += piece.bytes.length
      pieces.push(piece.bytes)
    }
  }

  /** The parser of the connection found that the body ended too early. */
  short(): void {
    this.#finish({ kind: 'short' })
  }

  /** Lets the rest of the body run into nothing. */
  drain(): void {
    this.#request.off('readable', this.#onReadable)
    this.#request.resume()
  }

  #finish(piece: Piece): void {
    this.#over ??= piece
    this.#wake()
  }

  /** Resolves with true when the idle time passed first. */
  #idle(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(this.#idleMs, () => resolve(true))
      this.#wake = () => {
        timer.cancel()
        resolve(false)
      }
    })
  }
}
