import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

const FOLDER = join(import.meta.dirname, '../../../systemd')
const UNIT = readFileSync(join(FOLDER, 'feedsyncd.service'), 'utf8')

/** setting returns all values of a setting, in order. */
function setting(name: string): string[] {
  return [...UNIT.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map((found) => found[1] ?? '')
}

describe('the systemd unit', () => {
  it('runs the daemon, and restarts it after failures, but not after usage or configuration errors or without its key', () => {
    expect(setting('ExecStart')).toEqual(['/usr/bin/feedsyncd run'])
    expect(setting('Restart')).toEqual(['on-failure'])
    expect(setting('RestartPreventExitStatus')).toEqual(['64 78 243'])
  })

  it('has a type of service that the systemd of Debian 12 knows', () => {
    expect(setting('Type')).toEqual(['notify'])
  })

  it('accepts notifications from a child of the daemon, and restarts a daemon whose loop hangs', () => {
    expect(setting('NotifyAccess')).toEqual(['all'])
    expect(setting('WatchdogSec')).toEqual(['5min'])
  })

  it('leaves a file for the next start only if the watchdog ended it', () => {
    const [command = ''] = setting('ExecStopPost')
    const folder = mkdtempSync(join(tmpdir(), 'unit-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [, script = ''] = /^-\/bin\/sh -c '(.*)'$/.exec(command) ?? []
    const left = ['success', 'exit-code', 'watchdog'].map((result) => {
      const env = { RUNTIME_DIRECTORY: folder, SERVICE_RESULT: result }
      const plain = script.replaceAll('$$', '$').replace('%N', 'feedsyncd')
      spawnSync('/bin/sh', ['-c', plain], { env })
      return readdirSync(folder)
    })

    expect(left).toEqual([[], [], ['watchdog-feedsyncd']])
  })

  it('passes the key as a credential, and writes no core dump, which would hold it', () => {
    expect(setting('LoadCredential')).toEqual(['service-key:/etc/feedsyncd/service.key'])
    expect(setting('LimitCORE')).toEqual(['0'])
  })

  it('leaves NODE_OPTIONS to the host', () => {
    expect(setting('Environment').filter((each) => each.startsWith('NODE_OPTIONS'))).toEqual([])
    expect(setting('UnsetEnvironment')).toEqual([])
  })

  it('lets V8 compile, permits the system calls of a service, and refuses others without killing the daemon', () => {
    expect(setting('MemoryDenyWriteExecute')).toEqual([])
    expect(setting('SystemCallFilter')).toEqual(['@system-service', '~@privileged @resources'])
    expect(setting('SystemCallErrorNumber')).toEqual(['EPERM'])
  })

  it('does not start without a configuration', () => {
    expect(setting('ConditionPathExists')).toEqual(['/etc/feedsyncd/feedsyncd.yaml'])
  })

  it('runs as the user that sysusers.d creates', () => {
    const sysusers = readFileSync(join(FOLDER, 'feedsyncd.sysusers.conf'), 'utf8')

    const account = /^u (\S+) /m.exec(sysusers)?.[1]

    expect([setting('User'), setting('Group')]).toEqual([[account], [account]])
  })
})

describe('the unit of an instance', () => {
  const settings = (text: string) => text.split('\n').filter((line) => /^[A-Z[]/.test(line))
  const instance = readFileSync(join(FOLDER, 'feedsyncd@.service'), 'utf8')

  it('differs from the unit of the host only in lines with the name of the instance', () => {
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

  // Other instances have their files in the runtime directory when one instance stops.
  it('keeps the shared runtime directory when it stops', () => {
    expect(settings(instance)).toEqual(
      expect.arrayContaining(['RuntimeDirectory=feedsyncd', 'RuntimeDirectoryPreserve=yes']),
    )
  })
})

describe('every systemd file', () => {
  it.each(readdirSync(FOLDER).filter((name) => /\.(service|conf|example)$/.test(name)))(
    '%s has no comment after a value, because systemd would read it as part of the value',
    (name) => {
      const lines = readFileSync(join(FOLDER, name), 'utf8').split('\n')

      expect(lines.filter((line) => /^[^#].*\s[#;]/.test(line))).toEqual([])
    },
  )
})

describe.skipIf(spawnSync('systemd-analyze', ['--version']).error !== undefined)(
  'the example drop-in, with every line active',
  () => {
    it('has only settings that systemd accepts', () => {
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
