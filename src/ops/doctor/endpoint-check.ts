// What `doctor` asks of http.listen: whether the daemon answers there, and what it says of itself; or,
// while it does not run, whether another program listens there.

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect, createServer } from 'node:net'
import { dirname } from 'node:path'
import { SECOND } from '../../lib/clock.ts'
import { EXIT, errorCode } from '../../lib/errors.ts'
import { shownMessage } from '../../lib/secrets.ts'
import type { Listen } from '../port.ts'
import { type Answer, ok, problem, skipped, warning } from './finding.ts'

const PATIENCE = 5 * SECOND
const MOST_SAID = 300

export async function checkEndpoint(listen: Listen | null, running: boolean): Promise<Answer> {
  if (listen === null) return skipped('there is none: http.listen is empty')
  const where = listen.kind === 'unix' ? listen.path : `${listen.host}:${listen.port}`
  if (!running) {
    const code = await placeOf(listen)
    if (code === null) return ok(`nothing listens on ${where}, so the address is free`)
    const fix = 'check what listens there (ss -ltnxp), or set http.listen to another address'
    const isTaken = code === 'EADDRINUSE'
    const found = `${where} cannot be listened on (${code})`
    return problem(isTaken ? `another program answers on ${where}` : found, fix, EXIT.temporary)
  }
  try {
    const { status, said } = await ask(listen)
    return status === 200
      ? ok(`${where} answers, and the daemon is ready`)
      : warning(
          `the daemon is not ready: ${shownMessage(said)}`,
          'see the findings above and below, and the daemon’s log',
        )
  } catch (error) {
    const says = `nothing answers on ${where} (${errorCode(error) ?? 'no answer'})`
    return problem(says, 'restart the daemon: http.listen is taken up at its start only')
  }
}

/** Why nobody can listen there; null: it is free. A port is taken for a moment; a socket would stay, and is asked. */
async function placeOf(listen: Listen): Promise<string | null> {
  const isUnix = listen.kind === 'unix'
  const asked = isUnix ? connect(listen.path) : createServer().listen(listen.port, listen.host)
  try {
    await once(asked, isUnix ? 'connect' : 'listening')
    return isUnix ? 'EADDRINUSE' : null
  } catch (error) {
    const code = errorCode(error) ?? 'UNKNOWN'
    // Of a daemon that was killed, or none at all: both are for the next one.
    const isLeft =
      isUnix && (code === 'ECONNREFUSED' || (code === 'ENOENT' && existsSync(dirname(listen.path))))
    return isLeft ? null : code
  } finally {
    if ('destroy' in asked) asked.destroy()
    else asked.close()
  }
}

/** Throws what the connection meets before an answer begins; of one that breaks off, what was said until then. */
async function ask(listen: Listen): Promise<{ status: number; said: string }> {
  const to = listen.kind === 'unix' ? { socketPath: listen.path } : listen
  const headers = { host: 'localhost' }
  const asked = request({ ...to, path: '/readyz', agent: false, timeout: PATIENCE, headers })
  // What comes after the beginning of an answer would be nobody's error, and end the program.
  asked.on('error', () => {})
  asked.once('timeout', () => asked.destroy(new Error('no answer'))).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  let said = ''
  try {
    for await (const text of response.setEncoding('utf8')) {
      said += text
      if (said.length >= MOST_SAID) break
    }
  } catch {
    // Something answers there, and its status is known.
  }
  return { status: response.statusCode ?? 0, said: said.slice(0, MOST_SAID) }
}
