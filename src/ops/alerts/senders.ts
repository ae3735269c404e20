// How a message leaves: a program of the operator's, without a shell, or a webhook, signed as the
// Standard Webhooks specification says. One try each; when to try again is the desk's business.

import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type Clock, SECOND } from '../../lib/clock.ts'
import { errnoText } from '../../lib/errno.ts'
import { messageOf } from '../../lib/errors.ts'
import { LONGEST_SECRET, readRegular, withoutNewline } from '../../lib/files.ts'
import type { HttpClient } from '../../lib/http.ts'
import { registerSecret, registerTemporarySecret, shownMessage } from '../../lib/secrets.ts'
import type { AlertTarget } from '../port.ts'
import { type AlertMessage, alertVariables } from './message.ts'

/** `stuck`: the program did not end in time. */
export type Sent = { kind: 'sent' } | { kind: 'failed'; reason: string; stuck?: boolean }

export interface SenderParts {
  clock: Clock
  http: HttpClient
  env: NodeJS.ProcessEnv
}

type Webhook = Extract<AlertTarget['action'], { kind: 'webhook' }>

const EXEC_TIMEOUT = 30 * SECOND
const STDERR_GRACE = SECOND
const TERM_GRACE = 2 * SECOND
const ANSWER_TIMEOUT = 10 * SECOND
const MOST_STDERR = 2000
const SENT: Sent = { kind: 'sent' }

/**
 * What our own start was given and a hook must not inherit: options of our Node, where the key lies,
 * systemd's sockets.
 */
const PRIVATE_VARIABLES =
  /^(NODE_.*|CREDENTIALS_DIRECTORY|NOTIFY_SOCKET|WATCHDOG_.*|LISTEN_.*|JOURNAL_STREAM|FEEDSYNCD_.*)$/

/** What may be shown of a target: an address is a credential with many receivers. */
export function targetName({ action }: AlertTarget): string {
  return action.kind === 'exec' ? (action.command[0] ?? '') : action.origin
}

/** Never throws for what the program, the network or the other side does. */
export function sendAlert(
  { action }: AlertTarget,
  message: AlertMessage,
  parts: SenderParts,
  signal: AbortSignal,
): Promise<Sent> {
  return action.kind === 'exec'
    ? runProgram(action.command, message, parts, signal)
    : post(action, message, parts, signal)
}

async function runProgram(
  [program = '', ...args]: readonly string[],
  message: AlertMessage,
  { clock, env }: SenderParts,
  signal: AbortSignal,
): Promise<Sent> {
  const kept = Object.entries(env).filter(([name]) => !PRIVATE_VARIABLES.test(name))
  const limit = new AbortController()
  using _timer = clock.after(EXEC_TIMEOUT, () => limit.abort())
  const isOver = AbortSignal.any([signal, limit.signal])
  try {
    const child = spawn(program, args, {
      env: { ...Object.fromEntries(kept), ...alertVariables(message) },
      stdio: ['pipe', 'ignore', 'pipe'],
      shell: false,
      // A process group of its own, so that its children can be ended with it.
      detached: true,
    })
    const exited = once(child, 'exit')
    // It was not started: where no more files can be opened, it has no streams, either.
    if (child.pid === undefined) await exited
    // Whoever stops the daemon at once does not wait for an alert either.
    const end = () => endGroup(child.pid, clock, signal.aborted)
    isOver.addEventListener('abort', end)
    if (isOver.aborted) end()
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-MOST_STDERR)
    })
    // A program that does not read its input is none the worse for it.
    child.stdin.on('error', () => {})
    child.stdin.end(`${JSON.stringify(message)}\n`)
    const closed = new Promise((resolve) => child.once('close', resolve))
    const [code, killedBy] = await exited
    isOver.removeEventListener('abort', end)
    end()
    // What it said last may still be on its way; a process that it left behind may hold stderr open.
    using _late = clock.after(STDERR_GRACE, () => child.stderr.destroy())
    await closed
    if (limit.signal.aborted)
      return { ...failed(`it ran for more than ${EXEC_TIMEOUT / SECOND} s`), stuck: true }
    if (code === 0) return SENT
    const how = code === null ? `was ended by ${killedBy}` : `ended with ${code}`
    return failed(`it ${how}${said === '' ? '' : `: ${shownMessage(said)}`}`)
  } catch (error) {
    return failed(messageOf(error))
  }
}

const failed = (reason: string) => ({ kind: 'failed', reason }) as const

/** What ignores SIGTERM is killed a moment later. Nobody is left to be told of what was gone before. */
function endGroup(pid: number | undefined, clock: Clock, atOnce: boolean): void {
  if (pid === undefined || !signalled(pid, atOnce ? 'SIGKILL' : 'SIGTERM') || atOnce) return
  clock.after(TERM_GRACE, () => void signalled(pid, 'SIGKILL'))
}

/** False where no process of the group is left. */
function signalled(pid: number, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

async function post(
  { url, origin, secretFile }: Webhook,
  message: AlertMessage,
  { clock, http }: SenderParts,
  signal: AbortSignal,
): Promise<Sent> {
  const body = JSON.stringify(message)
  const timestamp = String(Math.floor(clock.now() / SECOND))
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
  }
  if (secretFile !== null) {
    try {
      const signed = `${message.id}.${timestamp}.${body}`
      const proof = createHmac('sha256', secretOf(secretFile)).update(signed).digest('base64')
      registerTemporarySecret(proof)
      headers['webhook-signature'] = `v1,${proof}`
    } catch (error) {
      const name = `the secret ${secretFile}`
      return failed(errnoText(error, { name, setting: 'secretFile', use: 'read' }).reason)
    }
  }
  const answer = await http.request({
    method: 'POST',
    url: new URL(url.reveal().toString('utf8')),
    headers,
    body: Buffer.from(body),
    signal,
    headersTimeoutMs: ANSWER_TIMEOUT,
    bodyTimeoutMs: ANSWER_TIMEOUT,
    maxAnswerBytes: 4096,
  })
  if (answer.kind === 'no-answer') return failed(answer.reason)
  if (answer.status >= 200 && answer.status < 300) return SENT
  return failed(`${origin} answered ${answer.status}`)
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={0,2})?$/

/** Read anew, so that it can be changed. */
function secretOf(file: string): Buffer {
  const secret = withoutNewline(readRegular(file, LONGEST_SECRET))
  if (secret.length === 0) throw new Error('is empty')
  registerSecret(secret)
  // As receivers of Standard Webhooks hand them out: base64 of the bytes that sign.
  const [, encoded] = /^whsec_(.+)$/.exec(secret.toString('latin1')) ?? []
  if (encoded === undefined) return secret
  // Node passes over what is no base64, and would sign with other bytes than the receiver.
  if (!BASE64.test(encoded)) throw new Error('begins with whsec_, and what follows is no base64')
  return Buffer.from(encoded, 'base64')
}
