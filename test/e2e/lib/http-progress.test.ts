// A body on its way: what moves may take for ever, what stands still ends. The clock here belongs to the
// test, and time passes only after the other side has done what the test is about.

import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import { createHttpClient } from '../../../src/lib/http.ts'
import { sendWith } from '../../helpers/lib/http-client.ts'
import { rawServer } from '../../helpers/lib/http-servers.ts'

const PIECE = Buffer.alloc(64 * 1024, 'x')
const OK = 'HTTP/1.1 204 No Content\r\n\r\n'
const STALL = 15_000

/** Before each timer ends, the other side does `work`; then its time has passed, and no other. */
function steppedClock(work: () => Promise<void>): Clock & { ahead: number } {
  const clock = {
    ...systemClock,
    ahead: 0,
    monotonic: () => clock.ahead,
    after: (ms: number, run: () => void) => {
      let over = false
      void work().then(() => {
        if (over) return
        clock.ahead += ms
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

/** A server that reads only when it is told to: until the line has moved, as the sender's system sees it. */
async function patientReader(bytes: number) {
  let got = 0
  const opened = Promise.withResolvers<Socket>()
  const url = await rawServer((socket) => {
    socket.pause()
    opened.resolve(socket)
  })
  async function read(): Promise<void> {
    const socket = await opened.promise
    const before = queueTo(socket)
    // The request's head is part of what comes.
    while (queueTo(socket) === before && got < bytes) {
      const chunk: Buffer | null = socket.read()
      if (chunk === null) await new Promise((resolve) => socket.once('readable', resolve))
      else got += chunk.length
    }
    if (got < bytes || queueTo(socket) > 0) return
    socket.resume().write(OK)
  }
  return { url, read }
}

/** Bytes on their way to this socket, as the system tells of the other end of its connection. */
function queueTo({ localPort = 0, remotePort = 0 }: Socket): number {
  const [from, to] = [remotePort, localPort].map((port) =>
    port.toString(16).toUpperCase().padStart(4, '0'),
  )
  const rows = readFileSync('/proc/self/net/tcp', 'latin1').split('\n')
  const row = rows
    .map((line) => line.trim().split(/\s+/))
    .find(([, local, remote]) => local?.endsWith(`:${from}`) && remote?.endsWith(`:${to}`))
  return Number.parseInt(row?.[4] ?? '0', 16)
}

function client(clock: Clock) {
  const http = createHttpClient({ clock, env: {} })
  onTestFinished(() => http[Symbol.asyncDispose]())
  return sendWith(http)
}

const streamOf = (n: number) => ({
  ...{ length: n * PIECE.length, stallMs: STALL },
  async *chunks() {
    for (let i = 0; i < n; i++) yield PIECE
  },
})

describe('a body that is being sent', () => {
  it.runIf(process.platform === 'linux')(
    'has no limit while the other side takes some of it, even less than a send buffer asks for',
    async () => {
      const body = streamOf(128)
      const { url, read } = await patientReader(body.length)
      const clock = steppedClock(read)

      const answer = await client(clock)(url, { body, headersTimeoutMs: STALL })

      expect(answer).toMatchObject({ kind: 'answer', status: 204, sentAll: true })
      // It took many times as long as it may stand still.
      expect(clock.ahead).toBeGreaterThan(2 * STALL)
    },
  )

  it('ends when nothing moves for as long as it may stand still', async () => {
    const { url } = await patientReader(0)
    const clock = steppedClock(() => new Promise((resolve) => setTimeout(resolve, 50)))

    const answer = await client(clock)(url, { body: streamOf(1024), headersTimeoutMs: 10 * STALL })

    expect(answer).toMatchObject({ kind: 'no-answer', why: 'stalled', code: 'stalled' })
    expect(clock.ahead).toBeGreaterThanOrEqual(STALL)
  })

  it('ends as silent, not as stalled, when it was taken and no answer comes', async () => {
    const url = await rawServer((socket) => socket.resume())
    const clock = steppedClock(() => new Promise((resolve) => setTimeout(resolve, 50)))

    const answer = await client(clock)(url, { body: streamOf(4), headersTimeoutMs: 60_000 })

    expect(answer).toMatchObject({ why: 'silent', code: 'answer-timeout', bytesSent: 262_144 })
  })

  it('that was answered before it was taken is not said to be sent', async () => {
    const url = await rawServer((socket) => socket.once('data', () => socket.write(OK)))

    const answer = await client(systemClock)(url, { body: streamOf(1024) })

    expect(answer).toMatchObject({ kind: 'answer', status: 204, sentAll: false })
  })
})
