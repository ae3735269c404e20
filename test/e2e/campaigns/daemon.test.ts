import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { acquireLock } from '../../../src/history/instance-lock.ts'
import { HOUR, MINUTE } from '../../../src/lib/clock.ts'
import { CampaignsSite } from '../../helpers/campaigns/campaigns-site.ts'
import { entry, fileOf } from '../../helpers/campaigns/file.ts'
import { feedOf } from '../../helpers/site.ts'

const MASSACHUSETTS = entry('A', 'targeting: { stateProvCodes: [MA] }')
const MORE = entry('A', 'targeting: { stateProvCodes: [MA, ON] }')

/** applied returns a site with one campaign that a person applied. */
async function applied(config: Record<string, unknown> = {}): Promise<CampaignsSite> {
  const vendor = await CampaignsSite.open(fileOf(MASSACHUSETTS), config)
  const done = await vendor.apply()
  expect(done.code).toBe(0)
  return vendor
}

describe('run --once', () => {
  it('creates nothing and ends with 3, and status names the apply that a person has to confirm', async () => {
    await using vendor = await CampaignsSite.open(fileOf(MASSACHUSETTS))
    const { site, all } = vendor

    const ran = await site.run('run', '--once')
    const status = await site.run('status')

    expect([ran.code, all.length]).toEqual([3, 0])
    expect(status.stdout).toMatch(/campaigns apply A/)
  })

  it('uploads a feed, and sends once the targeting that changed in the file, and no other field', async () => {
    await using vendor = await applied()
    const { site, all } = vendor
    site.drop('jobs.xml', feedOf(4))
    vendor.write(fileOf(MORE))

    const ran = await site.run('run', '--once')
    const again = await site.run('run', '--once')

    expect([ran.code, again.code]).toEqual([0, 0])
    expect(site.uploads().map(({ state }) => state)).toEqual(['uploaded'])
    expect(all).toMatchObject([{ targeting: { stateProvCodes: ['MA', 'ON'] }, budget: 100 }])
    expect(vendor.calls('campaign-update')).toBe(1)
  })

  it('only reports differences in mode report, and ends with 3', async () => {
    await using vendor = await applied({ campaigns: { mode: 'report' } })
    const { site } = vendor
    vendor.write(fileOf(MORE))

    const ran = await site.run('run', '--once')
    const status = await site.run('campaigns', 'status', '--json')

    expect(ran.code).toBe(3)
    expect(JSON.parse(status.stdout).entries).toMatchObject([{ key: 'A', state: 'differs' }])
    expect(vendor.calls('campaign-update')).toBe(0)
  })

  it('reports that the campaigns file is gone while its campaigns run', async () => {
    await using vendor = await applied()
    const { site } = vendor
    rmSync(join(site.root, 'campaigns.yaml'))

    const ran = await site.run('run', '--once')
    const check = await site.run('status', '--check')

    expect(ran.code).toBe(3)
    expect(check.stdout).toContain('campaigns.yaml is gone, and 1 campaign stays as it is')
  })

  it('uploads feeds even if the campaigns file is broken or the campaign service fails, and ends with 3 or 75', async () => {
    await using vendor = await CampaignsSite.open('version: 1\ncampaigns: [')
    const { site } = vendor
    site.drop('one.xml', feedOf(3))

    const broken = await site.run('run', '--once')
    vendor.write(fileOf(entry('A')))
    const failing = {
      at: 'service',
      kind: 'answer',
      status: 500,
      route: 'campaign-search',
    } as const
    site.sandbox.faults.add(failing)
    site.drop('two.xml', feedOf(4))
    const down = await site.run('run', '--once')

    expect(site.uploads().map(({ state }) => state)).toEqual(['uploaded', 'uploaded'])
    expect([broken.code, down.code]).toEqual([3, 75])
  })

  it('makes no campaign call without a campaigns file', async () => {
    await using vendor = await CampaignsSite.open(null)

    const ran = await vendor.site.run('run', '--once')

    expect(ran.code).toBe(0)
    expect(vendor.calls('campaign-search')).toBe(0)
  })
})

