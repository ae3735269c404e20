// Drops interim answers. A server or a proxy may send `100 Continue` at any time (RFC 9110 section 15.2), but undici
// ends the connection at an interim answer that it did not ask for. undici has no option to ignore them and plans none
// (https://github.com/nodejs/undici/issues/197), so this filter hides interim answers from undici.

import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** A longer interim head goes to undici, which then ends the connection. */
const LONGEST_INTERIM_HEAD = 16 * 1024
const ANY_HEAD = 'HTTP/1.'
/** This many bytes of an answer show whether it is interim. */
const STATUS_KNOWN = 'HTTP/1.1 100 '.length
/** 101 is not interim: it ends HTTP on the connection. */
const INTERIM_HEAD = /^HTTP\/1\.[01] 1(?!01)\d\d\b/

/** The first bytes of the answer so far, for each connection that waits for an answer. */
const heads = new WeakMap<object, Buffer>()

// undici publishes this message, with the socket, just before it writes the head of a request to the socket.
subscribe('undici:client:sendHeaders', (message) => {
  heads.set((message as { socket: object }).socket, Buffer.alloc(0))
})

/** dropInterimAnswers replaces `socket.read`, so that undici sees no interim answer on this connection. */
export function dropInterimAnswers(socket: Socket): void {
  const read = socket.read.bind(socket)
  socket.read = (size?: number) => {
    if (size !== undefined) return read(size)
    for (;;) {
      const chunk: Buffer | null = read()
      if (chunk === null) return null
      const kept = withoutInterim(socket, chunk)
      if (kept.length > 0) return kept
    }
  }
}

/**
 * withoutInterim returns the bytes that undici may read now. It keeps an interim head until it is complete, and then
 * drops it.
 */
function withoutInterim(socket: Socket, chunk: Buffer): Buffer {
  const held = heads.get(socket)
  if (held === undefined) return chunk
  let rest = Buffer.concat([held, chunk])
  for (;;) {
    const start = rest.toString('latin1', 0, STATUS_KNOWN)
    const isInterim = INTERIM_HEAD.test(start)
    const canBecomeInterim =
      start.length < STATUS_KNOWN && ANY_HEAD.startsWith(start.slice(0, ANY_HEAD.length))
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1 && (isInterim || canBecomeInterim) && rest.length < LONGEST_INTERIM_HEAD) {
      heads.set(socket, rest)
      return Buffer.alloc(0)
    }
    if (end === -1 || !isInterim) break
    rest = rest.subarray(end + 4)
  }
  heads.delete(socket)
  return rest
}
