// What `doctor` asks of http.listen: whether the daemon answers there, and what it says of itself; or,
// while it does not run, whether another program listens there.

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { request } from 'node:http'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { SECOND } from '../../lib/clock.ts'
import { errorCode } from '../../lib/errors.ts'
import { excerpt } from '../../lib/http-text.ts'
import type { Listen } from '../port.ts'
import { type Finding, ok, problem, skipped, warning } from './finding.ts'

const CHECK = 'endpoint'
const PATIENCE = 5 * SECOND
const MOST_SAID = 300
const TEMPORARY = 75

type Answer = { status: number; said: string } | { code: string }

export async function checkEndpoint(listen: Listen | null, running: boolean): Promise<Finding> {
  if (listen === null) return skipped(CHECK, 'there is none: http.listen is empty')
  const where = listen.kind === 'unix' ? listen.path : `${listen.host}:${listen.port}`
  if (!running) {
    const code = await placeOf(listen)
    if (code === null) return ok(CHECK, `nothing listens on ${where}, so the address is free`)
    const fix = 'check what listens there (ss -ltnxp), or set http.listen to another address'
    return code === 'EADDRINUSE'
      ? problem(CHECK, `another program answers on ${where}`, fix, TEMPORARY)
      : problem(CHECK, `${where} cannot be listened on (${code})`, fix, TEMPORARY)
  }
  const answer = await ask(listen)
  if ('code' in answer) {
    const says = `nothing answers on ${where} (${answer.code})`
    return problem(CHECK, says, 'restart the daemon: http.listen is taken up at its start only')
  }
  if (answer.status === 200) return ok(CHECK, `${where} answers, and the daemon is ready`)
  const says = `the daemon is not ready: ${excerpt(answer.said)}`
  return warning(CHECK, says, 'see the findings above and below, and the daemon’s log')
}

/** Why nobody can listen there; null: it is free. A port is taken for a moment; a socket would stay, and is asked. */
async function placeOf(listen: Listen): Promise<string | null> {
  if (listen.kind === 'unix') {
    const code = await codeOf(connect(listen.path), 'connect')
    // Of a daemon that was killed, or none at all: both are for the next one.
    const isFree =
      code === 'ECONNREFUSED' || (code === 'ENOENT' && existsSync(dirname(listen.path)))
    return code === null ? 'EADDRINUSE' : isFree ? null : code
  }
  const server = createServer()
  const code = await codeOf(server.listen(listen.port, listen.host), 'listening')
  if (code === null) await new Promise((resolve) => server.close(resolve))
  return code
}

/** The system's code of its failure; null where the event came. */
async function codeOf(socket: Server | Socket, event: string): Promise<string | null> {
  try {
    await once(socket, event)
    return null
  } catch (error) {
    return errorCode(error) ?? 'UNKNOWN'
  } finally {
    if ('destroy' in socket) socket.destroy()
  }
}

function ask(listen: Listen): Promise<Answer> {
  const to =
    listen.kind === 'unix' ? { socketPath: listen.path } : { host: listen.host, port: listen.port }
  return new Promise((resolve) => {
    const asked = request(
      { ...to, path: '/readyz', agent: false, timeout: PATIENCE, headers: { host: 'localhost' } },
      (response) => {
        let said = ''
        response.setEncoding('utf8').on('data', (text) => {
          said = (said + text).slice(0, MOST_SAID)
        })
        response.once('close', () => resolve({ status: response.statusCode ?? 0, said }))
      },
    )
    asked.once('timeout', () => asked.destroy(new Error('no answer')))
    asked.once('error', (error) => resolve({ code: errorCode(error) ?? 'no answer' }))
    asked.end()
  })
}
