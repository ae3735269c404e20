import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { type IncomingHttpHeaders, request } from 'node:http'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { samplesOf } from '../../helpers/ops/exposition.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

interface Where {
  port?: number
  socketPath?: string
}

function ask(where: Where, path: string, method = 'GET', host = 'localhost'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { ...where, host: '127.0.0.1', path, method, headers: { host }, agent: false },
      (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (text) => (body += text))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        )
      },
    )
    asked.once('error', reject).end()
  })
}

/** A daemon with an endpoint on any free port. */
async function open(): Promise<{ site: Site; where: Where }> {
  const site = await Site.open({ http: { listen: '127.0.0.1:0' } }, { clock: quickClock() })
  onTestFinished(() => site[Symbol.asyncDispose]())
  const daemon = await site.daemon()
  const [, port] = /"address":"http:[^"]+:(\d+)"/.exec(daemon.output) ?? []
  return { site, where: { port: Number(port) } }
}

describe('the endpoint', () => {
  it('is ready when the folder was listed, and not ready, but alive, when it cannot be listed', async () => {
    const { site, where } = await open()

    await eventually(async () => expect((await ask(where, '/readyz')).status).toBe(200))
    rmSync(site.inbox, { recursive: true })
    await eventually(async () => expect((await ask(where, '/readyz')).status).toBe(503))

    const alive = await ask(where, '/healthz')
    const ready = await ask(where, '/readyz')
    expect([alive.status, alive.body]).toEqual([200, 'ok\n'])
    expect(ready.body).toContain(site.inbox)
  })

  it('serves metrics that a strict parser reads, and that count feeds without their names', async () => {
    const { site, where } = await open()
    const before = samplesOf((await ask(where, '/metrics')).body)

    site.drop('good "\\\u001b.xml', feedOf(3))
    site.drop('bad.xml', '<a><b></a>')
    await site.until('bad.xml', 'rejected')
    await site.until('good "\\\u001b.xml', 'uploaded')

    // The metrics count an upload shortly after the history has it, so wait for them.
    const { headers, body } = await eventually(async () => {
      const answer = await ask(where, '/metrics')
      expect(answer.body).toContain('files_total{outcome="uploaded"} 1')
      expect(answer.body).toContain('service_state{state="ok"} 1')
      return answer
    })
    const after = samplesOf(body)
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    const value = (samples: Map<string, number>, name: string) => samples.get(`feedsyncd_${name}`)
    expect(value(before, 'files_total{outcome="uploaded"}')).toBe(0)
    expect(value(after, 'files_total{outcome="uploaded"}')).toBe(1)
    expect(value(after, 'files_total{outcome="rejected"}')).toBe(1)
    expect(value(after, 'uploads_total{code_class="2xx"}')).toBe(1)
    expect(value(after, 'upload_duration_seconds_count')).toBe(1)
    expect(value(after, 'versions{state="rejected"}')).toBe(1)
    expect(value(after, 'upload_bytes_total')).toBeGreaterThan(feedOf(3).length)
    expect(value(before, 'last_success_timestamp_seconds')).toBe(0)
    expect(value(after, 'last_success_timestamp_seconds')).toBeGreaterThan(1.7e9)
    expect(value(after, 'last_scan_timestamp_seconds')).toBeGreaterThan(1.7e9)
    expect(body).not.toMatch(/good|bad\.xml/)
  })

  it('counts attempts by their answer, and repeated attempts by the answer to the attempt before', async () => {
    const { site, where } = await open()
    site.sandbox.faults.add({ at: 'storage', kind: 'answer', status: 503, times: 1 })

    site.drop('a.xml', feedOf(3))
    await site.until('a.xml', 'uploaded')

    await eventually(async () => {
      const after = samplesOf((await ask(where, '/metrics')).body)
      expect(after.get('feedsyncd_retries_total{reason="5xx"}')).toBe(1)
      expect(after.get('feedsyncd_uploads_total{code_class="5xx"}')).toBe(1)
    })
  })

  it('serves the JSON of status --json', async () => {
    const { site, where } = await open()
    site.drop('a.xml', feedOf(3))
    await site.until('a.xml', 'uploaded')
    await eventually(() => expect(statusOf(site).service.state).toBe('ok'))

    const steady = (text: string) => {
      const { daemon, ...rest } = JSON.parse(text)
      return { ...rest, daemon: { ...daemon, lastScanAt: null } }
    }
    // The two answers are not simultaneous: if something changed in between, ask both again.
    const { headers } = await eventually(async () => {
      const { stdout: before } = await site.run('status', '--json')
      const answer = await ask(where, '/api/status')
      expect(steady(answer.body)).toEqual(steady(before))
      return answer
    })
    expect(headers['content-type']).toBe('application/json')
  })

  it('serves pages whose policy allows only their own style and script', async () => {
    const { site, where } = await open()
    site.drop('a.xml', feedOf(3))
    await site.until('a.xml', 'uploaded')

    for (const path of ['/', '/feed?name=a.xml']) {
      const { body, headers, status } = await ask(where, path)

      const hash = (tag: string) => {
        const text = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(body)?.[1] ?? ''
        return createHash('sha256').update(text).digest('base64')
      }
      expect(status).toBe(200)
      expect(headers['content-security-policy']).toBe(
        `default-src 'none'; style-src 'sha256-${hash('style')}'; script-src 'sha256-${hash('script')}'; ` +
          "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      )
      expect(headers['x-content-type-options']).toBe('nosniff')
    }
  })

  it('serves the page of a feed whose name has markup, and shows the name as text', async () => {
    const { site, where } = await open()
    site.drop('<b>.xml', feedOf(3))
    await site.until('<b>.xml', 'uploaded')

    const all = await ask(where, '/')
    const feed = await ask(where, `/feed?name=${encodeURIComponent('<b>.xml')}`)

    expect([all.status, feed.status]).toEqual([200, 200])
    for (const { body } of [all, feed]) {
      expect(body).toContain('&#60;b&#62;.xml')
      expect(body).not.toContain('<b>.xml')
    }
  })

  it('serves a page with a link back for an unknown version or feed', async () => {
    const { where } = await open()

    for (const [path, words] of [
      ['/version?id=99', 'version 99'],
      ['/feed?name=%3Cb%3E', '&#60;b&#62;'],
    ] as const) {
      const { body, status } = await ask(where, path)

      expect(status).toBe(404)
      expect(body).toContain(`There is no <bdi>${words}</bdi>`)
      expect(body).toContain('<a href="/">All feeds</a>')
    }
  })

  it('refuses other methods, other hosts, and unknown or invalid paths, and answers HEAD without a body', async () => {
    const { where } = await open()

    const answers = await Promise.all([
      ask(where, '/', 'POST'),
      ask(where, '/', 'DELETE'),
      ask(where, '/', 'GET', 'evil.example'),
      ask(where, '/api/status', 'GET', 'localhost.evil.example:9464'),
      ask(where, '/../../etc/passwd'),
      ask(where, '/feed?name=nobody'),
      ask(where, '//'),
      ask(where, '/', 'HEAD'),
    ])

    expect(answers.map(({ status }) => status)).toEqual([405, 405, 421, 421, 404, 404, 400, 200])
    expect(answers.at(-1)?.body).toBe('')
  })

  it('serves the group on a unix socket, and replaces the socket that a crash left behind', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'endpoint-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const socketPath = join(folder, 'http')
    await using site = await Site.open({ http: { listen: socketPath } })
    const first = await site.daemonProcess()
    first.kill('SIGKILL')
    await new Promise((resolve) => first.once('exit', resolve))

    await site.daemon()

    expect((await ask({ socketPath }, '/healthz', 'GET', 'any')).status).toBe(200)
    expect(statSync(socketPath).mode & 0o777).toBe(0o660)
  })

  it('never deletes a file that is not a socket, but names it; exit 75', async () => {
    await using site = await Site.open({ http: { listen: './feedsyncd.yaml' } })
    const before = readFileSync(site.configFile, 'utf8')

    const { code, stderr } = await site.run('run')

    expect(code).toBe(75)
    expect(stderr).toMatch(
      /^error: http\.listen .*feedsyncd\.yaml cannot be used: .* is not a socket\ntry: /,
    )
    expect(readFileSync(site.configFile, 'utf8')).toBe(before)
  })

  it('answers while 100 connections are silent, and closes many of them', async () => {
    const { where } = await open()
    const silent = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const socket = connect(where.port ?? 0, '127.0.0.1')
        onTestFinished(() => void socket.destroy())
        socket.on('error', () => {})
        await new Promise((resolve) => socket.once('connect', resolve))
        return socket
      }),
    )

    const answers = await Promise.all([ask(where, '/healthz'), ask(where, '/metrics')])

    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    await eventually(() => {
      expect(
        silent.filter(({ destroyed, readableEnded }) => destroyed || readableEnded).length,
      ).toBeGreaterThan(30)
    })
  })

  it('names its address when another process has it; exit 75', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    const { port } = other.address() as { port: number }
    await using site = await Site.open({ http: { listen: `127.0.0.1:${port}` } })

    const { code, stderr } = await site.run('run')

    expect(code).toBe(75)
    expect(stderr).toMatch(
      /^error: http\.listen 127\.0\.0\.1:\d+ cannot be used: .*EADDRINUSE.*\ntry: set http\.listen/,
    )
  })
})
