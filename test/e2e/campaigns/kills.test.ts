import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openCampaignStore } from '../../../src/history/campaign-store.ts'
import { HOUR, systemClock } from '../../../src/lib/clock.ts'
import type { FaultRule } from '../../../src/sandbox/fault-types.ts'
import { CampaignsSite } from '../../helpers/campaigns/campaigns-site.ts'
import { entry, fileOf } from '../../helpers/campaigns/reconciling.ts'
import { finished, preload, type Site } from '../../helpers/site.ts'

/** Runs `campaigns apply` and kills it when a request of this route arrives; then the fault is played. */
async function killedAt(site: Site, route: string, fault: FaultRule): Promise<void> {
  site.env = preload('fast-time.ts')
  const child = site.spawn('campaigns', 'apply', '--yes')
  site.env = {}
  const where = () => child.kill('SIGKILL')
  const rule = site.sandbox.faults.add({ ...fault, route, where, times: 1 })
  await finished(child)
  expect(child.signalCode).toBe('SIGKILL')
  rule.remove()
}

it('campaigns apply whose lock is deleted sends nothing more that raises spending', async () => {
  await using vendor = await CampaignsSite.open(fileOf(entry('A'), entry('B')))
  const { site } = vendor
  const gate = site.sandbox.faults.add({
    ...({ at: 'service', kind: 'gate', point: 'answer', route: 'campaign-create' } as const),
  })
  site.env = preload('fast-time.ts')
  const first = site.process('campaigns', 'apply', '--yes')
  site.env = {}
  await gate.held()
  rmSync(join(site.root, 'state/campaigns/daemon.lock'))
  gate.remove()

  const { code, stderr } = await first
  const created = vendor.calls('campaign-create')
  const second = await site.run('campaigns', 'apply', '--yes')

  expect([code, created]).toEqual([75, 1])
  expect(stderr).toContain('the lock of the campaigns was deleted while they were written')
  expect(second.code).toBe(0)
  expect(vendor.all.map(({ name }) => name.slice(0, 10))).toEqual(['Campaign A', 'Campaign B'])
})

describe('campaigns apply that is killed', () => {
  it('before anything was sent, creates once the next time', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    const { site, all } = vendor

    await killedAt(site, 'campaign-search', {
      at: 'service',
      kind: 'drop',
      point: 'headers',
      how: 'rst',
    })
    const again = await site.run('campaigns', 'apply', '--yes')

    expect(again).toMatchObject({ code: 0, stdout: 'created A (id 48001)\n' })
    expect([vendor.calls('campaign-create'), all.length]).toEqual([1, 1])
  })

  it('while the create is on its way, holds that entry alone until a person says it was not done', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A'), entry('B')))
    const { site, all } = vendor

    await killedAt(site, 'campaign-create', {
      at: 'service',
      kind: 'drop',
      point: 'headers',
      how: 'rst',
    })
    const held = await site.run('campaigns', 'apply', '--yes')
    const plan = await site.run('campaigns', 'plan')
    vendor.anHourAgo()
    const resolved = await site.run('campaigns', 'resolve', 'A', '--not-created')
    const last = await site.run('campaigns', 'apply', '--yes')

    expect(held).toMatchObject({ code: 3, stdout: 'created B (id 48001)\n' })
    expect(plan.stdout).toMatch(/^\? unknown A {2}whether it was created at \S+ is not known/m)
    expect([resolved.code, last.code]).toEqual([0, 0])
    expect(all.map(({ name }) => name.slice(0, 10))).toEqual(['Campaign B', 'Campaign A'])
  })

  it('between the create and its answer, finds the campaign by its token and makes no other', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    const { site, all } = vendor

    await killedAt(site, 'campaign-create', { at: 'service', kind: 'commit-drop', how: 'silence' })
    const again = await site.run('campaigns', 'apply', '--yes')
    const after = await site.run('campaigns', 'plan')

    expect(again.stdout).toBe('adopted A (id 48001): found by its token\n')
    expect(after.code).toBe(0)
    expect([vendor.calls('campaign-create'), all.length]).toEqual([1, 1])
  })

  it('between an update and its answer, sends the same again and is done', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    const { site, all } = vendor
    await site.run('campaigns', 'apply', '--yes')
    const narrow = 'targeting: { stateProvCodes: [MA] }'
    writeFileSync(join(site.root, 'campaigns.yaml'), fileOf(entry('A', narrow)))

    await killedAt(site, 'campaign-update', { at: 'service', kind: 'commit-drop', how: 'silence' })
    const again = await site.run('campaigns', 'apply', '--yes')

    expect(again.stdout).toBe('updated A (id 48001)\n')
    expect(all).toMatchObject([{ targeting: { stateProvCodes: ['MA'] } }])
    expect((await site.run('campaigns', 'plan')).code).toBe(0)
  })
})

describe('a campaign that the service lost', () => {
  it('is made again at a person’s word, and only after it was missing for an hour', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    const { site, all } = vendor
    await site.run('campaigns', 'apply', '--yes')
    const [lost] = all.splice(0)

    const early = await site.run('campaigns', 'create', 'A', '--new')
    {
      using store = openCampaignStore({ file: join(site.root, 'state', 'feedsyncd.db') })
      const record = store.record('A')
      const missingSince = systemClock.now() - HOUR
      if (record !== null) store.save({ ...record, missingSince })
    }
    const held = await site.run('campaigns', 'apply', '--yes')
    const late = await site.run('campaigns', 'create', 'A', '--new')
    const made = await site.run('campaigns', 'apply', '--yes')

    expect(early).toMatchObject({ code: 75 })
    expect(early.stderr).toContain('may only be hard to find')
    expect(held).toMatchObject({ code: 3, stdout: 'nothing to do\n' })
    expect(late).toMatchObject({ code: 0 })
    expect(made).toMatchObject({ code: 0, stdout: 'created A (id 48002)\n' })
    expect(all).toHaveLength(1)
    // Should the lost one come back, it is not taken for the new one.
    expect(all[0]?.name).not.toBe(lost?.name)
  })
})
