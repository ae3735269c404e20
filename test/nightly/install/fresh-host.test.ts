// Tests the package on a fresh Debian with a real systemd, as an operator uses it, from installation to purge.
// It needs root, debootstrap and about five minutes, and is skipped without root or debootstrap.
//
// FEEDSYNCD_DEBIAN_RELEASE=trixie tests another release than bookworm. FEEDSYNCD_DEBIAN_ROOT names a root that
// debootstrap made before, and FEEDSYNCD_DEBIAN_MIRROR a mirror.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { feedOf } from '../../helpers/feed.ts'
import { answersByCode, blocks } from '../../helpers/runbook.ts'
import { Machine } from './machine.ts'

const MINUTE = 60_000
const canInstall =
  process.getuid?.() === 0 && spawnSync('debootstrap', ['--version']).error === undefined

const FOUR_LINES = `service: { baseUrl: "http://127.0.0.1:8700/api", account: "123" }
inbox: { directory: /srv/ats/export }
state: { directory: /var/lib/feedsyncd }
http: { listen: "127.0.0.1:9464" }
`

/** inOrder returns the blocks of the page, and first the blocks for a host without the package. */
const inOrder = () =>
  blocks()
    .map((block, n) => ({ ...block, n: n + 1 }))
    .sort((a, b) => Number(b.situation === 'nothing') - Number(a.situation === 'nothing'))

