// Owns letting a `100 Continue` pass that nobody asked for. A server or a proxy may send one at any time
// (RFC 9110 section 15.2), and undici ends the connection for it, so it is taken out of what undici reads.
// Only the head of an answer is looked at; where an answer begins, undici's diagnostics say.

import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** A head that is longer is left to undici, which has a limit of its own. */
const LONGEST_HEAD = 16 * 1024

const BEFORE_STATUS = 'HTTP/1.'
/** Up to the first digit of the status. */
const UNTIL_CLASS = 'HTTP/1.1 1'.length
const INTERIM = /^HTTP\/1\.[01] 1/
const CONTINUE = /^HTTP\/1\.[01] 100\b/

const filters = new WeakMap<object, InterimFilter>()

// Published with the socket just before the head of a request is written to it.
subscribe('undici:client:sendHeaders', (message) => {
  filters.get((message as { socket: object }).socket)?.begin()
})

/** From now on undici sees no `100 Continue` on this connection. */
export function passOverContinue(socket: Socket): void {
  const filter = new InterimFilter()
  filters.set(socket, filter)
  const read = socket.read.bind(socket)
  socket.read = (size?: number) => {
    if (size !== undefined) return read(size)
    for (;;) {
      const chunk: Buffer | null = read()
      if (chunk === null) return null
      const kept = filter.take(chunk)
      if (kept.length > 0) return kept
    }
  }
}

class InterimFilter {
  #isHead = false
  #held: Buffer = Buffer.alloc(0)

  /** An answer is awaited. */
  begin(): void {
    this.#isHead = true
    this.#held = Buffer.alloc(0)
  }

  /** What of the bytes so far undici may see by now. */
  take(chunk: Buffer): Buffer {
    if (!this.#isHead) return chunk
    let rest = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    const seen: Buffer[] = []
    while (mayBeInterim(rest)) {
      const end = rest.indexOf('\r\n\r\n')
      if (end === -1 && rest.length < LONGEST_HEAD) {
        this.#held = rest
        return Buffer.concat(seen)
      }
      if (end === -1) break
      const head = rest.subarray(0, end + 4)
      if (!CONTINUE.test(head.toString('latin1'))) seen.push(head)
      rest = rest.subarray(end + 4)
    }
    this.#isHead = false
    return Buffer.concat([...seen, rest])
  }
}

/** True as well for too few bytes to tell. */
function mayBeInterim(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, UNTIL_CLASS)
  return start.length < UNTIL_CLASS
    ? BEFORE_STATUS.startsWith(start.slice(0, BEFORE_STATUS.length))
    : INTERIM.test(start)
}
