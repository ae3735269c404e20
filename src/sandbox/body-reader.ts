// Reads a request body in pieces. What a client does wrong with a body (stops, hangs up, sends less than
// it announced) is an outcome, not an exception.

import type { IncomingMessage } from 'node:http'
import type { Clock } from '../lib/clock.ts'

/** `idle`: nothing came for the idle time; `short`: FIN before the announced length; `gone`: no connection. */
export type BodyEnd = 'end' | 'idle' | 'short' | 'gone'

export type BodyReader = ReturnType<typeof createBodyReader>

/** `onBytes`: called with the size of each piece that is read. */
export function createBodyReader(
  request: IncomingMessage,
  clock: Clock,
  idleMs: number,
  onBytes: (bytes: number) => void,
) {
  let changed = Promise.withResolvers<void>()
  let end: BodyEnd | null = null
  const onReadable = () => changed.resolve()
  /** The first end counts. */
  const finish = (how: BodyEnd) => {
    end ??= how
    changed.resolve()
  }
  request.on('readable', onReadable)
  request.on('end', () => finish('end'))
  request.on('error', () => finish('gone'))
  request.on('close', () => finish('gone'))

  /** Pieces as they come, until the body ends. */
  async function* pieces(): AsyncGenerator<Buffer, void> {
    for (;;) {
      changed = Promise.withResolvers()
      const bytes: Buffer | null = request.read()
      if (bytes !== null) {
        onBytes(bytes.length)
        yield bytes
      } else if (end !== null) return
      else {
        using _timer = clock.after(idleMs, () => finish('idle'))
        await changed.promise
      }
    }
  }

  return {
    pieces,
    finish,
    /** How the body ended; null while it may go on. */
    get end() {
      return end
    },
    /** The whole body, or null where it did not come whole or is longer than `limit` bytes. */
    async all(limit: number): Promise<Buffer | null> {
      const read: Buffer[] = []
      let bytes = 0
      for await (const piece of pieces()) {
        bytes += piece.length
        if (bytes > limit) return null
        read.push(piece)
      }
      return end === 'end' ? Buffer.concat(read) : null
    },
    /** Reads the rest of the body and drops it. */
    drain() {
      request.off('readable', onReadable)
      request.resume()
    },
  }
}
