import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

const FOLDER = join(import.meta.dirname, '../../../systemd')
const UNIT = readFileSync(join(FOLDER, 'feedsyncd.service'), 'utf8')

/** All values of a setting, in order. */
function setting(name: string): string[] {
  return [...UNIT.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map((found) => found[1] ?? '')
}

describe('the systemd unit', () => {
  it('runs the daemon and is not restarted for usage or configuration errors', () => {
    expect(setting('ExecStart')).toEqual(['/usr/bin/feedsyncd run'])
    expect(setting('Restart')).toEqual(['on-failure'])
    expect(setting('RestartPreventExitStatus')).toEqual(['64 78'])
  })

  it('never asks for a kind of service that the systemd of Debian 12 does not know', () => {
    expect(setting('Type')).toEqual(['notify'])
  })

  it('hears the child that speaks for the daemon, and restarts a loop that hangs', () => {
    expect(setting('NotifyAccess')).toEqual(['all'])
    expect(setting('WatchdogSec')).toEqual(['5min'])
  })

  it('hands the key over as a credential, and opens no debugger to read it', () => {
    expect(setting('LoadCredential')).toEqual(['service-key:/etc/feedsyncd/service.key'])
    expect(setting('Environment')).toContain('NODE_OPTIONS=--disable-sigusr1')
    expect(setting('UnsetEnvironment')).toEqual([])
    expect(setting('LimitCORE')).toEqual(['0'])
  })

  it('lets V8 compile, and refuses system calls instead of killing for them', () => {
    expect(setting('MemoryDenyWriteExecute')).toEqual([])
    expect(setting('SystemCallFilter')).toEqual(['@system-service', '~@privileged @resources'])
    expect(setting('SystemCallErrorNumber')).toEqual(['EPERM'])
  })

  it('does not start before there is a configuration', () => {
    expect(setting('ConditionPathExists')).toEqual(['/etc/feedsyncd/feedsyncd.yaml'])
  })

  it('runs as the account that sysusers.d makes', () => {
    const sysusers = readFileSync(join(FOLDER, 'feedsyncd.sysusers.conf'), 'utf8')

    const account = /^u (\S+) /m.exec(sysusers)?.[1]

    expect([setting('User'), setting('Group')]).toEqual([[account], [account]])
  })
})

describe('the unit of an instance', () => {
  const settings = (text: string) => text.split('\n').filter((line) => /^[A-Z[]/.test(line))
  const instance = readFileSync(join(FOLDER, 'feedsyncd@.service'), 'utf8')

  it('differs from the unit of the host in what has its name, and in nothing else', () => {
    const [one, all] = [settings(instance), settings(UNIT)]

    expect(one.filter((line) => !all.includes(line))).toEqual([
      'Description=feedsyncd for %i, delivers job feeds to the sponsorship service',
      'ConditionPathExists=/etc/feedsyncd/%i/feedsyncd.yaml',
      'ExecStart=/usr/bin/feedsyncd --config /etc/feedsyncd/%i/feedsyncd.yaml run',
      'SyslogIdentifier=feedsyncd@%i',
      'LoadCredential=service-key:/etc/feedsyncd/%i/service.key',
      'StateDirectory=feedsyncd/%i',
    ])
    expect(one.map((line) => line.split('=')[0])).toEqual(all.map((line) => line.split('=')[0]))
  })

  // The runtime directory of one that stops must stay: the others have their files in it.
  it('keeps the runtime directory that all of them share', () => {
    expect(settings(instance)).toEqual(
      expect.arrayContaining(['RuntimeDirectory=feedsyncd', 'RuntimeDirectoryPreserve=yes']),
    )
  })
})

describe('every systemd file', () => {
  it.each(readdirSync(FOLDER).filter((name) => /\.(service|conf|example)$/.test(name)))(
    '%s has no comment behind a value, which systemd would take as a part of it',
    (name) => {
      const lines = readFileSync(join(FOLDER, name), 'utf8').split('\n')

      expect(lines.filter((line) => /^[^#].*\s[#;]/.test(line))).toEqual([])
    },
  )
})

describe.skipIf(spawnSync('systemd-analyze', ['--version']).error !== undefined)(
  'the example drop-in, with every line taken in',
  () => {
    it('has nothing that systemd would refuse or ignore', () => {
      const folder = mkdtempSync(join(tmpdir(), 'unit-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')
      const unit = read('feedsyncd.service').replace(/^(Exec\w+=)\S+/gm, '$1/bin/true')
      const dropin = read('local.conf.example').replace(/^#(?=[A-Z]\w+=)/gm, '')
      const file = join(folder, 'feedsyncd.service')
      writeFileSync(file, unit)
      mkdirSync(`${file}.d`)
      writeFileSync(join(`${file}.d`, 'local.conf'), dropin)

      const { status, stderr } = spawnSync('systemd-analyze', ['verify', file])

      expect(dropin.match(/^[A-Z]\w+=/gm)?.length).toBeGreaterThan(10)
      expect([status, String(stderr)]).toEqual([0, ''])
    })
  },
)
