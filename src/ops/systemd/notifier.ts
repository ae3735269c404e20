// One message to systemd (sd_notify(3)), without a library: Node has no datagram socket of the right kind.
// Either a descriptor that systemd opened for us (OpenFile=, from 253 on), or systemd-notify(1), which
// waits until the manager has read the message, so that none comes from a process that is gone.

import { execFile } from 'node:child_process'
import { accessSync, constants, writeSync } from 'node:fs'
import { SECOND } from '../../lib/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'

export interface Notifier {
  /** Sends `NAME=value` fields as one message, after those before it. Never throws, never blocks. */
  send(...fields: string[]): void
  /** Resolves when what was sent has arrived, or could not. */
  drained(): Promise<void>
}

export interface NotifierOptions {
  env: Readonly<Record<string, string | undefined>>
  log: Log
  /** This process, for whom the descriptors are. */
  pid: number
}

const FIRST_DESCRIPTOR = 3
const PROGRAMS = ['/usr/bin/systemd-notify', '/bin/systemd-notify']
/** systemd may be busy: a message that takes longer is given up. */
const TIMEOUT = 5 * SECOND

/** null where nobody listens. */
export function createNotifier({ env, log, pid }: NotifierOptions): Notifier | null {
  const socket = env.NOTIFY_SOCKET
  const descriptor = openedFor(env, pid)
  if (descriptor !== null) return throughDescriptor(descriptor, log)
  if (!socket) return null
  const program = PROGRAMS.find(isExecutable)
  if (program !== undefined) return throughProgram(program, socket, log)
  log.warn(
    { event: 'systemd.no-notify', looked: PROGRAMS },
    'systemd waits for messages and systemd-notify is not there',
  )
  return null
}

function openedFor(env: NotifierOptions['env'], pid: number): number | null {
  if (env.LISTEN_PID !== String(pid)) return null
  const index = (env.LISTEN_FDNAMES ?? '').split(':').indexOf('notify')
  return index === -1 ? null : FIRST_DESCRIPTOR + index
}

function throughDescriptor(descriptor: number, log: Log): Notifier {
  return {
    send: (...fields) => {
      try {
        writeSync(descriptor, fields.map(oneLine).join('\n'))
      } catch (error) {
        log.debug(
          { event: 'systemd.not-told', problem: messageOf(error) },
          'systemd could not be notified',
        )
      }
    },
    drained: () => Promise.resolve(),
  }
}

function throughProgram(program: string, socket: string, log: Log): Notifier {
  let last: Promise<void> = Promise.resolve()
  const run = (fields: string[]) =>
    new Promise<void>((resolve) => {
      const options = {
        env: { NOTIFY_SOCKET: socket },
        timeout: TIMEOUT,
        killSignal: 'SIGKILL',
      } as const
      execFile(program, fields.map(oneLine), options, (error) => {
        if (error !== null)
          log.debug(
            { event: 'systemd.not-told', problem: messageOf(error) },
            'systemd could not be notified',
          )
        resolve()
      })
    })
  return {
    send: (...fields) => {
      last = last.then(() => run(fields))
    },
    drained: () => last,
  }
}

/** A line is a field: what a status quotes must not become another one. */
const oneLine = (field: string) => field.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
