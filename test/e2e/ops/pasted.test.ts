// Each command that status prints for pasting is run on the state that printed it. Afterwards the state is better or
// the same, never worse.

import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { unitState } from '../../../src/app/unit-state.ts'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, finished, Site } from '../../helpers/site.ts'
import { fakeSystemctl } from '../../helpers/systemctl.ts'

/** commandsOf returns the commands that status prints, the most important first. */
const commandsOf = (site: Site) =>
  statusOf(site).problems.flatMap(({ next }) =>
    next.flatMap((step) => ('command' in step ? step.command : [])),
  )

/** paste runs a command as a person would. */
async function paste(site: Site, command: string) {
  const [, own] = /^feedsyncd (.*) --config \S+$/.exec(command) ?? []
  if (own !== undefined) return site.run(...own.split(' '))
  const [program = '', ...args] = command.split(' ')
  const stdout = execFileSync(program, args, { encoding: 'utf8' })
  return { code: 0, stdout, stderr: '' }
}

const codes = (site: Site) => statusOf(site).problems.map(({ code }) => code)
const sent = (site: Site) => site.sandbox.objects().map(({ sha256 }) => sha256)
const loseDatabase = (site: Site) => {
  for (const end of ['', '-wal', '-shm'])
    rmSync(join(site.root, 'state', `feedsyncd.db${end}`), { force: true })
}

describe('after the database was deleted', () => {
  it('status prints no command, because a start would make an empty history', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    const daemon = await site.daemonProcess()
    site.drop('jobs.xml', feedOf(3))
    await site.until('jobs.xml', 'uploaded')
    const ended = finished(daemon)
    loseDatabase(site)
    expect((await ended).code).toBe(78)

    expect(codes(site)).toEqual(['database-lost', 'daemon-down'])
    expect(commandsOf(site)).toEqual([])
  })

  it('the commands show each feed first, the last command needs --yes, and it leaves a collapsed feed held', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    const daemon = await site.daemon()
    site.drop('jobs.xml', feedOf(1000))
    site.drop('whole.xml', feedOf(10))
    await site.until('jobs.xml', 'uploaded')
    await site.until('whole.xml', 'uploaded')
    site.drop('jobs.xml', feedOf(100))
    const { id } = await site.until('jobs.xml', 'held')
    await site.run('discard', String(id))
    await site.until('jobs.xml', 'discarded')
    await daemon.stop()
    loseDatabase(site)
    await site.daemon()
    const held = await site.until('jobs.xml', 'held')
    const before = sent(site)

    const commands = commandsOf(site)
    const last = commands.at(-1) ?? ''
    const looks = commands.filter((command) => / show \d/.test(command))
    for (const command of looks) expect((await paste(site, command)).code).toBe(0)
    const pasted = await paste(site, last)
    const afterPasting = sent(site)
    const meant = await site.run('release', '--lost-history', '--yes')
    await site.until('whole.xml', 'uploaded')

    expect(commands[0]).toMatch(/^feedsyncd show \d+ /)
    expect(looks).toHaveLength(2)
    expect(last).toMatch(/^feedsyncd release --lost-history /)
    expect([pasted.code, afterPasting]).toEqual([64, before])
    expect(meant.stdout).toContain(
      `left held: version ${held.id} of jobs.xml: 100 postings now, 1,000 in its largest kept copy`,
    )
    expect(site.uploads({ feed: 'jobs.xml' })[0]).toMatchObject({ id: held.id, state: 'held' })
  })
})

it('a stopped process is stuck for status and doctor, and the commands end it and start the daemon again', async () => {
  await using site = await Site.open()
  const daemon = await site.daemonProcess()
  site.drop('a.xml', feedOf(3))
  await site.until('a.xml', 'uploaded')
  daemon.kill('SIGSTOP')
  const later = { ...site.clock, now: () => Date.now() + 150_000 }
  const real = site.clock
  site.clock = later

  const [kill = ''] = commandsOf(site)
  const stuck = codes(site)
  const doctor = await site.run('doctor', '--offline')
  await paste(site, kill)
  await finished(daemon)
  site.clock = real
  const down = codes(site)
  const [start = ''] = commandsOf(site)
  site.drop('b.xml', feedOf(4))
  site.spawn(
    ...start
      .replace(/ --config .*/, '')
      .split(' ')
      .slice(1),
  )
  await site.until('b.xml', 'uploaded')

  expect(stuck).toEqual(['daemon-stuck'])
  expect(doctor.stdout).toMatch(/problem {2}daemon: the daemon is stuck: its last sign of life/)
  expect(doctor.code).toBe(1)
  expect(kill).toBe(`kill -KILL ${daemon.pid}`)
  expect(down).toEqual(['daemon-down'])
  expect(start).toBe(`feedsyncd run --config ${site.configFile}`)
  await eventually(() => expect(codes(site)).toEqual([]))
})

describe('the state of a unit', () => {
  const line = (command: string) => `feedsyncd ${command}`

  it('is what systemd says of the last end of the unit, and unknown if systemd is not asked', () => {
    const { env } = fakeSystemctl({
      LoadState: 'loaded',
      Result: 'exit-code',
      ExecMainStatus: '243',
    })

    expect(unitState(line, { env, asksSystemd: true })).toEqual({
      ...{ name: 'feedsyncd', result: 'exit-code', exitStatus: 243 },
    })
    expect(unitState(line, { env, asksSystemd: false })?.result).toBeNull()
  })

  it('is unknown where systemd or the unit is missing, and absent where no unit has the configuration', () => {
    const { env } = fakeSystemctl({
      LoadState: 'not-found',
      Result: 'success',
      ExecMainStatus: '0',
    })
    const own = (command: string) => `feedsyncd ${command} --config /srv/own.yaml`

    expect(unitState(line, { env, asksSystemd: true })).toEqual({
      ...{ name: 'feedsyncd', result: null, exitStatus: null },
    })
    expect(unitState(line, { env: { PATH: '/nonexistent' }, asksSystemd: true })?.result).toBeNull()
    expect(unitState(own, { env, asksSystemd: true })).toBeNull()
    const elsewhere = { ...env, FEEDSYNCD_CONFIG: '/srv/own.yaml' }
    expect(unitState(line, { env: elsewhere, asksSystemd: true })).toBeNull()
  })
})
