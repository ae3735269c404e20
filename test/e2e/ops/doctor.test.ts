import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { checkNames } from '../../../src/ops/doctor/dated-names.ts'
import { checkEndpoint } from '../../../src/ops/doctor/endpoint-check.ts'
import type { Finding } from '../../../src/ops/doctor/finding.ts'
import {
  checkFolder,
  checkHidden,
  checkKeyMode,
  checkRoom,
} from '../../../src/ops/doctor/host-checks.ts'
import { feedOf, SECRET, Site } from '../../helpers/site.ts'

const NO_UNIT = { unit: null, account: null }

type Shown = Pick<Finding, 'check' | 'verdict' | 'says' | 'fix'>

async function doctor(site: Site, ...options: string[]) {
  const { code, stdout, stderr } = await site.run('doctor', '--json', ...options)
  const answer = JSON.parse(stdout) as { ok: boolean; schemaVersion: number; findings: Shown[] }
  const of = (check: string) => answer.findings.find((finding) => finding.check === check)
  return { code, answer, of, said: stdout + stderr }
}

/** A socket that says nothing is given up after a tenth of its time. */
function waitATenth(): void {
  const { setTimeout: wait } = Socket.prototype
  vi.spyOn(Socket.prototype, 'setTimeout').mockImplementation(function (this: Socket, ms, run) {
    return wait.call(this, ms / 10, run)
  })
}

