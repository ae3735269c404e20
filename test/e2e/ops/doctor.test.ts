import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import type { DoctorFinding } from '../../../src/app/doctor.ts'
import { readDaemonFile } from '../../../src/ops/daemon-file.ts'
import { checkNames } from '../../../src/ops/doctor/feed-names.ts'
import { eventuallyTrue } from '../../helpers/eventually.ts'
import { feedOf, finished, SECRET, Site } from '../../helpers/site.ts'
import { mountedDisk } from '../../helpers/small-disk.ts'

const NOBODY = 65_534
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
/** The command that runs another one as a user of root's group, which may read the state of these daemons. */
const IN_GROUP = ['setpriv', `--reuid=${NOBODY}`, '--regid=0', '--clear-groups']
const ME = userInfo().username

type Shown = Omit<DoctorFinding, 'exitCode'>

async function doctor(site: Site, ...options: string[]) {
  const { code, stdout, stderr } = await site.run('doctor', '--json', ...options)
  const answer = JSON.parse(stdout) as { ok: boolean; schemaVersion: number; findings: Shown[] }
  const of = (check: string, by = 'command') =>
    answer.findings.find((finding) => finding.check === check && finding.by === by)
  return { code, answer, of, said: stdout + stderr }
}

/** Waits for the findings of the daemon. */
function looked(site: Site) {
  const said = () => readDaemonFile(join(site.root, 'state'), site.runtime)
  return eventuallyTrue(() => said()?.checks)
}

