// Storage that reports success before it has the whole file, on real sockets. Only the first answer is wrong: later,
// storage reads the whole request and answers correctly.

import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { rawServer } from '../../helpers/lib/http-servers.ts'
import { harness } from '../../helpers/upload/harness.ts'

const NO_CONTENT = 'HTTP/1.1 204 No Content\r\n\r\n'
const MB = 1024 * 1024

/** lying opens storage on a raw socket: `odd` answers the first request, and later requests get a correct answer. */
async function lying(odd: (socket: Socket, got: number, length: number) => void) {
  let requests = 0
  const url = await rawServer((socket) => {
    let got = 0
    let length = Number.POSITIVE_INFINITY
    let head = ''
    let isOdd = false
    socket.on('data', (data: Buffer) => {
      if (head === '') {
        const text = data.toString('latin1')
        const end = text.indexOf('\r\n\r\n')
        head = text.slice(0, end)
        length = end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1])
        isOdd = requests++ === 0
      }
      got += data.length
      if (isOdd) odd(socket, got, length)
      else if (got === length) socket.end(NO_CONTENT)
    })
  })
  return harness({
    forms: (real) => ({
      ...real,
      requestForm: async (account, signal) => {
        const answer = await real.requestForm(account, signal)
        if (answer.kind !== 'form') return answer
        const fields = answer.form.fields.map(([name, value]) =>
          name === 'success_action_status' ? ([name, '204'] as const) : ([name, value] as const),
        )
        return { kind: 'form', form: { ...answer.form, url: url.href, fields } }
      },
    }),
  })
}

describe('a success status that comes before the file was sent', () => {
  it.each([
    ['and reads on', (_: Socket) => {}],
    ['and closes', (socket: Socket) => socket.end()],
    ['and stops reading', (socket: Socket) => socket.pause()],
  ])('ends the upload as failed and maybe stored: storage answers %s', async (_, then) => {
    let answered = false
    const h = await lying((socket, got) => {
      if (answered || got < 2 * MB) return
      answered = true
      socket.write(NO_CONTENT)
      then(socket)
    })

    const result = await h.send(Buffer.alloc(36 * MB, 'x'))

    const failure = { code: 'answered-early', status: 204, ambiguous: true }
    expect(result).toMatchObject({ kind: 'failed', failure })
    expect(result.tally.bytesSent).toBeLessThan(36 * MB)
  })

  it('is a failure and maybe stored, even if the end of the answer waits for the whole file', async () => {
    let answered = false
    const h = await lying((socket, got, length) => {
      if (!answered) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n')
      answered = true
      if (got === length) socket.end('\r\n')
    })

    const result = await h.send(Buffer.alloc(36 * MB, 'x'))

    expect(result).toMatchObject({ kind: 'failed', failure: { ambiguous: true } })
  })
})
