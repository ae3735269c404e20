// Sends messages to systemd (sd_notify(3)). Node has no unix datagram socket, so the messages go through a descriptor
// that systemd opened (OpenFile=, systemd 253 or later) or through the program systemd-notify(1). The program waits
// until systemd has read the message, because systemd ignores a sender that is gone.

import { execFile } from 'node:child_process'
import { existsSync, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import { SECOND } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'

/**
 * Notify sends `NAME=value` fields as one message, in the order of the calls. It never throws and never blocks. It
 * resolves when the message has arrived or failed.
 */
export type Notify = (...fields: string[]) => Promise<void>

const FIRST_DESCRIPTOR = 3
const PROGRAMS = ['/usr/bin/systemd-notify', '/bin/systemd-notify']
/** The program is ended after this time, because systemd can be busy. */
const TIMEOUT = 5 * SECOND

/**
 * createNotifier returns a function that sends messages to systemd; null if systemd expects none, or if they cannot be
 * sent, which it logs. `pid` is the id of this process. A descriptor that systemd opened counts only if LISTEN_PID is
 * this id.
 */
export function createNotifier({
  env,
  log,
  pid,
}: {
  env: NodeJS.ProcessEnv
  log: Log
  pid: number
}): Notify | null {
  const failed = (error: unknown) =>
    log.debug(
      { event: 'systemd.not-told', problem: messageOf(error) },
      'systemd could not be notified',
    )
  const descriptor = openedDescriptor(env, pid)
  if (descriptor !== null) {
    return async (...fields) => {
      try {
        writeSync(descriptor, fields.map(oneLine).join('\n'))
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
      'systemd expects messages, but systemd-notify is not installed',
    )
    return null
  }
  const socket = { NOTIFY_SOCKET: env.NOTIFY_SOCKET }
  const options = { env: socket, timeout: TIMEOUT, killSignal: 'SIGKILL' } as const
  /** Resolves when the message before has arrived or failed. */
  let last = Promise.resolve()
  return (...fields) => {
    const sent = last.then(() => promisify(execFile)(program, fields.map(oneLine), options))
    last = sent.then(() => {}, failed)
    return last
  }
}

/** openedDescriptor returns the descriptor for messages, which systemd opened; null if it opened none for `pid`. */
function openedDescriptor(env: NodeJS.ProcessEnv, pid: number): number | null {
  if (env.LISTEN_PID !== String(pid)) return null
  const index = (env.LISTEN_FDNAMES ?? '').split(':').indexOf('notify')
  return index < 0 ? null : FIRST_DESCRIPTOR + index
}

/** oneLine replaces line breaks, because each line is a field, and a status must not add a field. */
const oneLine = (field: string) => field.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