describe('doctor', () => {
  it('finds a working host well, asks for a form and uploads nothing; exit 0', async () => {
    await using site = await Site.open()
    site.drop('a.xml', feedOf(3))
    await site.run('run', '--once')

    const { code, answer, of } = await doctor(site)

    expect(code).toBe(0)
    expect([answer.schemaVersion, answer.ok]).toEqual([1, true])
    expect(answer.findings.filter(({ verdict }) => verdict === 'problem')).toEqual([])
    expect(of('service')?.says).toContain('takes the credentials')
    expect(of('clock')?.verdict).toBe('ok')
    expect(of('upload form')?.says).toMatch(/^the service gives one, with \d+ fields$/)
    expect(of('storage')?.verdict).toBe('ok')
    expect(of('history')?.says).toContain('is sound')
    expect(of('daemon')).toMatchObject({ verdict: 'warning', says: 'it does not run' })
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it('finds exports with the date in their names, and the rule that makes them one feed', async () => {
    await using site = await Site.open()
    const days = ['20261121', '20261122', '20261123']
    for (const [i, day] of days.entries()) site.drop(`acme/jobs-${day}.xml`, feedOf(i + 1))
    for (const account of ['1001', '1002', '1003']) site.drop(`${account}/jobs.xml`, feedOf(9))
    await site.run('run', '--once')

    const before = await doctor(site, '--offline')
    site.configure({ feeds: [{ match: 'acme/jobs-*.xml', name: 'acme/jobs' }] })
    const after = await doctor(site, '--offline')

    expect(before.of('feeds')).toMatchObject({
      verdict: 'warning',
      says: expect.stringMatching(
        /^3 feeds such as acme\/jobs-2026112\d.xml differ by a date alone/,
      ),
      fix: 'make them one feed: feeds: [{ match: "acme/jobs-*.xml", name: "acme/jobs" }]',
    })
    expect(after.of('feeds')).toMatchObject({ verdict: 'ok' })
  })

  it.each([
    [['a-2026-11-23T0100.xml', 'a-2026-11-23T0200.xml', 'a-2026-11-24T0100.xml'], 'a-*.xml', 'a'],
    [['1763856000.xml', '1763856900.xml', '1763857800.xml'], '*.xml', 'jobs'],
    [['x/20261123_010203.XML', 'x/20261123_020203.XML', 'x/20261124.XML'], 'x/*.XML', 'x'],
    [['20261121/jobs.xml', '20261122/jobs.xml', '20261123/jobs.xml'], '*/jobs.xml', 'jobs'],
  ])('knows dates and times of %s', (names, match, name) => {
    expect(checkNames(names).fix).toContain(`{ match: "${match}", name: "${name}" }`)
  })

  it.each([
    [['acme.xml', 'beta.xml', 'gamma.xml']],
    [['1001.xml', '1002.xml', '1003.xml']],
    [['a-20261121.xml', 'b-20261122.xml', 'c-20261123.xml']],
    [['20261121.xml', '20261122.xml']],
  ])('takes %s for different feeds', (names) => {
    expect(checkNames(names).verdict).toBe('ok')
  })

  it('finds that the credentials are refused, and what to check; exit 4; never shows them', async () => {
    await using site = await Site.open()
    writeFileSync(join(site.root, 'service.key'), 'another-secret', { mode: 0o600 })

    const { code, of, said } = await doctor(site)

    expect(code).toBe(4)
    expect(of('service')).toMatchObject({
      says: expect.stringMatching(/^the credentials are refused with 40[13]$/),
      fix: expect.stringContaining('service.key'),
    })
    expect(of('upload form')).toBeUndefined()
    expect(said).not.toMatch(new RegExp(`another-secret|${SECRET}`))
  })

  it.each([
    ['begins with a byte order mark', `\ufeff${SECRET}\n`],
    ['ends with white space', `${SECRET}  \n`],
    ['ends with white space', `${SECRET}\n\n`],
  ])('names what nobody sees in a key file: it %s', async (says, bytes) => {
    await using site = await Site.open()
    writeFileSync(join(site.root, 'service.key'), bytes, { mode: 0o600 })

    const { of, said } = await doctor(site, '--offline')

    expect(of('key')).toMatchObject({ verdict: 'warning', says: expect.stringContaining(says) })
    expect(said).not.toContain(SECRET)
  })

  it('finds that the service cannot be reached; exit 75', async () => {
    await using site = await Site.open()
    site.configure({ service: { baseUrl: 'http://127.0.0.1:1/api', account: '123' } })

    const { code, of } = await doctor(site)

    expect(code).toBe(75)
    expect(of('service')?.says).toMatch(/^no answer: .*ECONNREFUSED/)
  })

  it('sends no request with --offline', async () => {
    await using site = await Site.open()
    site.configure({ service: { baseUrl: 'http://127.0.0.1:1/api', account: '123' } })

    const { code, of } = await doctor(site, '--offline')

    expect(code).toBe(0)
    expect(of('key')?.verdict).toBe('ok')
    expect(of('state')?.says).toMatch(/does not exist yet and can be created$/)
    expect([of('service'), of('storage')]).toEqual([undefined, undefined])
  })

  it('names every trouble at once, each with its fix', async () => {
    await using site = await Site.open({
      alerts: [
        { on: ['held'], exec: ['/nonexistent/pager'] },
        { on: ['held'], webhook: 'https://hooks.example.com/x', secretFile: 'missing.key' },
      ],
      inbox: { directory: './nowhere', afterUpload: 'archive' },
    })
    chmodSync(join(site.root, 'service.key'), 0o644)

    const { answer } = await doctor(site, '--offline')

    const troubled = answer.findings.filter(({ verdict }) => verdict === 'problem')
    expect(troubled.map(({ check }) => check)).toEqual([...['inbox', 'alerts', 'alerts']])
    expect(
      answer.findings.filter(({ verdict, fix }) => verdict === 'problem' && fix === null),
    ).toEqual([])
    expect(answer.findings).toContainEqual({
      check: 'key mode',
      verdict: 'warning',
      says: expect.stringContaining('0644: others may read it'),
      fix: expect.stringMatching(/^chmod 0600 .*service\.key$/),
    })
  })

  it('finds a damaged history', async () => {
    await using site = await Site.open()
    site.drop('a.xml', feedOf(3))
    await site.run('run', '--once')
    writeFileSync(join(site.root, 'state', 'feedsyncd.db'), 'this is no database at all')

    const { code, of } = await doctor(site, '--offline')

    expect(code).not.toBe(0)
    expect(of('history')?.verdict).toBe('problem')
  })

  it('finds that the history was deleted, and does not say that no daemon ever ran', async () => {
    await using site = await Site.open()
    await site.run('run', '--once')
    rmSync(join(site.root, 'state', 'feedsyncd.db'))

    const { code, of } = await doctor(site, '--offline')

    expect(code).toBe(1)
    expect(of('history')).toMatchObject({ verdict: 'problem' })
  })

  it('finds a history that a newer feedsyncd has written; exit 78', async () => {
    await using site = await Site.open()
    site.drop('a.xml', feedOf(3))
    await site.run('run', '--once')
    const newer = new Database(join(site.root, 'state', 'feedsyncd.db'))
    newer.pragma('user_version = 999')
    newer.close()

    const { code, of } = await doctor(site, '--offline')

    expect(code).toBe(78)
    expect(of('history')).toMatchObject({ says: expect.stringContaining('newer feedsyncd') })
  })

  it('finds that somebody else has the address of http.listen; exit 75', async () => {
    const other = createServer((_request, response) => void response.end('hello'))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    await using site = await Site.open({ http: { listen: `127.0.0.1:${port}` } })

    const { code, of } = await doctor(site, '--offline')

    expect(code).toBe(75)
    expect(of('endpoint')).toMatchObject({ says: `another program answers on 127.0.0.1:${port}` })
  })

  it.each(['says nothing', 'speaks another language'])(
    'finds that the address of http.listen is taken by a program that %s',
    async (how) => {
      const other = createTcpServer((socket) => {
        if (how !== 'says nothing') socket.end('220 mail.example.com ESMTP\r\n')
        onTestFinished(() => void socket.destroy())
      })
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void other.close())
      const { port } = other.address() as AddressInfo

      const finding = await checkEndpoint({ kind: 'tcp', host: '127.0.0.1', port }, false)

      expect(finding).toMatchObject({ verdict: 'problem', exitCode: 75 })
    },
  )

  it.each([
    ['breaks off its answer', 'content-length: 99\r\n\r\nhello'],
    ['speaks HTTP badly', 'transfer-encoding: chunked\r\n\r\n5\r\nhello\r\nno chunk\r\n'],
    ['never ends its answer', '\r\nhello'],
  ])('tells of what listens in the place of a running daemon and %s', async (how, rest) => {
    const other = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        const answer = `HTTP/1.1 503 Service Unavailable\r\n${rest}`
        socket.write(answer, () => how.startsWith('breaks') && socket.resetAndDestroy())
      })
      onTestFinished(() => void socket.destroy())
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    waitATenth()

    const finding = await checkEndpoint({ kind: 'tcp', host: '127.0.0.1', port }, true)

    expect(finding).toMatchObject({
      verdict: 'warning',
      says: 'the daemon is not ready: hello',
    })
  })

  it('finds that http.listen names no place where anybody can listen', async () => {
    const path = `/nonexistent/${'x'.repeat(5)}.sock`
    const long = join(tmpdir(), 'x'.repeat(120))

    const findings = [
      await checkEndpoint({ kind: 'tcp', host: '192.0.2.1', port: 9464 }, false),
      await checkEndpoint({ kind: 'unix', path }, false),
      await checkEndpoint({ kind: 'unix', path: long }, false),
    ]

    expect(findings.map(({ verdict }) => verdict)).toEqual(['problem', 'problem', 'problem'])
  })

  it('finds that the state directory is a link to itself, as every command says in plain words', async () => {
    await using site = await Site.open()
    symlinkSync('state', join(site.root, 'state'))

    const { of } = await doctor(site, '--offline')
    const status = await site.run('status')
    const { code, stderr } = await site.run('run', '--once')

    expect(of('state')).toMatchObject({ verdict: 'problem' })
    expect([status.code, code]).toEqual([78, 78])
    expect(stderr + status.stderr).not.toMatch(/internal error|unexpected/)
  })

  it('finds that the state directory is a link to a place that is not there', async () => {
    await using site = await Site.open()
    symlinkSync('/nonexistent/disk', join(site.root, 'state'))

    const { of } = await doctor(site, '--offline')
    const { code, stderr } = await site.run('run', '--once')

    expect(of('state')).toMatchObject({
      verdict: 'problem',
      says: expect.stringContaining('/nonexistent/disk'),
    })
    expect(code).toBe(75)
    expect(stderr).not.toContain('internal error')
  })

  it('finds what is wrong with the file of campaigns, with line and column; exit 78', async () => {
    await using site = await Site.open()
    const off = await doctor(site, '--offline')
    writeFileSync(join(site.root, 'campaigns.yaml'), 'version: 1\ncampaigns:\n  - name: x\n')

    const { code, of } = await doctor(site, '--offline')

    expect(off.of('campaigns')).toMatchObject({ verdict: 'skipped' })
    expect(code).toBe(78)
    expect(of('campaigns')?.says).toMatch(/campaigns\.yaml:3:\d+ /)
  })

  it('reads well on a screen: a verdict, a check, a sentence, and the fix below', async () => {
    await using site = await Site.open()
    rmSync(site.inbox, { recursive: true })

    const { stdout } = await site.run('doctor', '--offline')

    expect(stdout).toMatch(/^ok {7}runtime: feedsyncd /m)
    expect(stdout).toMatch(/^problem {2}inbox: .+ does not exist\n {9}try: create it/m)
  })
})

