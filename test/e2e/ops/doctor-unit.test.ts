// `doctor` beside a unit of systemd, which a fake systemctl prints: it judges by how the unit runs.

import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { Finding } from '../../../src/ops/doctor/finding.ts'
import { finished, SECRET, Site } from '../../helpers/site.ts'
import { SmallDisk } from '../../helpers/small-disk.ts'

const NOBODY = 65_534
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']

/** A site whose systemctl knows the unit. */
function installUnit(site: Site, ...lines: string[]): void {
  const bin = join(site.root, 'bin')
  mkdirSync(bin)
  const unit = ['[Service]', ...lines].join('\n')
  writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\n[ "$1" = cat ] && cat <<'END'\n${unit}\nEND\n`)
  chmodSync(join(bin, 'systemctl'), 0o755)
  chmodSync(site.root, 0o755)
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`)
}

async function doctor(site: Site, starter: string[] = []) {
  const command = ['doctor', '--offline', '--json']
  const { code, stdout } =
    starter.length === 0
      ? await site.run(...command)
      : await finished(site.spawnBy(starter, ...command))
  const { findings } = JSON.parse(stdout) as { findings: Finding[] }
  return { code, findings, of: (check: string) => findings.find((each) => each.check === check) }
}

describe('doctor beside a unit', () => {
  it('finds a folder that the unit may not write to, although its user may', async () => {
    await using site = await Site.open()
    site.configure({ inbox: { afterUpload: 'archive', archiveDirectory: './archive' } })
    installUnit(site, 'User=root', 'ProtectSystem=strict', `ReadWritePaths=${site.inbox}`)

    const { of } = await doctor(site)

    expect(of('inbox')).toMatchObject({ verdict: 'ok' })
    expect(of('archive')).toMatchObject({
      verdict: 'problem',
      says: expect.stringContaining('ReadWritePaths='),
      fix: expect.stringMatching(/^feedsyncd service print > /),
    })
  })

  it.skipIf(process.getuid?.() !== 0)(
    'says that the root-only key is as it should be, when the unit’s user asks',
    async () => {
      await using site = await Site.open()
      const key = join(site.root, 'service.key')
      installUnit(site, 'User=nobody', `LoadCredential=service-key:${key}`)

      const { findings, of } = await doctor(site, AS_NOBODY)

      expect(of('key')).toMatchObject({
        verdict: 'ok',
        says: expect.stringContaining('hands it over'),
      })
      expect(findings.filter(({ fix }) => fix?.includes('chmod'))).toEqual([])
    },
  )

  it.skipIf(process.getuid?.() !== 0).each([
    ['that the unit does not see', 'PrivateTmp=yes', /hidden from the unit/, /^move it /],
    ['in a folder that is root’s alone', '', /keys cannot be entered/, /^let .+ enter it/],
  ])(
    'does not give a key %s to another user, which would not help',
    async (_, setting, says, fix) => {
      await using site = await Site.open()
      const keys = join(site.root, 'keys')
      mkdirSync(keys, { mode: 0o700 })
      const keyFile = join(keys, 'service.key')
      writeFileSync(keyFile, SECRET, { mode: 0o600 })
      chownSync(keyFile, NOBODY, NOBODY)
      const { url: baseUrl } = site.sandbox
      site.configure({ service: { baseUrl, account: '123', auth: { keyFile } } })
      installUnit(site, 'User=nobody', setting)

      const { of } = await doctor(site)

      expect(of('key')).toMatchObject({
        verdict: 'problem',
        says: expect.stringMatching(says),
        fix: expect.stringMatching(fix),
      })
    },
  )

  it.skipIf(process.getuid?.() !== 0)(
    'judges folders for the user of the unit when root asks',
    async () => {
      await using site = await Site.open()
      installUnit(site, 'User=nobody')
      chmodSync(site.inbox, 0o700)

      const { of } = await doctor(site)
      chownSync(site.inbox, NOBODY, NOBODY)
      const after = await doctor(site)

      expect(of('account')?.says).toBe('judged as the unit feedsyncd runs: as nobody')
      expect(of('inbox')).toMatchObject({
        verdict: 'problem',
        fix: expect.not.stringContaining('chmod'),
      })
      expect(after.of('inbox')).toMatchObject({ verdict: 'ok' })
    },
  )

  it.skipIf(process.getuid?.() !== 0)(
    'finds that the disk of the state is read-only, which root would not meet',
    async (test) => {
      await using site = await Site.open()
      const state = join(site.root, 'state')
      using disk = new SmallDisk(state)
      if (!disk.isMounted) return test.skip()
      chownSync(state, NOBODY, NOBODY)
      installUnit(site, 'User=nobody')
      disk.make('read-only')

      const asked = [await doctor(site), await doctor(site, AS_NOBODY)]

      for (const { of } of asked) {
        expect(of('state')).toMatchObject({
          verdict: 'problem',
          says: expect.stringContaining('EROFS'),
          fix: expect.stringMatching(/^mount it writable/),
        })
      }
    },
  )

  it.skipIf(process.getuid?.() !== 0)(
    'judges the room on the disk of the state as the daemon does: full, or little',
    async (test) => {
      await using site = await Site.open()
      using disk = new SmallDisk(join(site.root, 'state'))
      if (!disk.isMounted) return test.skip()

      const little = await doctor(site)
      disk.fill(process)
      const full = await doctor(site)

      expect(little.of('room')).toMatchObject({ verdict: 'warning' })
      expect(full.of('room')).toMatchObject({
        verdict: 'problem',
        says: expect.stringMatching(/^the disk of \S+ is full: \S+ \S+ are left$/),
      })
    },
  )

  it.skipIf(process.getuid?.() !== 0).each(['feedsyncd.db', 'daemon.lock', 'spool', '.'])(
    'finds that root owns %s of the state directory, and the command that gives it back',
    async (name) => {
      await using site = await Site.open()
      const state = join(site.root, 'state')
      await site.run('run', '--once')
      execFileSync('chown', ['-R', 'nobody', state])
      chownSync(join(state, name), 0, 0)
      chmodSync(state, 0o750)
      installUnit(site, 'User=nobody')

      const { of } = await doctor(site)
      execFileSync('/bin/sh', ['-c', of('state')?.fix ?? ''])
      const after = await doctor(site)

      expect(of('state')).toMatchObject({
        verdict: 'problem',
        says: expect.stringContaining(join(state, name)),
        fix: expect.stringMatching(/^chown -R nobody:\S+ \/.+state$/),
      })
      expect(after.of('state')).toMatchObject({ verdict: 'ok' })
    },
  )

  it.skipIf(process.getuid?.() !== 0)(
    'finds a folder of feeds that is missing, or root’s alone, and what ends that',
    async () => {
      await using site = await Site.open()
      installUnit(site, 'User=nobody', 'Group=nogroup')
      rmSync(site.inbox, { recursive: true })
      const follow = (fix?: string | null) =>
        execFileSync('/bin/sh', ['-c', /install .+$/.exec(fix ?? '')?.[0] ?? 'false'])

      const missing = await doctor(site)
      follow(missing.of('inbox')?.fix)
      const made = await doctor(site)
      chownSync(site.inbox, 0, 0)
      const roots = await doctor(site)
      follow(roots.of('inbox')?.fix)
      const given = await doctor(site)

      const verdicts = [missing, made, roots, given].map(({ of }) => of('inbox')?.verdict)
      expect(verdicts).toEqual(['problem', 'ok', 'problem', 'ok'])
    },
  )

  it.skipIf(process.getuid?.() !== 0)(
    'finds the files that root may read and run, and the unit’s user may not',
    async () => {
      await using site = await Site.open()
      const at = (name: string) => join(site.root, name)
      site.configure({
        alerts: [
          { on: ['held'], exec: [at('bin/hook')] },
          { on: ['held'], webhook: 'https://hooks.example.com/x', secretFile: 'hook.key' },
        ],
      })
      installUnit(site, 'User=nobody')
      writeFileSync(at('bin/hook'), '#!/bin/sh\n', { mode: 0o700 })
      writeFileSync(at('hook.key'), 'x', { mode: 0o600 })
      const campaigns = 'version: 1\ncampaigns:\n  - { externalCampaignId: A, name: A }\n'
      writeFileSync(at('campaigns.yaml'), campaigns, { mode: 0o600 })
      chmodSync(site.configFile, 0o600)

      const { findings } = await doctor(site)

      const refused = findings.filter(({ says }) => says.includes('EACCES'))
      expect(refused).toMatchObject([
        { check: 'configuration', verdict: 'problem', says: expect.stringContaining('.yaml') },
        { check: 'campaigns', verdict: 'problem', says: expect.stringContaining('campaigns.yaml') },
        { check: 'alerts', verdict: 'problem', says: expect.stringContaining('bin/hook') },
        { check: 'alerts', verdict: 'problem', says: expect.stringContaining('hook.key') },
        { check: 'key', verdict: 'problem', says: expect.stringContaining('service.key') },
      ])
    },
  )

  it('compares the key that the daemon was given with the file', async () => {
    await using site = await Site.open()
    const key = join(site.root, 'service.key')
    installUnit(site, 'User=root', `LoadCredential=service-key:${key}`)
    const credentials = join(site.root, 'credentials')
    mkdirSync(credentials)
    writeFileSync(join(credentials, 'service-key'), `${SECRET}\n`)
    vi.stubEnv('CREDENTIALS_DIRECTORY', credentials)
    await site.daemonProcess()

    const same = await doctor(site)
    writeFileSync(key, 'the-new-key\n')
    const changed = await doctor(site)

    expect(same.of('key in use')).toMatchObject({ verdict: 'ok' })
    expect(changed.of('key in use')).toMatchObject({
      verdict: 'problem',
      fix: 'systemctl restart feedsyncd',
    })
    expect(JSON.stringify(changed.findings)).not.toMatch(new RegExp(`the-new-key|${SECRET}`))
  })
})
