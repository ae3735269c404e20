// Sends one message once: to the operator's program, without a shell, or to a webhook, signed as the Standard Webhooks
// specification says. desk.ts decides when to try again.

import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { AlertTarget } from '../../domain/alerts.ts'
import { type Clock, SECOND } from '../../lib/clock.ts'
import { errnoText } from '../../lib/errno.ts'
import { messageOf } from '../../lib/errors.ts'
import { LONGEST_SECRET, readRegular, withoutNewline } from '../../lib/files.ts'
import type { HttpClient } from '../../lib/http.ts'
import { registerSecret, registerTemporarySecret, shownMessage } from '../../lib/secrets.ts'
import { type AlertMessage, alertVariables } from './message.ts'

/** AlertResult is the result of one try to send a message. */
export type AlertResult = { kind: 'sent' } | AlertFailure

export interface AlertFailure {
  kind: 'failed'
  reason: string
  /** True if the program did not end in time. */
  stuck?: boolean
}

/** SendAlert returns failures of the program, the network and the receiver as values; it does not throw them. */
export type SendAlert = (
  target: AlertTarget,
  message: AlertMessage,
  signal: AbortSignal,
) => Promise<AlertResult>

type Webhook = Extract<AlertTarget['action'], { kind: 'webhook' }>

const EXEC_TIMEOUT = 30 * SECOND
const STDERR_GRACE = SECOND
const TERM_GRACE = 2 * SECOND
const ANSWER_TIMEOUT = 10 * SECOND
const MOST_STDERR = 2000
const SENT: AlertResult = { kind: 'sent' }

/** Environment variables that a program must not inherit: our Node's options, the key's folder, systemd's sockets. */
const PRIVATE_VARIABLES =
  /^(NODE_.*|CREDENTIALS_DIRECTORY|NOTIFY_SOCKET|WATCHDOG_.*|LISTEN_.*|JOURNAL_STREAM|FEEDSYNCD_.*)$/

/** targetName returns a name that is safe to show. The full address of a webhook is often a credential. */
export function targetName({ action }: AlertTarget): string {
  return action.kind === 'exec' ? (action.command[0] ?? '') : action.origin
}

/** alertSender returns the function that sends messages. Programs inherit `env`, and webhooks use `http`. */
export function alertSender({
  clock,
  env,
  http,
}: {
  clock: Clock
  env: NodeJS.ProcessEnv
  http: HttpClient
}): SendAlert {
  return ({ action }, message, signal) =>
    action.kind === 'exec'
      ? runProgram(action.command, message, { clock, env, signal })
      : post(action, message, { clock, http, signal })
}

async function runProgram(
  [program = '', ...args]: readonly string[],
  message: AlertMessage,
  { clock, env, signal }: { clock: Clock; env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<AlertResult> {
  const kept = Object.entries(env).filter(([name]) => !PRIVATE_VARIABLES.test(name))
  const limit = new AbortController()
  using _timer = clock.after(EXEC_TIMEOUT, () => limit.abort())
  const stopped = AbortSignal.any([signal, limit.signal])
  try {
    const child = spawn(program, args, {
      env: { ...Object.fromEntries(kept), ...alertVariables(message) },
      stdio: ['pipe', 'ignore', 'pipe'],
      shell: false,
      // In a process group of its own, the program can be ended together with its children.
      detached: true,
    })
    const exited = once(child, 'exit')
    // Without a pid the program was not started, and `exited` rejects. After EMFILE the child has no streams either.
    if (child.pid === undefined) await exited
    // A forced stop of the daemon does not wait for an alert.
    const endProgram = () => (signal.aborted ? killGroup(child.pid) : endGroup(child.pid, clock))
    stopped.addEventListener('abort', endProgram)
    if (stopped.aborted) endProgram()
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-MOST_STDERR)
    })
    // A program need not read its input.
    child.stdin.on('error', () => {})
    child.stdin.end(`${JSON.stringify(message)}\n`)
    const closed = new Promise((resolve) => child.once('close', resolve))
    const [code, killedBy] = await exited
    stopped.removeEventListener('abort', endProgram)
    // The program has ended. This ends the child processes that it left behind.
    endProgram()
    // Wait for the rest of stderr, but only briefly: a child process of the program can hold stderr open.
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

/** endGroup ends the process group with SIGTERM, and with SIGKILL if it is still there after TERM_GRACE. */
function endGroup(pid: number | undefined, clock: Clock): void {
  if (signalGroup(pid, 'SIGTERM')) clock.after(TERM_GRACE, () => killGroup(pid))
}

function killGroup(pid: number | undefined): void {
  signalGroup(pid, 'SIGKILL')
}

/** signalGroup sends a signal to a process group. It returns false if the group has no process. */
function signalGroup(pid: number | undefined, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal)
  } catch {
    return false
  }
}

async function post(
  { url, origin, secretFile }: Webhook,
  message: AlertMessage,
  { clock, http, signal }: { clock: Clock; http: HttpClient; signal: AbortSignal },
): Promise<AlertResult> {
  const body = JSON.stringify({ ...message, text: chatText(message.text), mrkdwn: false })
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

/**
 * chatText escapes what chat services read as markup (`&`, `<`, `>`). It breaks up words that call a person or
 * everybody, and links that hide their address, because a feed can have any name. Slack shows other markup as text,
 * because the message has `mrkdwn: false`. Mattermost and Rocket.Chat show other markup as Markdown.
 */
export function chatText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/@(?=(?:channel|here|all|everyone)\b)|(?<!\w)@(?=\w)/gi, '@\u200b')
    .replaceAll('](', ']\u200b(')
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={0,2})?$/

/**
 * secretOf returns the bytes that sign, read for each message, and registers the secret so that no log shows it. It
 * throws if the file cannot be read, is empty, or has a whsec_ secret that is not base64.
 */
function secretOf(file: string): Buffer {
  const secret = withoutNewline(readRegular(file, LONGEST_SECRET))
  if (secret.length === 0) throw new Error('is empty')
  registerSecret(secret)
  // Receivers of Standard Webhooks issue whsec_ and the base64 of the signing bytes.
  const [, encoded] = /^whsec_(.+)$/.exec(secret.toString('latin1')) ?? []
  if (encoded === undefined) return secret
  // Node ignores characters that are not base64 and would sign with other bytes than the receiver.
  if (!BASE64.test(encoded)) throw new Error('begins with whsec_, but the rest is not base64')
  return Buffer.from(encoded, 'base64')
}
