import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AlertTarget } from '../../../../src/domain/alerts.ts'
import { type Clock, systemClock } from '../../../../src/lib/clock.ts'
import { createHttpClient } from '../../../../src/lib/http.ts'
import { Secret } from '../../../../src/lib/secrets.ts'
import type { KeyedChange } from '../../../../src/ops/alerts/changes.ts'
import { type AlertMessage, alertMessage } from '../../../../src/ops/alerts/message.ts'
import { type AlertResult, alertSender, chatText } from '../../../../src/ops/alerts/senders.ts'
import { eventually } from '../../../helpers/eventually.ts'

const EVIL = '"; touch /tmp/x; $(id) `id`\n\u202e<script>.xml'

function held(feed: string): KeyedChange {
  return {
    key: feed,
    mark: '7/0',
    event: 'held',
    recovered: false,
    severity: 'warning',
    says: `${feed} held: it shrank`,
    feed,
    campaign: null,
    version: 7,
    path: `${feed}.xml`,
    state: 'held',
    reason: 'it shrank',
    reasonCode: 'drop',
    line: null,
    column: null,
    hint: 'look',
  }
}

function message(feed = 'acme'): AlertMessage {
  return alertMessage([held(feed)], {
    at: 0,
    host: 'ats',
    page: null,
    sequence: 0,
    commandLine: (command) => command,
  })
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'alerts-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

async function send(
  action: AlertTarget['action'],
  alert: AlertMessage,
  env: Record<string, string> = {},
  clock: Clock = systemClock,
): Promise<AlertResult> {
  await using http = createHttpClient({ clock: systemClock, env: {} })
  const { signal } = new AbortController()
  const parts = { clock, http, env: { PATH: process.env.PATH, ...env } }
  return await alertSender(parts)({ on: ['held'], action }, alert, signal)
}

interface Heard {
  headers: IncomingHttpHeaders
  body: string
}

async function receiver(status: number): Promise<{ url: string; heard: Heard[] }> {
  const heard: Heard[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      heard.push({ headers: request.headers, body })
      response.writeHead(status).end('no')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/h?k=token`, heard }
}

const webhook = (url: string, secretFile: string | null = null): AlertTarget['action'] => ({
  ...{ kind: 'webhook', url: new Secret(url), origin: new URL(url).origin, secretFile },
})

/** Waits until the process whose pid is in the file has ended. */
async function untilGone(file: string): Promise<void> {
  const pid = Number(readFileSync(file, 'utf8'))
  // A zombie has ended too.
  const isGone = () => /^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  await eventually(() => expect(!existsSync(`/proc/${pid}/stat`) || isGone()).toBe(true))
}

describe('the text of a message', () => {
  const changes = ['a', 'b'].map((feed): KeyedChange => ({ ...held(feed), key: feed }))
  const origin = { at: 0, host: 'ats', sequence: 0, commandLine: (command: string) => command }

  it('has a subject that counts the changes, a line for each of them, and the address of the page', () => {
    const { subject, text } = alertMessage(changes, { ...origin, page: 'http://127.0.0.1:9464/' })

    expect(subject).toBe('feedsyncd on ats: 2 held')
    expect(text.split('\n')).toEqual([
      subject,
      '- a held: it shrank; look',
      '- b held: it shrank; look',
      'page: http://127.0.0.1:9464/',
    ])
  })

  it('escapes what chat services read as markup or as a call to everybody, but not a mail address', () => {
    const text = chatText(
      '<!channel> *a* & <https://evil.example|b> @channel @here mail@example.com',
    )

    expect(text).toBe(
      '&lt;!channel&gt; *a* &amp; &lt;https://evil.example|b&gt; @\u200bchannel @\u200bhere mail@example.com',
    )
  })

  it.each([
    ['a person', 'jobs-@maria.xml, (@maria)', 'jobs-@\u200bmaria.xml, (@\u200bmaria)'],
    ['somebody by Slack’s id', '<@U012AB3CD> R&D', '&lt;@\u200bU012AB3CD&gt; R&amp;D'],
    [
      'a link with another text',
      '[here](https://evil.example)',
      '[here]\u200b(https://evil.example)',
    ],
    ['a picture', '![x](https://evil.example/x.png)', '![x]\u200b(https://evil.example/x.png)'],
    ['an entity', '&lt;!channel&gt;', '&amp;lt;!channel&amp;gt;'],
  ])('does not let a name call or link: %s', (_, name, shown) => {
    expect(chatText(name)).toBe(shown)
  })
})

describe('a program', () => {
  /** Runs Node as the operator's program: it writes its environment and its input to a file. */
  const recorder = (file: string): AlertTarget['action'] => {
    const script = `
      let input = ''
      process.stdin.on('data', (chunk) => (input += chunk)).on('end', () =>
        require('fs').writeFileSync(process.argv[1], JSON.stringify({ env: process.env, input })))`
    return { kind: 'exec', command: [process.execPath, '-e', script, file] }
  }

  it('gets the fields as environment variables and the message on stdin, unchanged by any shell', async () => {
    const file = join(folder(), 'out.json')

    const sent = await send(recorder(file), message(EVIL))

    const { env, input } = JSON.parse(readFileSync(file, 'utf8'))
    expect(sent).toEqual({ kind: 'sent' })
    expect(env).toMatchObject({
      FEEDSYNCD_ALERT_EVENT: 'held',
      FEEDSYNCD_ALERT_FEED: '"; touch /tmp/x; $(id) `id` <script>.xml',
      FEEDSYNCD_ALERT_VERSION: '7',
      FEEDSYNCD_ALERT_REASON: 'it shrank',
      FEEDSYNCD_ALERT_RECOVERED: '',
    })
    expect(JSON.parse(input)).toEqual(JSON.parse(JSON.stringify(message(EVIL))))
  })

  it('does not inherit our Node options, the folder of the key or systemd’s sockets', async () => {
    const file = join(folder(), 'out.json')

    await send(recorder(file), message(), {
      ...{ NODE_OPTIONS: '--disable-sigusr1', CREDENTIALS_DIRECTORY: '/run/c' },
      ...{ NOTIFY_SOCKET: '/run/n', WATCHDOG_USEC: '1', LANG: 'C' },
    })

    const { env } = JSON.parse(readFileSync(file, 'utf8'))
    const names = Object.keys(env).filter((name) => !name.startsWith('FEEDSYNCD_ALERT_'))
    expect(names.sort()).toEqual(['LANG', 'PATH'])
  })

  it('that cannot be started after EMFILE is a failure and does not end the daemon', () => {
    const script = `
      import { openSync } from 'node:fs'
      import { alertSender } from '${new URL('../../../../src/ops/alerts/senders.ts', import.meta.url)}'
      import { systemClock } from '${new URL('../../../../src/lib/clock.ts', import.meta.url)}'
      const target = { on: ['held'], action: { kind: 'exec', command: ['/bin/true'] } }
      try { for (;;) openSync('/dev/null') } catch {}
      const parts = { clock: systemClock, http: null, env: {} }
      const sent = await alertSender(parts)(target, { changes: [] }, new AbortController().signal)
      setTimeout(() => console.log(JSON.stringify(sent)), 20)`
    const limited = ['-c', 'ulimit -n 256 && exec "$0" --input-type=module -e "$1"']

    const answer = execFileSync('/bin/sh', [...limited, process.execPath, script])

    expect(JSON.parse(answer.toString())).toEqual({
      kind: 'failed',
      reason: expect.stringContaining('EMFILE'),
    })
  })

  it.each([
    [['/nonexistent/program'], /ENOENT/],
    [['/bin/sh', '-c', 'echo "no modem" >&2; exit 3'], /^it ended with 3: no modem$/],
    [['/bin/sh', '-c', 'kill -9 $$'], /^it was ended by SIGKILL$/],
  ])('that fails gives the reason: %j', async (command, reason) => {
    const sent = await send({ kind: 'exec', command }, message())

    expect(sent).toEqual({ kind: 'failed', reason: expect.stringMatching(reason) })
  })

  it('that ends takes its remaining child processes with it', async () => {
    const file = join(folder(), 'pid')
    const command = ['/bin/sh', '-c', 'sleep 600 & echo $! >"$1"; exit 0', 'sh', file]

    const sent = await send({ kind: 'exec', command }, message())

    expect(sent).toEqual({ kind: 'sent' })
    await untilGone(file)
  })

  it('that does not end in time is ended with its children, even if they ignore SIGTERM', async () => {
    const file = join(folder(), 'pid')
    const child = 'trap "" TERM; echo $$ >"$1"; while :; do sleep 600; done'
    const command = ['/bin/sh', '-c', `sh -c '${child}' sh "$1" & wait`, 'sh', file]
    const timers: (() => void)[] = []
    const clock: Clock = {
      ...systemClock,
      // The test decides when the program's time is over. The time before SIGKILL is a twentieth.
      after: (ms, run) => {
        if (ms < 10_000) return systemClock.after(ms / 20, run)
        timers.push(run)
        return { [Symbol.dispose]: () => {} }
      },
    }
    const sending = send({ kind: 'exec', command }, message(), {}, clock)
    await eventually(() => expect(readFileSync(file, 'utf8')).not.toBe(''))
    for (const run of timers) run()

    const sent = await sending

    expect(sent).toMatchObject({ kind: 'failed', stuck: true })
    await untilGone(file)
  })

  it('need not read its input', async () => {
    const sent = await send({ kind: 'exec', command: ['/bin/true'] }, message('x'.repeat(100_000)))

    expect(sent).toEqual({ kind: 'sent' })
  })
})

describe('a webhook', () => {
  it('gets the message as JSON, signed with the secret of the file', async () => {
    const { url, heard } = await receiver(204)
    const secretFile = join(folder(), 'webhook.key')
    writeFileSync(secretFile, 'hook-secret\n')

    const sent = await send(webhook(url, secretFile), message())

    const [{ headers, body }] = heard as [Heard]
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    expect(sent).toEqual({ kind: 'sent' })
    expect(headers['content-type']).toBe('application/json')
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', 'hook-secret').update(signed).digest('base64')}`,
    )
    expect(JSON.parse(body)).toMatchObject({ schemaVersion: 1, event: 'held', count: 1 })
  })

  it('is signed with the decoded bytes of a whsec_ secret, as Standard Webhooks receivers issue it', async () => {
    const { url, heard } = await receiver(204)
    const secretFile = join(folder(), 'webhook.key')
    writeFileSync(secretFile, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n')

    await send(webhook(url, secretFile), message())

    const [{ headers, body }] = heard as [Heard]
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const bytes = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', bytes).update(signed).digest('base64')}`,
    )
  })

  it('is not sent with a whsec_ secret that was cut or mistyped', async () => {
    const { url, heard } = await receiver(204)
    const secretFile = join(folder(), 'webhook.key')
    writeFileSync(secretFile, 'whsec_MfKQ9r8G KYqrTwjUPD8\n')

    const sent = await send(webhook(url, secretFile), message())

    expect(sent).toMatchObject({
      kind: 'failed',
      reason: `the secret ${secretFile} begins with whsec_, but the rest is not base64`,
    })
    expect(heard).toEqual([])
  })

  it('without a secret gets the message without a signature', async () => {
    const { url, heard } = await receiver(200)

    await send(webhook(url), message())

    expect(heard.map(({ headers }) => headers['webhook-signature'])).toEqual([undefined])
  })

  it('that refuses or does not answer is a failure, whose reason does not show the query of its address', async () => {
    const { url } = await receiver(500)

    const refused = await send(webhook(url), message())
    const away = await send(webhook('http://127.0.0.1:1/h?k=token'), message())

    expect(refused).toEqual({ kind: 'failed', reason: `${new URL(url).origin} answered 500` })
    expect(away.kind).toBe('failed')
    expect(JSON.stringify([refused, away])).not.toContain('token')
  })

  it('whose secret cannot be read is a failure, and no unsigned message is sent', async () => {
    const { url, heard } = await receiver(200)
    const [missing, fifo] = [join(folder(), 'missing.key'), join(folder(), 'fifo.key')]
    execFileSync('mkfifo', [fifo])

    const sent = await send(webhook(url, missing), message())
    const blocked = await send(webhook(url, fifo), message())

    const failed = (reason: string) => ({ kind: 'failed', reason })
    expect(sent).toEqual(failed(`the secret ${missing} does not exist (ENOENT)`))
    expect(blocked).toEqual(failed(`the secret ${fifo} is not a regular file`))
    expect(heard).toEqual([])
  })
})