describe('doctor', () => {
  it('finds only a stopped daemon on a working host, asks for a form, and uploads nothing; exit 0', async () => {
    await using site = await Site.open()
    site.drop('a.xml', feedOf(3))
    await site.process('run', '--once')

    const { code, answer, of } = await doctor(site)

    expect(code).toBe(0)
    expect([answer.schemaVersion, answer.ok]).toEqual([1, true])
    const troubled = answer.findings.filter(({ verdict }) => verdict === 'problem')
    expect(troubled.map(({ check }) => check)).toEqual(['daemon'])
    expect(of('service')?.says).toContain('accepts the credentials')
    expect(of('clock')?.verdict).toBe('ok')
    expect(of('upload form')?.says).toMatch(/^the service gave a form with \d+ fields$/)
    expect(of('storage')?.verdict).toBe('ok')
    expect(of('history')?.says).toContain('is sound')
    expect(of('daemon')).toMatchObject({ says: 'the daemon is not running' })
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it('finds exports that differ only by a time but are not one feed, and names the rule that joins them', async () => {
    await using site = await Site.open()
    const times = ['1763856000', '1763856900', '1763857800']
    for (const [i, time] of times.entries()) site.drop(`acme/jobs-${time}.xml`, feedOf(i + 1))
    for (const account of ['1001', '1002', '1003']) site.drop(`${account}/jobs.xml`, feedOf(9))
    await site.run('run', '--once')

    const before = await doctor(site, '--offline')
    site.configure({ feeds: [{ match: 'acme/jobs-*.xml', name: 'acme/jobs' }] })
    const after = await doctor(site, '--offline')

    expect(before.of('feeds')).toMatchObject({
      verdict: 'warning',
      says: '3 feeds such as acme/jobs-1763856000.xml and acme/jobs-1763856900.xml have names that look alike: no guard compares one feed with the other',
      fix: expect.stringContaining(
        'feeds: [{ match: "acme/jobs-*.xml", name: "acme/jobs" }]; if each is a feed of its own',
      ),
    })
    expect(after.of('feeds')).toMatchObject({ verdict: 'ok' })
  })

  it.each([
    [['a-22-11-2026.xml', 'a-23-11-2026.xml'], 'match: "a-*.xml", name: "a"'],
    [['1763856000.xml', '1763856900.xml'], 'match: "*.xml", name: "jobs"'],
    [['1001.xml', '1002.xml'], 'match: "{1}.xml", name: "{1}"'],
    [['jobs.xml', 'jobs (1).xml'], 'exclude: ["jobs \\\\(1\\\\).xml"]'],
    [
      ['20261121/jobs.xml', '20261122/jobs.xml', '20261123/jobs.xml'],
      'match: "*/jobs.xml", name: "jobs"',
    ],
  ])('finds that %s look alike, and names the key that corrects it', (names, fix) => {
    expect(checkNames(names).fix).toContain(fix)
  })

  it.each([
    [['acme.xml', 'beta.xml', 'gamma.xml']],
    [['1001/jobs.xml', '1002/jobs.xml', '1003/jobs.xml']],
    [['a-1763856000.xml', 'b-1763856900.xml', 'c-1763857800.xml']],
  ])('does not say that %s look alike', (names) => {
    expect(checkNames(names).verdict).toBe('ok')
  })

  it('names the feeds that share an account, until somebody says that the service keeps all', async () => {
    await using site = await Site.open({ guards: { secondFeed: 'hold' } })
    for (const name of ['jobs.xml', 'nurses.xml']) {
      site.drop(name, feedOf(3))
      await site.run('run', '--once')
    }
    const before = (await doctor(site, '--offline')).of('accounts')
    const id = String(site.uploads({ feed: 'nurses.xml' })[0]?.id)
    await site.run('release', id, '--account-keeps-all')
    const after = (await doctor(site, '--offline')).of('accounts')
    site.configure({})
    const byKey = (await doctor(site, '--offline')).of('accounts')

    expect(before).toMatchObject({
      verdict: 'warning',
      says: '2 feeds are for account 123 (jobs.xml, nurses.xml): the service might keep only the last file of an account',
      fix: expect.stringContaining('guards.secondFeed: pass'),
    })
    expect(after).toMatchObject({
      verdict: 'ok',
      says: expect.stringContaining('said that it keeps all'),
    })
    expect(byKey).toMatchObject({ verdict: 'ok', says: expect.stringContaining('is pass') })
  })

  it('reports refused credentials and what to check, asks for no form, and shows no credentials; exit 4', async () => {
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
  ])(
    'reports invisible bytes in a key file, and never shows the key: it %s',
    async (says, bytes) => {
      await using site = await Site.open()
      writeFileSync(join(site.root, 'service.key'), bytes, { mode: 0o600 })

      const { of, said } = await doctor(site, '--offline')

      expect(of('key')).toMatchObject({ verdict: 'warning', says: expect.stringContaining(says) })
      expect(said).not.toContain(SECRET)
    },
  )

  it('reports that the service cannot be reached, and asks it nothing more; exit 75', async () => {
    await using site = await Site.open()
    site.configure({ service: { baseUrl: 'http://127.0.0.1:1/api', account: '123' } })

    const { code, of } = await doctor(site)

    expect(code).toBe(75)
    expect(of('address')?.says).toMatch(/^no answer: .*ECONNREFUSED/)
    expect(of('service')).toBeUndefined()
  })

  it('sends no request with --offline, and checks the host; exit 0', async () => {
    await using site = await Site.open()
    site.configure({ service: { baseUrl: 'http://127.0.0.1:1/api', account: '123' } })

    const { code, of } = await doctor(site, '--offline')

    expect(code).toBe(0)
    expect(of('key')?.verdict).toBe('ok')
    expect(of('state')?.says).toMatch(/does not exist yet and can be created$/)
    expect([of('service'), of('storage')]).toEqual([undefined, undefined])
  })

  it('reports all problems and warnings at once, each with its fix', async () => {
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
    expect(troubled.map(({ check }) => check)).toEqual(['daemon', 'inbox', 'alerts', 'alerts'])
    expect(
      answer.findings.filter(({ verdict, fix }) => verdict === 'problem' && fix === null),
    ).toEqual([])
    expect(answer.findings).toContainEqual({
      ...{ check: 'key', verdict: 'warning', by: 'command', user: ME, at: expect.any(String) },
      says: expect.stringContaining('0644: others may read it'),
      fix: expect.stringMatching(/^chmod 0600 .*service\.key$/),
    })
  })

  it('reports a damaged history', async () => {
    await using site = await Site.open()
    site.drop('a.xml', feedOf(3))
    await site.run('run', '--once')
    writeFileSync(join(site.root, 'state', 'feedsyncd.db'), 'this is no database at all')

    const { code, of } = await doctor(site, '--offline')

    expect(code).not.toBe(0)
    expect(of('history')?.verdict).toBe('problem')
  })

  it('reports a deleted history, which is not taken for a new installation; exit 1', async () => {
    await using site = await Site.open()
    await site.run('run', '--once')
    rmSync(join(site.root, 'state', 'feedsyncd.db'))

    const { code, of } = await doctor(site, '--offline')

    expect(code).toBe(1)
    expect(of('history')).toMatchObject({ verdict: 'problem' })
  })

  it('reports a history that a newer feedsyncd wrote; exit 78', async () => {
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

  it('reports a state directory that is a link to itself; other commands end with 78 and without an internal error', async () => {
    await using site = await Site.open()
    symlinkSync('state', join(site.root, 'state'))

    const { of } = await doctor(site, '--offline')
    const status = await site.run('status')
    const { code, stderr } = await site.run('run', '--once')

    expect(of('state')).toMatchObject({ verdict: 'problem' })
    expect([status.code, code]).toEqual([78, 78])
    expect(stderr + status.stderr).not.toMatch(/internal error|unexpected/)
  })

  it('reports a state directory that is a link without a target; a pass ends with 75 and without an internal error', async () => {
    await using site = await Site.open()
    symlinkSync('/nonexistent/disk', join(site.root, 'state'))

    const { of } = await doctor(site, '--offline')
    const { code, stderr } = await site.run('run', '--once')

    expect(of('state')).toMatchObject({
      verdict: 'problem',
      says: expect.stringMatching(/state does not exist \(ENOENT\)$/),
    })
    expect(code).toBe(75)
    expect(stderr).not.toContain('internal error')
  })

  it('skips a missing campaigns file, and reports a mistake in the file with line and column; exit 78', async () => {
    await using site = await Site.open()
    const off = await doctor(site, '--offline')
    writeFileSync(join(site.root, 'campaigns.yaml'), 'version: 1\ncampaigns:\n  - name: x\n')

    const { code, of } = await doctor(site, '--offline')

    expect(off.of('campaigns')).toMatchObject({ verdict: 'skipped' })
    expect(code).toBe(78)
    expect(of('campaigns')?.says).toMatch(/campaigns\.yaml:3:\d+ /)
  })

  it('prints for each check a verdict, a name, a sentence, and the fix below', async () => {
    await using site = await Site.open()
    rmSync(site.inbox, { recursive: true })

    const { stdout } = await site.run('doctor', '--offline')

    expect(stdout).toMatch(new RegExp(`^this command, as ${ME}:\nok {7}runtime: feedsyncd `))
    expect(stdout).toMatch(/^problem {2}inbox: .+ does not exist \(ENOENT\)\n {9}try: create it/m)
  })
})

describe('doctor beside a running daemon', () => {
  it.skipIf(process.getuid?.() !== 0)(
    'shows problems that only the daemon’s user has, and beside them what root sees',
    async () => {
      await using site = await Site.open({ inbox: { afterUpload: 'archive' } })
      const state = join(site.root, 'state')
      mkdirSync(state)
      for (const path of [state, site.runtime.RUNTIME_DIRECTORY, join(site.root, 'service.key')])
        chownSync(path, NOBODY, NOBODY)
      chmodSync(site.root, 0o755)
      chmodSync(site.inbox, 0o755)
      const daemon = site.spawnBy(AS_NOBODY, 'run')
      await site.logged(daemon, 'daemon started')
      await looked(site)

      const { answer, code, of } = await doctor(site)
      const { stdout } = await site.run('doctor')

      expect(code).toBe(1)
      expect(of('inbox', 'daemon')).toMatchObject({
        ...{ verdict: 'problem', user: 'nobody' },
        says: `${site.inbox} may not be written by this user (EACCES)`,
        fix: expect.stringContaining('examples/local.conf'),
      })
      const daemons = answer.findings.filter(({ by }) => by === 'daemon')
      expect(daemons.map(({ check, verdict }) => `${check} ${verdict}`)).toEqual([
        ...['inbox problem', 'archive ok', 'state ok', 'room ok', 'key ok', 'address ok'],
      ])
      expect(of('inbox')).toBeUndefined()
      expect(of('service')).toMatchObject({ verdict: 'ok', user: 'root' })
      expect(stdout).toMatch(/^the daemon, as nobody, (just now|\d+ s ago):\nproblem {2}inbox: /)
      expect(stdout).toMatch(/\n\nthis command, as root:\nok {7}runtime: /)
    },
  )

  it('reports that the daemon cannot reach the service through its proxy', async () => {
    await using site = await Site.open(
      {},
      { env: { NO_PROXY: '', HTTP_PROXY: 'http://u:hidden@127.0.0.1:1' } },
    )
    await site.daemonProcess()
    await looked(site)
    site.env = {}

    const { of, said } = await doctor(site)

    expect(of('address', 'daemon')).toMatchObject({
      verdict: 'problem',
      says: expect.stringMatching(/^no answer: .*ECONNREFUSED/),
    })
    expect(of('service')).toMatchObject({ verdict: 'ok' })
    expect(said).not.toContain('hidden')
  })

  it('names the entries of the daemon’s NO_PROXY that mean nothing, without a password, and others count', async () => {
    await using site = await Site.open(
      {},
      {
        env: {
          HTTP_PROXY: 'http://127.0.0.1:1',
          NO_PROXY: '127.0.0.0/8,10.*,http://u:hidden@p.example',
        },
      },
    )
    await site.daemonProcess()
    await looked(site)
    site.env = {}

    const { of, said } = await doctor(site)

    expect(of('proxy', 'daemon')).toMatchObject({
      verdict: 'warning',
      says: expect.stringMatching(/through the proxy: "10\.\*", "…@p\.example"$/),
      fix: expect.stringContaining('10.0.0.0/8'),
    })
    expect(of('address', 'daemon')).toMatchObject({ verdict: 'ok' })
    expect(said).not.toContain('hidden')
  })

  it.skipIf(process.getuid?.() !== 0)(
    'shows a user who may not read the key the checks of the daemon, and skips the key without a problem',
    async () => {
      await using site = await Site.open()
      chmodSync(site.root, 0o755)
      await site.daemonProcess()
      await looked(site)
      chmodSync(site.configFile, 0o644)

      const { stdout } = await finished(site.spawnBy(IN_GROUP, 'doctor'))

      expect(stdout).toMatch(/^the daemon, as root,/)
      expect(stdout).toMatch(/^skipped {2}key: this user may not read .+ only root can check it/m)
      expect(stdout).not.toMatch(/^problem/m)
    },
  )

  it('shows that the daemon cannot reach a webhook, and no secret in any of its findings', async () => {
    const webhook = 'http://127.0.0.1:1/hook/a-webhook-token'
    await using site = await Site.open({ alerts: [{ on: ['held'], webhook }] })
    await site.daemonProcess()

    const findings = (await looked(site))?.findings ?? []

    expect(findings.filter(({ check }) => check === 'alerts')).toMatchObject([
      { verdict: 'problem', says: expect.stringContaining('ECONNREFUSED') },
    ])
    expect(JSON.stringify(findings)).not.toMatch(new RegExp(`a-webhook-token|${SECRET}`))
  })

  it('reports little free space on the disk of the state, and a full disk', async (test) => {
    await using site = await Site.open()
    using disk = mountedDisk(join(site.root, 'state'), test)

    const little = await doctor(site, '--offline')
    disk.fill(process)
    const full = await doctor(site, '--offline')

    expect(little.of('room')).toMatchObject({ verdict: 'warning' })
    expect(full.of('room')).toMatchObject({
      verdict: 'problem',
      says: expect.stringMatching(/^the disk of \S+ is full: \S+ \S+ are left$/),
    })
  })
})
