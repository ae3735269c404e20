import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, vi } from 'vitest'
import { openCampaignReader, openCampaignStore } from '../../src/history/campaign-store.ts'
import { acquireLock } from '../../src/history/instance-lock.ts'
import { feedOf, Site } from '../helpers/site.ts'
import { entry, fileOf } from './reconciling.ts'

const APPLY = { campaigns: { mode: 'apply' } }

/** `isApproved`: a person approved a plan on this database before. */
async function siteWith(
  file: string,
  config: Record<string, unknown> = APPLY,
  { isApproved = true } = {},
) {
  const site = await Site.open(config)
  if (isApproved) {
    using store = openCampaignStore({ file: join(site.root, 'state', 'feedsyncd.db') })
    const account = `${site.sandbox.url} 123`
    store.saveAccount({ account, approvedAt: 1, keepsTokens: true, isCounted: true })
  }
  const write = (text: string) => writeFileSync(join(site.root, 'campaigns.yaml'), text)
  write(file)
  const calls = (route: string) =>
    site.sandbox.requests().filter((request) => request.route === route).length
  const { all } = site.sandbox.campaigns
  const lastRun = () => {
    using memory = openCampaignReader({ file: join(site.root, 'state', 'feedsyncd.db') })
    return JSON.parse(memory?.lastRun() ?? 'null')
  }
  const until = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 50 })
  return { site, write, calls, all, lastRun, until }
}

/** The create whose outcome is not known was sent an hour earlier. */
function anHourAgo(site: Site): void {
  const db = new Database(join(site.root, 'state', 'feedsyncd.db'))
  db.exec('DROP TRIGGER campaign_writes_kept')
  db.prepare('UPDATE campaign_writes SET at = at - 3700000').run()
  db.close()
}

describe('run --once', () => {
  it('creates nothing on a new database before a person approved its first plan', async () => {
    const { site, all } = await siteWith(fileOf(entry('A')), APPLY, { isApproved: false })
    await using _site = site

    const first = await site.run('run', '--once')
    const status = await site.run('status')
    const number = /campaigns apply (\d+)/.exec(status.stdout)?.[1] ?? ''
    const before = all.length
    const approved = await site.run('campaigns', 'apply', number)
    const second = await site.run('run', '--once')

    expect([first.code, approved.code, second.code]).toEqual([3, 0, 0])
    expect([before, all.length]).toEqual([0, 1])
  })

  it('says that a campaigns file is gone while its campaigns run', async () => {
    const { site } = await siteWith(fileOf(entry('A')))
    await using _site = site
    await site.run('run', '--once')
    rmSync(join(site.root, 'campaigns.yaml'))

    const ran = await site.run('run', '--once')
    const check = await site.run('status', '--check')

    expect(ran.code).toBe(3)
    expect(check.stdout).toContain('campaigns.yaml is gone, and 1 campaign goes on as it is')
  })

  it('delivers, and then keeps the campaigns in line with their file', async () => {
    const { site, all, calls } = await siteWith(fileOf(entry('A')))
    await using _site = site
    site.drop('jobs.xml', feedOf(4))

    const first = await site.run('run', '--once')
    const second = await site.run('run', '--once')

    expect([first.code, second.code]).toEqual([0, 0])
    expect(all).toMatchObject([{ targeting: { externalCampaignId: 'A' }, budget: 100 }])
    expect(calls('campaign-create')).toBe(1)
    const routes = site.sandbox.requests().map(({ route }) => route)
    expect(routes.indexOf('campaign-search')).toBeGreaterThan(routes.indexOf('presign'))
  })

  it('only tells what differs in the default mode, in status as well, and writes nothing', async () => {
    const { site, calls } = await siteWith(fileOf(entry('A')), {})
    await using _site = site

    const ran = await site.run('run', '--once')
    const status = await site.run('status')
    const json = JSON.parse((await site.run('status', '--json')).stdout)

    expect(ran.code).toBe(0)
    expect(ran.stderr).not.toContain('error')
    expect(status.stdout).toMatch(/^campaigns \(report\) looked at .*: 1 to make \(plan 1\)$/m)
    expect(json.campaigns).toMatchObject({ mode: 'report', state: 'done', pending: 1, planId: 1 })
    expect(calls('campaign-create')).toBe(0)
  })

  it('ends with 3 and says what needs a person, when a guard holds something', async () => {
    const { site } = await siteWith(fileOf(entry('A').replace('100.00', '9000.00')))
    await using _site = site

    const ran = await site.run('run', '--once')
    const status = await site.run('status')

    expect(ran.code).toBe(3)
    expect(status.stdout).toContain('next: campaign A: guards.maxBudget is 5000.00')
  })

  it('uploads whatever the campaigns are up to: a broken file, or a service that has none', async () => {
    const { site, write, calls } = await siteWith('version: 1\ncampaigns: [')
    await using _site = site
    site.drop('one.xml', feedOf(3))

    const broken = await site.run('run', '--once')
    write(fileOf(entry('A')))
    site.sandbox.faults.add({
      at: 'service',
      kind: 'answer',
      status: 500,
      route: 'campaign-search',
    })
    site.drop('two.xml', feedOf(4))
    const failing = await site.run('run', '--once')

    expect(site.uploads().map(({ state }) => state)).toEqual(['uploaded', 'uploaded'])
    expect([broken.code, failing.code]).toEqual([3, 75])
    expect(calls('campaign-create')).toBe(0)
  })

  it('writes nothing and says so when the configuration names another account than the database', async () => {
    const { site, write, calls } = await siteWith(fileOf(entry('A')))
    await using _site = site
    await site.run('run', '--once')
    const config = readFileSync(site.configFile, 'utf8')
    writeFileSync(site.configFile, config.replace('127.0.0.1', 'localhost'))
    write(fileOf(entry('A').replace('100.00', '90.00'), entry('B')))

    const ran = await site.run('run', '--once')
    const status = await site.run('campaigns', 'status')
    const check = await site.run('status', '--check')

    expect(ran.code).toBe(3)
    expect(ran.stderr).toContain('try: give each account a state.directory of its own')
    expect(status.code).toBe(3)
    expect(check.stdout).toContain('no campaign is written: the database belongs to the account')
    expect([calls('campaign-create'), calls('campaign-update')]).toEqual([1, 0])
  })

  it('asks nothing of the service where there is no campaigns file', async () => {
    const { site, calls } = await siteWith('')
    await using _site = site
    rmSync(join(site.root, 'campaigns.yaml'))

    const ran = await site.run('run', '--once')

    expect(ran.code).toBe(0)
    expect(calls('campaign-search')).toBe(0)
  })
})