describe('the daemon', () => {
  it('sends new targeting soon after the file changed, but nothing if the budget differs, too', async () => {
    await using vendor = await applied()
    const { site, all } = vendor
    const daemon = await site.daemon()
    await vendor.until(() => expect(vendor.lastRun()).toMatchObject({ cause: 'start' }))

    vendor.write(fileOf(MORE))
    await vendor.until(() =>
      expect(all).toMatchObject([{ targeting: { stateProvCodes: ['MA', 'ON'] } }]),
    )
    vendor.write(fileOf(entry('A', 'budget: "50.00"\ntargeting: { stateProvCodes: [MA, ON, RI] }')))
    await vendor.until(() =>
      expect(vendor.lastRun()).toMatchObject({ cause: 'file', entries: [{ state: 'differs' }] }),
    )

    expect(all).toMatchObject([{ targeting: { stateProvCodes: ['MA', 'ON'] }, budget: 100 }])
    daemon.kill('SIGTERM')
    await vendor.until(() => expect(daemon.exitCode).toBe(0))
  })

  it('sends no targeting during a pause, and sends it soon after resume', async () => {
    await using vendor = await applied()
    const { site, all } = vendor
    await site.run('pause')
    const daemon = await site.daemon()
    await vendor.until(() => expect(vendor.lastRun()).toMatchObject({ cause: 'start' }))

    vendor.write(fileOf(MORE))
    await vendor.until(() => expect(vendor.lastRun()).toMatchObject({ cause: 'file' }))
    const meanwhile = vendor.calls('campaign-update')
    await site.run('resume')
    await vendor.until(() =>
      expect(all).toMatchObject([{ targeting: { stateProvCodes: ['MA', 'ON'] } }]),
    )

    expect(meanwhile).toBe(0)
    daemon.kill('SIGTERM')
    await vendor.until(() => expect(daemon.exitCode).toBe(0))
  })

  it('sends targeting again if the answer was lost, at once and once more after an hour, and is then in line', async () => {
    await using vendor = await applied()
    const { site } = vendor
    await site.daemon()
    await vendor.until(() => expect(vendor.lastRun()).toMatchObject({ cause: 'start' }))
    const lost = { at: 'service', kind: 'drop', point: 'headers', how: 'rst' } as const
    site.sandbox.faults.add({ ...lost, route: 'campaign-update', times: 1 })

    vendor.write(fileOf(MORE))
    await vendor.until(() => expect(vendor.calls('campaign-update')).toBe(2))
    await vendor.until(() => expect(vendor.lastRun()).toMatchObject({ cause: 'file' }))
    vendor.clock.skip(HOUR + MINUTE)
    // The test skips time only between looks: a running request would time out.
    await vendor.until(() => expect(vendor.lastRun()).toMatchObject({ cause: 'interval' }))
    const repeated = vendor.lastRun()
    vendor.clock.skip(2 * HOUR)
    await vendor.until(() => expect(vendor.lastRun()?.at).not.toBe(repeated?.at))

    expect(vendor.lastRun()).toMatchObject({ cause: 'interval', entries: [{ state: 'in line' }] })
    expect(vendor.calls('campaign-update')).toBe(3)
  })

  it('looks again after an upload, and uses changed feed rules after a restart', async () => {
    const rules = (fields: object) => ({ feeds: [{ match: '*.xml', fields }] })
    await using vendor = await CampaignsSite.open(fileOf(MASSACHUSETTS), rules({}))
    const { site } = vendor
    const job = '<campaignid>A</campaignid><provinz>MA</provinz>'
    site.drop('jobs.xml', feedOf(4).replaceAll('</job>', `${job}</job>`))
    const daemon = await site.daemon()
    await site.until('jobs.xml', 'uploaded')
    vendor.clock.skip(5 * MINUTE)
    await vendor.until(() => expect(vendor.lastRun()).toMatchObject({ cause: 'upload' }))

    await daemon.stop()
    site.configure(rules({ state: 'provinz' }))
    await site.daemon()
    await vendor.until(() => expect(vendor.lastRun()).toMatchObject({ cause: 'start' }))
    const plan = JSON.parse((await vendor.campaigns('plan', '--json')).stdout)

    expect(plan.items).toMatchObject([{ key: 'A', postings: { before: 0, after: 2 } }])
  })

  it('sends targeting only after another process has written campaigns; meanwhile it uploads feeds, and apply ends with 75', async () => {
    await using vendor = await applied()
    const { site, all } = vendor
    site.drop('jobs.xml', feedOf(4))
    const lock = acquireLock(join(site.root, 'state', 'campaigns'))
    vendor.write(fileOf(MORE))
    await site.daemon()

    await site.until('jobs.xml', 'uploaded')
    const refused = await vendor.apply()
    const before = vendor.calls('campaign-update')
    lock?.[Symbol.dispose]()
    vendor.clock.skip(MINUTE)

    expect([refused.code, before]).toEqual([75, 0])
    await vendor.until(() =>
      expect(all).toMatchObject([{ targeting: { stateProvCodes: ['MA', 'ON'] } }]),
    )
  })
})