describe.runIf(canInstall)('the package on a fresh Debian', { timeout: 3 * MINUTE }, () => {
  const out = mkdtempSync(join(tmpdir(), 'feedsyncd-builds-'))
  let machine: Machine
  let before: string[]

  const build = (revision: number, into = out) => {
    const args = ['systemd/package/main.ts', '--quick', '--revision', `${revision}`, '--out', into]
    execFileSync('node', args, { cwd: join(import.meta.dirname, '../../..') })
    return readdirSync(into).find((name) => name.includes(`-${revision}_`)) ?? ''
  }
  const install = async (revision: number) => {
    const name = readdirSync(out).find((file) => file.includes(`-${revision}_`)) ?? ''
    writeFileSync(join(machine.root, name), readFileSync(join(out, name)))
    const { code, stdout, stderr } = await machine.run(`dpkg -i /${name}`)
    await machine.must(`rm /${name}`)
    return { code, said: stdout + stderr }
  }
  const write = (path: string, text: string, mode = 0o644) =>
    writeFileSync(join(machine.root, path), text, { mode })
  /** drop writes a whole feed and renames it into its place. */
  const drop = async (name: string, text: string, folder = '/srv/ats/export') => {
    write(`${folder}/${name}.part`, text)
    await machine.must(`mv ${folder}/${name}.part ${folder}/${name}`)
  }
  const uploads = async () => JSON.parse(await machine.must('feedsyncd status --json')).uploads
  const untilUploaded = (feed: string) =>
    vi.waitFor(async () => {
      expect(await uploads()).toContainEqual(expect.objectContaining({ feed, state: 'uploaded' }))
    }, 60_000)
  const untilUnit = (property: string, value: string | RegExp) =>
    vi.waitFor(async () => expect(await machine.unit(property)).toMatch(value), 60_000)

  beforeAll(async () => {
    build(1)
    build(2)
    machine = await Machine.install()
    await machine.boot()
  }, 10 * MINUTE)

  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]()
    rmSync(out, { recursive: true })
  })

  it('has the same bytes in each build', () => {
    const again = mkdtempSync(join(tmpdir(), 'feedsyncd-builds-'))
    try {
      build(1, again)

      for (const name of readdirSync(again)) {
        const [first, second] = [out, again].map((folder) => readFileSync(join(folder, name)))
        expect(first?.equals(second ?? Buffer.alloc(0)), name).toBe(true)
      }
      expect(readdirSync(again)).toHaveLength(2)
    } finally {
      rmSync(again, { recursive: true })
    }
  })

  it('installs on a minimal Debian, says what to do next, hides its configuration, and does not start the daemon', async () => {
    before = await machine.files()

    const { code, said } = await install(1)

    expect([code, said]).toEqual([0, expect.stringContaining('systemctl enable --now feedsyncd')])
    expect(await machine.unit('ActiveState')).toBe('inactive')
    expect(await machine.must('feedsyncd --version')).toMatch(/^\d+\.\d+\.\d+$/)
    expect(await machine.must('stat -c "%a %U:%G" /etc/feedsyncd')).toBe('750 root:feedsyncd')
  })

  it('does not start before it is configured, and the unit does not fail', async () => {
    await machine.must('systemctl start feedsyncd')

    expect([await machine.unit('ConditionResult'), await machine.unit('ActiveState')]).toEqual([
      'no',
      'inactive',
    ])
  })

  it('ends with 78 for a mistake in the configuration, which the log names, and systemd does not restart it', async () => {
    write('etc/feedsyncd/service.key', '', 0o600)
    write('etc/feedsyncd/feedsyncd.yaml', 'service: { baseURL: "https://example.com" }\n')
    await machine.must('systemd-tmpfiles --create feedsyncd.conf')

    const { code } = await machine.run('systemctl start feedsyncd')

    expect(code).not.toBe(0)
    expect(await machine.unit('ExecMainStatus')).toBe('78')
    expect([await machine.unit('NRestarts'), await machine.unit('ActiveState')]).toEqual([
      '0',
      'failed',
    ])
    const log = await machine.must('journalctl -u feedsyncd -o cat')
    expect(log).toMatch(/feedsyncd\.yaml:1:\d+ service\.baseURL: .*baseUrl/)
  })

  it('starts with four lines of configuration and a key, tells systemd its status, and runs as its own user', async () => {
    await machine.must('mkdir -p /srv/ats/export')
    await machine.must(
      'systemd-run --quiet --unit=sandbox feedsyncd sandbox --dir /srv/sandbox --port 8700',
    )
    await vi.waitFor(() => machine.must('test -s /srv/sandbox/service.key'), 60_000)
    await machine.must('cp /srv/sandbox/service.key /etc/feedsyncd/service.key')
    write('etc/feedsyncd/feedsyncd.yaml', FOUR_LINES)

    await machine.must('systemctl enable --now feedsyncd')

    expect(await machine.unit('ActiveState')).toBe('active')
    expect(await machine.unit('StatusText')).toContain('0 waiting, 0 uploading')
    const pid = await machine.unit('MainPID')
    expect(await machine.must(`stat -c %U /proc/${pid}`)).toBe('feedsyncd')
  })

  it('leaves the key file to root: its own user cannot read the file', async () => {
    expect(await machine.must('stat -c "%a %U" /etc/feedsyncd/service.key')).toBe('600 root')
    const cannot = await machine.run(
      'setpriv --reuid feedsyncd --regid feedsyncd --clear-groups cat /etc/feedsyncd/service.key',
    )
    expect(cannot.stderr).toContain('Permission denied')
  })

  it('delivers a dropped feed to storage, and shows it in status and on the page', async () => {
    await drop('jobs.xml', feedOf(3))

    await untilUploaded('jobs.xml')

    const page = await machine.must(
      `/usr/lib/feedsyncd/bin/node -e "fetch('http://127.0.0.1:9464/').then(a => a.text()).then(console.log)"`,
    )
    expect(page).toContain('jobs.xml')
    expect(await machine.must('feedsyncd status --check')).toMatch(/^OK - 1 feed/)
    expect(await machine.must('find /srv/sandbox/objects -type f')).not.toBe('')
  })

  it('passes all checks of doctor, as the user of the unit and as root', async () => {
    const { stdout } = await machine.run('feedsyncd doctor')

    expect(stdout).toMatch(/^the daemon, as feedsyncd, .+:\nok {7}inbox: /)
    expect(stdout).toMatch(/^this command, as root:$/m)
    expect(stdout).toContain('accepts the credentials')
    expect(stdout).not.toMatch(/^problem/m)
  })

  it('writes JSON lines with a message and a priority to the journal', async () => {
    const lines = (await machine.must('journalctl -u feedsyncd -o json')).split('\n')
    const entries = lines.map((line) => JSON.parse(line))
    const own = entries.filter(({ MESSAGE }) => `${MESSAGE}`.startsWith('{'))

    expect(own.length).toBeGreaterThan(0)
    expect(own.every((entry) => JSON.parse(entry.MESSAGE).msg !== undefined)).toBe(true)
    expect(own.map((entry) => entry.PRIORITY)).toContain('6')
  })

  it('uses a new configuration after a restart, and does not start with a wrong one', async () => {
    write('etc/feedsyncd/feedsyncd.yaml', `${FOUR_LINES}guards: { minPostings: -1 }\n`)
    await machine.run('systemctl restart feedsyncd')
    await untilUnit('ExecMainStatus', '78')

    write('etc/feedsyncd/feedsyncd.yaml', `${FOUR_LINES}guards: { minPostings: 2 }\n`)
    await machine.must('systemctl restart feedsyncd')

    await untilUnit('StatusText', /^0 waiting/)
    await untilUnit('ActiveState', /^active$/)
  })

  it('notifies systemd itself, with less exposure, if systemd opens the socket for it (253 and later)', async ({
    skip,
  }) => {
    const version = Number(/^systemd (\d+)/.exec(await machine.must('systemctl --version'))?.[1])
    if (version < 253) skip('this systemd knows no OpenFile=')
    const dropin = '/etc/systemd/system/feedsyncd.service.d/notify.conf'
    await machine.must(
      `install -D -m 644 /usr/share/doc/feedsyncd/examples/notify.conf ${dropin} && systemctl daemon-reload`,
    )

    await machine.must('systemctl restart feedsyncd')

    expect(await machine.unit('NotifyAccess')).toBe('main')
    expect(await machine.unit('StatusText')).toMatch(/^\d+ waiting/)
    const score = await machine.must('systemd-analyze security --no-pager feedsyncd')
    expect(score).toContain('Overall exposure level for feedsyncd.service: 1.1')
    await machine.must(`rm ${dropin} && systemctl daemon-reload && systemctl restart feedsyncd`)
  })

  it('is killed and restarted by the watchdog if it hangs', async () => {
    await machine.must('mkdir -p /etc/systemd/system/feedsyncd.service.d')
    const quick = '[Service]\nWatchdogSec=3s\nRestartSec=100ms\n'
    write('etc/systemd/system/feedsyncd.service.d/quick.conf', quick)
    await machine.must('systemctl daemon-reload && systemctl restart feedsyncd')
    const pid = await machine.unit('MainPID')

    await machine.must('systemctl kill --kill-who=main --signal=STOP feedsyncd')
    await untilUnit('NRestarts', '1')
    await untilUnit('ActiveState', /^active$/)

    expect(await machine.unit('MainPID')).not.toBe(pid)
    expect(await machine.must('journalctl -u feedsyncd -o cat')).toContain('Watchdog timeout')
  })

  it('is restarted after a kill, with its history', async () => {
    await machine.must('systemctl kill --kill-who=main --signal=KILL feedsyncd')
    await untilUnit('NRestarts', '2')
    await untilUnit('ActiveState', /^active$/)

    expect((await uploads()).map((u: { state: string }) => u.state)).toEqual(['uploaded'])
  })

  it('reaches a folder below /home only with the drop-in that doctor names', async () => {
    await machine.must('mkdir -p /home/ats/export && mv /srv/ats/export/* /home/ats/export/')
    const moved = FOUR_LINES.replace('/srv/ats/export', '/home/ats/export')
    write('etc/feedsyncd/feedsyncd.yaml', `${moved}guards: { secondFeed: pass }\n`)
    await machine.must('systemctl restart feedsyncd')
    expect((await machine.run('feedsyncd status --check')).stdout).toMatch(/^CRITICAL/)

    const example = '/usr/share/doc/feedsyncd/examples/local.conf'
    expect((await machine.run('feedsyncd doctor')).stdout).toMatch(
      new RegExp(`^problem {2}inbox: /home/ats/export .+\\n {9}try: .+${example}`, 'm'),
    )

    const dropin = '/etc/systemd/system/feedsyncd.service.d/local.conf'
    const uncomment = 's;^#(ProtectHome=tmpfs|BindReadOnlyPaths=/home/ats/export)$;\\1;'
    await machine.must(`sed -E '${uncomment}' ${example} > ${dropin}`)
    await machine.must('systemctl daemon-reload && systemctl restart feedsyncd')
    await drop('home.xml', feedOf(4), '/home/ats/export')

    await untilUploaded('home.xml')
  })

  it('runs two more instances, each with its own files, history and log, and stops one alone', async () => {
    for (const name of ['a', 'b']) {
      await machine.must(
        `mkdir -p /srv/${name} && install -d -m 750 -g feedsyncd /etc/feedsyncd/${name}`,
      )
      const config = FOUR_LINES.replace('/srv/ats/export', `/srv/${name}`)
        .replace('/var/lib/feedsyncd', `/var/lib/feedsyncd/${name}`)
        .replace(/^http: .*\n/m, '')
      write(`etc/feedsyncd/${name}/feedsyncd.yaml`, config, 0o600)
      await machine.must(
        `install -m 600 /srv/sandbox/service.key /etc/feedsyncd/${name}/service.key`,
      )
    }
    await machine.must('systemd-tmpfiles --create feedsyncd.conf')
    await machine.must('systemctl start feedsyncd@a feedsyncd@b')
    await drop('of-a.xml', feedOf(6), '/srv/a')
    const of = (name: string, command: string) =>
      machine.run(`feedsyncd --config /etc/feedsyncd/${name}/feedsyncd.yaml ${command}`)

    await vi.waitFor(async () => {
      const { uploads } = JSON.parse((await of('a', 'status --json')).stdout)
      expect(uploads).toMatchObject([{ feed: 'of-a.xml', state: 'uploaded' }])
    }, 60_000)
    await machine.must('systemctl stop feedsyncd@a')

    expect((await of('a', 'status')).stdout).toContain('systemctl start feedsyncd@a')
    expect((await of('b', 'status')).stdout).toMatch(/^daemon running .*\n\nno feed/)
    expect((await of('b', 'doctor')).stdout).not.toMatch(/^problem/m)
    expect((await of('a', 'logs')).stdout).toContain('of-a.xml')
    expect((await of('b', 'logs')).stdout).not.toContain('of-a.xml')
    expect(await machine.unit('ActiveState')).toBe('active')
    expect(await machine.must('stat -c "%a %U" /var/lib/feedsyncd/a')).toBe('750 feedsyncd')
    await machine.must('systemctl start feedsyncd@a')
  })

  it('restarts running instances in an upgrade', async () => {
    const pid = () => machine.must('systemctl show feedsyncd@a --value --property=MainPID')
    const before = await pid()
    await install(2)
    await install(1)

    expect(await pid()).not.toBe(before)
    expect(await machine.must('systemctl is-active feedsyncd@a feedsyncd@b')).toBe('active\nactive')
    await machine.must(
      'systemctl stop feedsyncd@a feedsyncd@b; rm -rf /etc/feedsyncd/a /etc/feedsyncd/b',
    )
    await machine.must('rm -rf /srv/a /srv/b /var/lib/feedsyncd/a /var/lib/feedsyncd/b')
  })

  it('stops cleanly at systemctl stop', async () => {
    await machine.must('systemctl stop feedsyncd')

    expect([await machine.unit('Result'), await machine.unit('ExecMainStatus')]).toEqual([
      'success',
      '0',
    ])
    expect(await machine.must('journalctl -u feedsyncd -o cat')).toContain('daemon stopped')
  })

  it('leaves a stopped daemon stopped in an upgrade, and restarts a running one', async () => {
    await install(2)
    expect(await machine.unit('ActiveState')).toBe('inactive')

    await machine.must('systemctl start feedsyncd')
    const pid = await machine.unit('MainPID')
    const { code } = await install(1)

    expect(code).toBe(0)
    expect(await machine.unit('ActiveState')).toBe('active')
    expect(await machine.unit('MainPID')).not.toBe(pid)
    expect((await uploads()).map((u: { feed: string }) => u.feed)).toContain('jobs.xml')
  })

  it('stops when the package is removed, and keeps the configuration and the history', async () => {
    await machine.must('dpkg -r feedsyncd')

    expect(await machine.must('ls /etc/feedsyncd /var/lib/feedsyncd')).toContain('feedsyncd.db')
    expect(await machine.must('find /proc -maxdepth 1 -user feedsyncd')).toBe('')
    await install(2)
    expect((await uploads()).length).toBeGreaterThan(0)
  })

  it('leaves only its user when the package is purged', async () => {
    await machine.must('systemctl stop sandbox; rm -rf /srv/sandbox /srv/ats /home/ats')

    await machine.must('dpkg -P feedsyncd')

    const known = new Set(before)
    expect((await machine.files()).filter((path) => !known.has(path))).toEqual([])
    expect((await machine.run('systemctl list-unit-files "feedsyncd*"')).stdout).toContain('0 unit')
    expect(await machine.must('getent passwd feedsyncd')).toContain('/usr/sbin/nologin')
  })

  describe('with the commands of docs/runbook.md', () => {
    let count = 20
    const control = (method: string, body: object = []) => {
      write('root/faults.json', JSON.stringify(body))
      const request = `{ method: '${method}', body: fs.readFileSync('/root/faults.json') }`
      const told = `fetch('http://127.0.0.1:8700/_sandbox/faults', ${request})`
      return machine.must(
        `/usr/lib/feedsyncd/bin/node -e "${told}.then(({ ok }) => process.exit(ok ? 0 : 1))"`,
      )
    }
    const newest = async () => (await uploads())[0]
    /** dropped replaces jobs.xml and waits for the state of the new version. Each call needs other bytes. */
    const dropped = async (text: string, state: string) => {
      await drop('jobs.xml', text)
      await vi.waitFor(async () => expect((await newest()).state).toBe(state), 60_000)
    }
    const fault = (rule: object) => control('POST', rule)
    const good = () => dropped(feedOf(++count), 'uploaded')

    const SITUATIONS: Record<string, () => Promise<unknown>> = {
      nothing: async () => {
        await machine.must('mkdir -p /srv/ats/export')
        await machine.must('systemctl reset-failed; systemctl stop sandbox; true')
        await machine.must(
          'systemd-run --quiet --unit=sandbox2 feedsyncd-sandbox sandbox --dir /srv/sandbox --port 8700',
        )
      },
      running: () => good(),
      incomplete: () => dropped(feedOf(++count).slice(0, -20), 'incomplete'),
      rejected: () => dropped(feedOf(++count).replace('<title>', '<title>&'), 'rejected'),
      held: async () => {
        await good()
        await dropped(feedOf(2, `Held ${++count}`), 'held')
      },
      queued: async () => {
        await good()
        await fault({ at: 'service', kind: 'answer', status: 503 })
        await dropped(feedOf(++count), 'queued')
      },
      failed: async () => {
        await control('DELETE')
        await good()
        const body = '<?xml version="1.0"?><Error><Code>EntityTooLarge</Code></Error>'
        const headers = { 'content-type': 'application/xml' }
        await fault({ at: 'storage', kind: 'answer', status: 400, headers, body })
        await dropped(feedOf(++count), 'failed')
        await control('DELETE')
      },
      uploaded: () => good(),
      'lost history': async () => {
        await good()
        await machine.must(
          'systemctl stop feedsyncd; rm /var/lib/feedsyncd/feedsyncd.db*; systemctl start feedsyncd',
        )
        await vi.waitFor(async () => expect((await newest()).state).toBe('held'), 60_000)
      },
      credentials: async () => {
        await fault({ at: 'service', kind: 'answer', status: 401 })
        await drop('jobs.xml', feedOf(++count))
        await vi.waitFor(async () => {
          const { service } = JSON.parse(await machine.must('feedsyncd status --json'))
          expect(service.state).toBe('credentials')
        }, 60_000)
        await control('DELETE')
      },
    }

    beforeAll(async () => {
      const name = readdirSync(out).find((file) => file.includes('-2_')) ?? ''
      writeFileSync(join(machine.root, 'root', name), readFileSync(join(out, name)))
      // The sandbox service runs from a copy of the program, so that it survives the removal of the package.
      await machine.must(
        `dpkg -x /root/${name} /srv/program && sed 's#/usr/lib#/srv/program/usr/lib#g' /srv/program/usr/bin/feedsyncd > /usr/bin/feedsyncd-sandbox && chmod +x /usr/bin/feedsyncd-sandbox`,
      )
    })

    it.each(inOrder())(
      '$heading (block $n): its commands succeed',
      async ({ situation, commands }) => {
        if (situation !== null) await SITUATIONS[situation]?.()
        if (situation === 'nothing') {
          await vi.waitFor(() => machine.must('cp /srv/sandbox/service.key /root/'), 60_000)
        }
        const known = await machine.run('feedsyncd status --json')
        const id = known.code === 0 ? JSON.parse(known.stdout).uploads[0]?.id : undefined
        for (const command of commands) {
          const line = command
            .replace(/\bID\b/, String(id))
            .replace('https://api.example.com', 'http://127.0.0.1:8700')
          const { code, stdout, stderr } = await machine.run(`cd /root && ${line}`)
          if (!answersByCode(command)) expect(code, `${line}\n${stdout}${stderr}`).toBe(0)
        }
      },
    )
  })
})
