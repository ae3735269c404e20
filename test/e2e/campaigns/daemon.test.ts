import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { acquireLock } from '../../../src/history/instance-lock.ts'
import { MINUTE } from '../../../src/lib/clock.ts'
import { CampaignsSite } from '../../helpers/campaigns/campaigns-site.ts'
import { entry, fileOf } from '../../helpers/campaigns/reconciling.ts'
import { feedOf } from '../../helpers/site.ts'

const APPLY = { campaigns: { mode: 'apply' } }

const openSite = (file: string, config: object = APPLY, { isApproved = true } = {}) =>
  CampaignsSite.open(file, { ...config }, { isApproved })

describe('run --once', () => {
  it('creates nothing on a new database before a person approved its first plan', async () => {
    await using vendor = await openSite(fileOf(entry('A')), APPLY, { isApproved: false })
    const { site, all } = vendor

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
    await using vendor = await openSite(fileOf(entry('A')))
    const { site } = vendor
    await site.run('run', '--once')
    rmSync(join(site.root, 'campaigns.yaml'))

    const ran = await site.run('run', '--once')
    const check = await site.run('status', '--check')

    expect(ran.code).toBe(3)
    expect(check.stdout).toContain('campaigns.yaml is gone, and 1 campaign goes on as it is')
  })

  it('delivers, and then keeps the campaigns in line with their file', async () => {
    await using vendor = await openSite(fileOf(entry('A')))
    const { site, all } = vendor
    site.drop('jobs.xml', feedOf(4))

    const first = await site.run('run', '--once')
    const second = await site.run('run', '--once')

    expect([first.code, second.code]).toEqual([0, 0])
    expect(all).toMatchObject([{ targeting: { externalCampaignId: 'A' }, budget: 100 }])
    expect(vendor.calls('campaign-create')).toBe(1)
    const routes = site.sandbox.requests().map(({ route }) => route)
    expect(routes.indexOf('campaign-search')).toBeGreaterThan(routes.indexOf('presign'))
  })

  it('only tells what differs in the default mode, in status as well, and writes nothing', async () => {
    await using vendor = await openSite(fileOf(entry('A')), {})
    const { site } = vendor

    const ran = await site.run('run', '--once')
    const status = await site.run('status')
    const json = JSON.parse((await site.run('status', '--json')).stdout)

    expect(ran.code).toBe(0)
    expect(ran.stderr).not.toContain('error')
    expect(status.stdout).toMatch(/^campaigns \(report\) looked at .*: 1 to make \(plan 1\)$/m)
    expect(json.campaigns).toMatchObject({ mode: 'report', state: 'done', pending: 1, planId: 1 })
    expect(vendor.calls('campaign-create')).toBe(0)
  })

  it('a plan keeps its number, for who was told of it, while feeds are uploaded and its changes are the same', async () => {
    await using vendor = await openSite(fileOf(entry('A')), {})
    const { site, all } = vendor
    const looks = []
    for (const title of ['Nurse', 'Driver', 'Cook']) {
      site.drop('jobs.xml', feedOf(4, title))
      await site.run('run', '--once')
      looks.push(JSON.parse((await site.run('status', '--json')).stdout).campaigns.planId)
    }
    const shown = JSON.parse((await site.run('campaigns', 'plan', 'show', '1', '--json')).stdout)
    const applied = await site.run('campaigns', 'apply', '1')

    expect(looks).toEqual([1, 1, 1])
    expect(shown.feed.uploads).toMatchObject([{ feed: 'jobs.xml', version: 3 }])
    expect([applied.code, all.length]).toEqual([0, 1])
  })

  it('ends with 3 and says what needs a person, when a guard holds something', async () => {
    await using vendor = await openSite(fileOf(entry('A').replace('100.00', '9000.00')))
    const { site } = vendor

    const ran = await site.run('run', '--once')
    const status = await site.run('status')

    expect(ran.code).toBe(3)
    expect(status.stdout).toContain('next: campaign A: guards.maxBudget is 5000.00')
  })

  it('uploads whatever the campaigns are up to: a broken file, or a service that has none', async () => {
    await using vendor = await openSite('version: 1\ncampaigns: [')
    const { site } = vendor
    site.drop('one.xml', feedOf(3))

    const broken = await site.run('run', '--once')
    vendor.write(fileOf(entry('A')))
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
    expect(vendor.calls('campaign-create')).toBe(0)
  })

  it('writes nothing and says so when the configuration names another account than the database', async () => {
    await using vendor = await openSite(fileOf(entry('A')))
    const { site } = vendor
    await site.run('run', '--once')
    const config = readFileSync(site.configFile, 'utf8')
    writeFileSync(site.configFile, config.replace('127.0.0.1', 'localhost'))
    vendor.write(fileOf(entry('A').replace('100.00', '90.00'), entry('B')))

    const ran = await site.run('run', '--once')
    const status = await site.run('campaigns', 'status')
    const check = await site.run('status', '--check')

    expect(ran.code).toBe(3)
    expect(ran.stderr).toContain('try: give each account a state.directory of its own')
    expect(status.code).toBe(3)
    expect(check.stdout).toContain('no campaign is written: the database belongs to the account')
    expect([vendor.calls('campaign-create'), vendor.calls('campaign-update')]).toEqual([1, 0])
  })

  it('asks nothing of the service where there is no campaigns file', async () => {
    await using vendor = await openSite('')
    const { site } = vendor
    rmSync(join(site.root, 'campaigns.yaml'))

    const ran = await site.run('run', '--once')

    expect(ran.code).toBe(0)
    expect(vendor.calls('campaign-search')).toBe(0)
  })
})

