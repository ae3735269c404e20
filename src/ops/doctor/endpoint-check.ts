// What `doctor` asks of http.listen: whether the daemon answers there, and what it says of itself; or,
// while it does not run, whether another program listens there.

import { request } from 'node:http'
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
  const answer = await ask(listen)
  if ('code' in answer) {
    const says = `nothing answers on ${where} (${answer.code})`
    return running
      ? problem(CHECK, says, 'restart the daemon: http.listen is taken up at its start only')
      : ok(CHECK, `${says}, so the address is free`)
  }
  if (!running) {
    const fix = 'check what listens there (ss -ltnxp), or set http.listen to another address'
    return problem(CHECK, `another program answers on ${where}`, fix, TEMPORARY)
  }
  if (answer.status === 200) return ok(CHECK, `${where} answers, and the daemon is ready`)
  const says = `the daemon is not ready: ${excerpt(answer.said)}`
  return warning(CHECK, says, 'see the findings above and below, and the daemon’s log')
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
