import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FaultRule } from '../../../src/sandbox/faults/fault-types.ts'
import { CampaignsSite } from '../../helpers/campaigns/campaigns-site.ts'
import { entry, fileOf } from '../../helpers/campaigns/file.ts'
import { finished, preload } from '../../helpers/site.ts'

const LOST = { at: 'service', kind: 'drop', point: 'headers', how: 'rst' } as const
const DONE = { at: 'service', kind: 'commit-drop', how: 'silence' } as const
const MASSACHUSETTS = entry('A', 'targeting: { stateProvCodes: [MA] }')
const ONTARIO = entry('A', 'targeting: { stateProvCodes: [ON] }')

/** applying returns the command that applies the current plan. */
async function applying({ campaigns }: Pick<CampaignsSite, 'campaigns'>): Promise<string[]> {
  const { digest } = JSON.parse((await campaigns('plan', '--json')).stdout)
  return ['campaigns', 'apply', '--plan', digest]
}

/** killedAt runs a command, kills it when a request of this route arrives, and then plays the fault. */
async function killedAt({ site }: CampaignsSite, words: string[], route: string, fault: FaultRule) {
  site.env = preload('fast-time.ts')
  const child = site.spawn(...words)
  site.env = {}
  const before = site.sandbox.requests().length
  const unwatch = site.sandbox.onChange(() => {
    const [request] = site.sandbox
      .requests()
      .slice(before)
      .filter((one) => one.route === route)
    if (request !== undefined) child.kill('SIGKILL')
  })
  const rule = site.sandbox.faults.add({ ...fault, route, times: 1 } as FaultRule)
  await finished(child)
  unwatch()
  expect(child.signalCode).toBe('SIGKILL')
  rule.remove()
}

async function opened(file: string) {
  const vendor = await CampaignsSite.open(file)
  return { vendor, campaigns: vendor.campaigns.bind(vendor) }
}

it('campaigns apply stops with 75 when its lock is deleted, and the next apply sends the rest', async () => {
  const { vendor, campaigns } = await opened(fileOf(entry('A'), entry('B')))
  await using _ = vendor
  const { site } = vendor
  const gate = site.sandbox.faults.add({
    ...({ at: 'service', kind: 'gate', point: 'answer', route: 'campaign-create' } as const),
  })
  const words = await applying({ campaigns })
  site.env = preload('fast-time.ts')
  const first = site.process(...words)
  site.env = {}
  await gate.held()
  rmSync(join(site.root, 'state/campaigns/daemon.lock'))
  gate.remove()

  const { code, stderr } = await first
  const created = vendor.calls('campaign-create')
  const second = await vendor.apply()

  expect([code, created]).toEqual([75, 1])
  expect(stderr).toContain('the lock of the campaigns was deleted during a write')
  expect(second.code).toBe(0)
  expect(vendor.all.map(({ name }) => name?.slice(0, 10))).toEqual(['Campaign A', 'Campaign B'])
})

describe('after campaigns apply was killed', () => {
  it('before its first write, the next apply creates the campaign once', async () => {
    const { vendor, campaigns } = await opened(fileOf(entry('A')))
    await using _ = vendor

    await killedAt(vendor, await applying({ campaigns }), 'campaign-search', LOST)
    const again = await vendor.apply()

    expect(again.code).toBe(0)
    expect([vendor.calls('campaign-create'), vendor.all.length]).toEqual([1, 1])
  })

  it('before a create arrived, its entry waits, also after forget, and the other entry is created', async () => {
    const { vendor, campaigns } = await opened(fileOf(entry('A'), entry('B')))
    await using _ = vendor

    await killedAt(vendor, await applying({ campaigns }), 'campaign-create', LOST)
    const held = await vendor.apply()
    const plan = await campaigns('plan')
    const forgotten = await campaigns('forget', 'A', '--yes')
    const last = await vendor.apply()

    expect([held.code, plan.code, forgotten.code, last.code]).toEqual([3, 3, 0, 3])
    expect(plan.stdout).toMatch(/feedsyncd sent this campaign at \S+ and does not know/)
    expect(vendor.all.map(({ name }) => name?.slice(0, 10))).toEqual(['Campaign B'])
  })

  it('between a create and its answer, the next apply finds the campaign by its mark and creates no second one', async () => {
    const { vendor, campaigns } = await opened(fileOf(entry('A')))
    await using _ = vendor

    await killedAt(vendor, await applying({ campaigns }), 'campaign-create', DONE)
    const found = await campaigns('plan', '--json')
    const again = await vendor.apply()
    const after = await campaigns('plan')

    expect(JSON.parse(found.stdout).items).toMatchObject([
      { key: 'A', campaignId: '48001', action: 'bind', changes: [] },
    ])
    expect([again.code, after.code]).toEqual([0, 0])
    expect([vendor.calls('campaign-create'), vendor.all.length]).toEqual([1, 1])
  })

  it('between an update and its answer, the next apply has nothing to send, and the history names the end of the process', async () => {
    const { vendor, campaigns } = await opened(fileOf(entry('A')))
    await using _ = vendor
    await vendor.apply()
    vendor.write(fileOf(entry('A', 'budget: "90.00"')))

    await killedAt(vendor, await applying({ campaigns }), 'campaign-update', DONE)
    const again = await vendor.apply()
    const history = JSON.parse((await campaigns('history', 'A', '--json')).stdout)

    expect([again.code, vendor.calls('campaign-update')]).toEqual([0, 1])
    expect(vendor.all).toMatchObject([{ budget: 90 }])
    expect(JSON.stringify(history)).toContain('the process ended while it sent the request')
  })
})

it.each([
  ['before its targeting arrived', LOST, ['MA']],
  ['after its targeting was carried out', DONE, ['ON']],
] as const)(
  'a daemon that was killed %s sends the targeting again, and its entry is pending',
  async (_when, fault, states) => {
    const { vendor } = await opened(fileOf(MASSACHUSETTS))
    await using _ = vendor
    await vendor.apply()
    vendor.write(fileOf(ONTARIO))

    await killedAt(vendor, ['run', '--once'], 'campaign-update', fault)
    const killed = vendor.all.map(({ targeting }) => targeting?.stateProvCodes)
    const again = await vendor.site.run('run', '--once')

    expect([killed, again.code]).toEqual([[states], 0])
    expect(vendor.all).toMatchObject([{ targeting: { stateProvCodes: ['ON'] } }])
    // The service does not show targeting, and for an hour a late write can still replace it.
    const { entries } = JSON.parse((await vendor.campaigns('plan', '--json')).stdout)
    expect(entries).toMatchObject([{ state: 'pending' }])
  },
)