describe('the daemon', () => {
  it('applies at its start, when the file changes, and looks again after an upload', async () => {
    await using vendor = await openSite(fileOf(entry('A')))
    const { site, all } = vendor
    const daemon = await site.daemon()
    await vendor.until(() => expect(all).toHaveLength(1))

    vendor.write(fileOf(entry('A').replace('100.00', '90.00'), entry('B')))
    await vendor.until(() => expect(all).toMatchObject([{ budget: 90 }, { budget: 100 }]))
    site.drop('jobs.xml', feedOf(4))
    await site.until('jobs.xml', 'uploaded')
    // An upload is looked after a while after the look before.
    vendor.clock.skip(5 * MINUTE)
    await vendor.until(() =>
      expect(vendor.lastRun()).toMatchObject({ cause: 'upload', state: 'done' }),
    )

    daemon.kill('SIGTERM')
    await vendor.until(() => expect(daemon.exitCode).toBe(0))
  })

  it('does within seconds what a person decided in another process', async () => {
    await using vendor = await openSite(fileOf(entry('A')))
    const { site, all } = vendor
    const lost = { at: 'service', kind: 'drop', point: 'headers', how: 'rst' } as const
    site.sandbox.faults.add({ ...lost, route: 'campaign-create', times: 1 })
    await site.daemon()
    await vendor.until(() =>
      expect(vendor.lastRun()).toMatchObject({ waiting: [{ action: 'unknown' }] }),
    )

    vendor.anHourAgo()
    const decided = await site.run('campaigns', 'create', 'A', '--new')

    expect(decided.code).toBe(0)
    await vendor.until(() => expect(all).toHaveLength(1))
    await vendor.until(() => expect(vendor.lastRun()).toMatchObject({ waiting: [] }))
    expect(vendor.calls('campaign-create')).toBe(2)
  })

  it('looks again on SIGHUP', async () => {
    await using vendor = await openSite(fileOf(entry('A')))
    const { site } = vendor
    const daemon = await site.daemon()
    await vendor.until(() => expect(vendor.lastRun()).toMatchObject({ cause: 'start' }))

    daemon.kill('SIGHUP')

    await vendor.until(() => expect(vendor.lastRun()).toMatchObject({ cause: 'reload' }))
  })

  it('reads the uploaded feeds by the rules that a reload brought', async () => {
    const rules = (fields: object) => ({ feeds: [{ match: '*.xml', fields }] })
    const targeting = 'targeting: { stateProvCodes: [MA] }'
    await using vendor = await openSite(fileOf(entry('A', targeting)), rules({}))
    const { site } = vendor
    const job = '<campaignid>A</campaignid><provinz>MA</provinz>'
    site.drop('jobs.xml', feedOf(4).replaceAll('</job>', `${job}</job>`))
    const daemon = await site.daemon()
    await site.until('jobs.xml', 'uploaded')
    vendor.clock.skip(5 * MINUTE)
    await vendor.until(() => expect(vendor.lastRun()).toMatchObject({ cause: 'upload' }))
    const before = vendor.lastRun()

    site.configure(rules({ state: 'provinz' }))
    daemon.kill('SIGHUP')
    await vendor.until(() => expect(vendor.lastRun()).toMatchObject({ cause: 'reload' }))

    expect(before?.waiting).toMatchObject([
      { key: 'A', reason: expect.stringContaining('no posting has state; map it under feeds') },
    ])
    expect(vendor.lastRun()).toMatchObject({ waiting: [], planned: ['create A'] })
  })

  it('waits for another process that writes campaigns, and uploads meanwhile', async () => {
    await using vendor = await openSite(fileOf(entry('A')))
    const { site, all } = vendor
    site.drop('jobs.xml', feedOf(4))
    await site.run('check', join(site.inbox, 'jobs.xml'))
    const lock = acquireLock(join(site.root, 'state', 'campaigns'))
    await site.daemon()

    await site.until('jobs.xml', 'uploaded')
    await vendor.until(() => expect(vendor.lastRun()).toMatchObject({ state: 'busy' }))
    const refused = await site.run('campaigns', 'apply', '--yes')
    const before = all.length
    lock?.[Symbol.dispose]()
    vendor.clock.skip(MINUTE)

    expect(refused.code).toBe(75)
    expect(before).toBe(0)
    await vendor.until(() => expect(all).toHaveLength(1))
  })
})
