// An upload may take any time while it makes progress, and ends without progress. The test owns the clock.

import type { Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import { createHttpClient } from '../../../src/lib/http.ts'
import { sendWith } from '../../helpers/lib/http-client.ts'
import { rawServer } from '../../helpers/lib/http-servers.ts'

const PIECE = Buffer.alloc(64 * 1024, 'x')
const OK = 'HTTP/1.1 204 No Content\r\n\r\n'
const STALL = 15_000

/** steppedClock lets half of a timer's time pass before `work` and half after it, and no other time. */
function steppedClock(work: () => Promise<void>): Clock & { ahead: number } {
  const clock = {
    ...systemClock,
    ahead: 0,
    monotonic: () => clock.ahead,
    after: (ms: number, run: () => void) => {
      let over = false
      clock.ahead += ms / 2
      void work().then(() => {
        if (over) return
        clock.ahead += ms / 2
        run()
      })
      return {
        [Symbol.dispose]: () => {
          over = true
        },
      }
    },
  }
  return clock
}

function client(clock: Clock) {
  const http = createHttpClient({ clock, env: {} })
  onTestFinished(() => http[Symbol.asyncDispose]())
  return sendWith(http)
}

const streamOf = (n: number, onAccepted = (_bytes: number) => {}) => ({
  ...{ length: n * PIECE.length, onAccepted, stallMs: STALL },
  async *chunks() {
    for (let i = 0; i < n; i++) yield PIECE
  },
})

describe('a body that is being sent', () => {
  it('has no time limit while the other side takes bytes', async () => {
    let taken = 0
    const body = streamOf(256, (bytes) => {
      taken = bytes
    })
    const opened = Promise.withResolvers<Socket>()
    const url = await rawServer((socket) => opened.resolve(socket.pause()))
    const clock = steppedClock(async () => {
      const socket = await opened.promise
      const before = taken
      while (taken === before && taken < body.length) {
        socket.read()
        await new Promise((resolve) => setImmediate(resolve))
      }
      if (taken < body.length) return
      socket.resume().write(OK)
      // From here on no time passes.
      await new Promise(() => {})
    })

    const answer = await client(clock)(url, { body })

    expect(answer).toMatchObject({ kind: 'answer', status: 204, sentAll: true })
    // The upload took many times the limit for no progress.
    expect(clock.ahead).toBeGreaterThan(2 * STALL)
  })

  it('ends after the time limit without progress', async () => {
    const url = await rawServer((socket) => socket.pause())
    const clock = steppedClock(() => new Promise((resolve) => setTimeout(resolve, 50)))

    const answer = await client(clock)(url, { body: streamOf(1024) })

    expect(answer).toMatchObject({ kind: 'no-answer', why: 'stalled', code: 'stalled' })
    expect(clock.ahead).toBeGreaterThanOrEqual(STALL)
  })

  it('ends as silent, not as stalled, if all of it was taken and no answer comes', async () => {
    const url = await rawServer((socket) => socket.resume())
    const clock = steppedClock(() => new Promise((resolve) => setTimeout(resolve, 50)))

    const answer = await client(clock)(url, { body: streamOf(4), headersTimeoutMs: 60_000 })

    expect(answer).toMatchObject({ why: 'silent', code: 'answer-timeout', bytesSent: 262_144 })
    expect(clock.ahead).toBeGreaterThanOrEqual(60_000)
  })

  it('does not count as sent if the answer came before all of it was taken', async () => {
    const url = await rawServer((socket) => socket.once('data', () => socket.write(OK)))

    const answer = await client(systemClock)(url, { body: streamOf(1024) })

    expect(answer).toMatchObject({ kind: 'answer', status: 204, sentAll: false })
  })
})