describe('what the host is asked', () => {
  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'doctor-'))
    onTestFinished(() => rmSync(made, { recursive: true, force: true }))
    return made
  }

  it.each([
    ['/srv/ats/export', 'ok', /visible/],
    ['/home/ats/export', 'warning', /ProtectHome=/],
    ['/root/x', 'warning', /ProtectHome=/],
    ['/tmp/feeds', 'warning', /PrivateTmp=/],
    ['/var/tmp', 'warning', /PrivateTmp=/],
    ['/home-of-feeds', 'ok', /visible/],
    ['/tmpfiles', 'ok', /visible/],
  ] as const)('whether the unit sees %s: %s', async (path, verdict, says) => {
    expect(await checkHidden(path, NO_UNIT)).toMatchObject({
      verdict,
      says: expect.stringMatching(says),
    })
  })

  it('whether the daemon answers at http.listen, and is ready', async () => {
    const path = join(folder(), 'http')
    let ready = true
    const server = createServer((_request, response) => {
      response.writeHead(ready ? 200 : 503).end(ready ? 'ok\n' : '/srv/export cannot be listed\n')
    })
    const ask = (running: boolean) => checkEndpoint({ kind: 'unix', path }, running)

    const nobody = [await ask(false), await ask(true)]
    await new Promise<void>((resolve) => server.listen(path, resolve))
    onTestFinished(() => void server.close())
    const well = await ask(true)
    ready = false
    const ill = await ask(true)

    expect(nobody.map(({ verdict }) => verdict)).toEqual(['ok', 'problem'])
    expect(well).toMatchObject({ verdict: 'ok' })
    expect(ill).toMatchObject({
      verdict: 'warning',
      says: expect.stringContaining('not ready: /srv/export cannot be listed'),
    })
    expect((await checkEndpoint(null, true)).verdict).toBe('skipped')
  })

  it('whether a folder is one', async () => {
    const file = join(folder(), 'file')
    writeFileSync(file, '')

    expect(await checkFolder(file, 'read', NO_UNIT)).toMatchObject({
      verdict: 'problem',
      exitCode: 78,
    })
  })

  it('how much room there is', async () => {
    expect((await checkRoom(folder())).says).toMatch(/^[\d.]+ \w+ free on the disk of /)
    expect((await checkRoom('/nonexistent')).verdict).toBe('skipped')
  })

  it('takes the key that systemd hands over as it is', async () => {
    const credentials = folder()
    const key = join(credentials, 'service-key')
    writeFileSync(key, 'x', { mode: 0o644 })

    expect((await checkKeyMode(key, credentials)).verdict).toBe('ok')
    expect((await checkKeyMode(key, undefined)).verdict).toBe('warning')
  })
})
