// One message to systemd (sd_notify(3)), without a library: Node has no datagram socket of the right kind.
// Either a descriptor that systemd opened for us (OpenFile=, from 253 on), or systemd-notify(1), which
// waits until the manager has read the message, so that none comes from a process that is gone.

import { execFile } from 'node:child_process'
import { existsSync, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import { SECOND } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'

/**
 * Sends `NAME=value` fields as one message, after those before it. Never throws, never blocks; resolves when it has
 * arrived, or could not.
 */
export type Notify = (...fields: string[]) => Promise<void>

export interface NotifierOptions {
  env: NodeJS.ProcessEnv
  log: Log
  /** This process, for whom the descriptors are. */
  pid: number
}

const FIRST_DESCRIPTOR = 3
const PROGRAMS = ['/usr/bin/systemd-notify', '/bin/systemd-notify']
/** systemd may be busy: a message that takes longer is given up. */
const TIMEOUT = 5 * SECOND

/** null where nobody listens. */
export function createNotifier({ env, log, pid }: NotifierOptions): Notify | null {
  const failed = (error: unknown) =>
    log.debug(
      { event: 'systemd.not-told', problem: messageOf(error) },
      'systemd could not be notified',
    )
  const opened = env.LISTEN_PID === String(pid) ? (env.LISTEN_FDNAMES ?? '').split(':') : []
  const index = opened.indexOf('notify')
  if (index >= 0) {
    return async (...fields) => {
      try {
        writeSync(FIRST_DESCRIPTOR + index, fields.map(oneLine).join('\n'))
      } catch (error) {
        failed(error)
      }
    }
  }
  if (!env.NOTIFY_SOCKET) return null
  const program = PROGRAMS.find((path) => existsSync(path))
  if (program === undefined) {
    log.warn(
      { event: 'systemd.no-notify', looked: PROGRAMS },
      'systemd waits for messages and systemd-notify is not there',
    )
    return null
  }
  const socket = { NOTIFY_SOCKET: env.NOTIFY_SOCKET }
  const options = { env: socket, timeout: TIMEOUT, killSignal: 'SIGKILL' } as const
  let last = Promise.resolve()
  return (...fields) => {
    const sent = last.then(() => promisify(execFile)(program, fields.map(oneLine), options))
    last = sent.then(() => {}, failed)
    return last
  }
}

/** A line is a field: what a status quotes must not become another one. */
const oneLine = (field: string) => field.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