describe('the daemon', () => {
  it('applies at its start, when the file changes, and looks again after an upload', async () => {
    const { site, write, all, lastRun, until } = await siteWith(fileOf(entry('A')))
    await using _site = site
    const daemon = await site.daemon()
    await until(() => expect(all).toHaveLength(1))

    write(fileOf(entry('A').replace('100.00', '90.00'), entry('B')))
    await until(() => expect(all).toMatchObject([{ budget: 90 }, { budget: 100 }]))
    site.drop('jobs.xml', feedOf(4))
    await until(() => expect(lastRun()).toMatchObject({ cause: 'upload', state: 'done' }))

    daemon.kill('SIGTERM')
    await until(() => expect(daemon.exitCode).toBe(0))
  })

  it('does within seconds what a person decided in another process', async () => {
    const { site, all, calls, lastRun, until } = await siteWith(fileOf(entry('A')))
    await using _site = site
    const lost = { at: 'service', kind: 'drop', point: 'headers', how: 'rst' } as const
    site.sandbox.faults.add({ ...lost, route: 'campaign-create', times: 1 })
    await site.daemon()
    await until(() => expect(lastRun()).toMatchObject({ waiting: [{ action: 'unknown' }] }))

    anHourAgo(site)
    const decided = await site.run('campaigns', 'resolve', 'A', '--not-created')

    expect(decided.code).toBe(0)
    await until(() => expect(all).toHaveLength(1))
    await until(() => expect(lastRun()).toMatchObject({ waiting: [] }))
    expect(calls('campaign-create')).toBe(2)
  })

  it('looks again on SIGHUP', async () => {
    const { site, lastRun, until } = await siteWith(fileOf(entry('A')))
    await using _site = site
    const daemon = await site.daemon()
    await until(() => expect(lastRun()).toMatchObject({ cause: 'start' }))

    daemon.kill('SIGHUP')

    await until(() => expect(lastRun()).toMatchObject({ cause: 'reload' }))
  })

  it('waits for another process that writes campaigns, and uploads meanwhile', async () => {
    const { site, all, lastRun, until } = await siteWith(fileOf(entry('A')))
    await using _site = site
    site.drop('jobs.xml', feedOf(4))
    await site.run('check', join(site.inbox, 'jobs.xml'))
    const lock = acquireLock(join(site.root, 'state', 'campaigns'))
    await site.daemon()

    await site.until('jobs.xml', 'uploaded')
    await until(() => expect(lastRun()).toMatchObject({ state: 'busy' }))
    const refused = await site.run('campaigns', 'apply', '--yes')
    const before = all.length
    lock?.[Symbol.dispose]()

    expect(refused.code).toBe(75)
    expect(before).toBe(0)
    await until(() => expect(all).toHaveLength(1))
  })
})
