import { describe, expect, it } from 'vitest'
import { readDesired } from '../../../src/campaigns/desired.ts'
import { exportCampaigns } from '../../../src/campaigns/export.ts'
import { listCampaigns } from '../../../src/campaigns/service/campaign-listing.ts'
import { forever } from '../../helpers/campaigns/account.ts'
import { entry, fileOf } from '../../helpers/campaigns/file.ts'
import { type Host, installed, opened, type World } from '../../helpers/campaigns/world.ts'

async function exported(world: World, host: Host) {
  const { search } = world.api()
  const listing = await listCampaigns({ search, clock: world.clock }, forever)
  if (listing.kind === 'failure') throw new Error(listing.reason)
  return exportCampaigns(listing.campaigns.values(), host.store.bindings())
}

describe('an export', () => {
  it('of campaigns that we created omits nothing, and its plan has no change and no finding', async () => {
    const pins = 'allowWiden: true\ntargeting: { requisitionIds: [R-1], postalCodes: ["01230"] }'
    const fields = 'endDate: 2027-03-31\nperiod: monthly\ncpc: "0.8"\nstatus: paused'
    const { world, host } = await installed(fileOf(entry('A', fields), entry('NO', pins, '90.55')))

    const { text, count, partial } = await exported(world, host)
    host.file = text

    expect([count, partial]).toEqual([2, []])
    expect((await host.plan()).items).toEqual([])
    expect((await host.plan()).findings).toEqual([])
  })

  it('of campaigns that a person created has their ids, and its plan only binds them', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.book.knobs.echo = (targeting) => targeting
    world.make('Fair', { targeting: { externalCampaignId: 'F-1', jobTitles: ['nurse'] } })
    world.make('Fair', { targeting: { externalCampaignId: 'F-1' } })
    world.make('Blank')

    const { text } = await exported(world, host)
    host.file = text
    const keys = host.entries().map(({ key, campaignId }) => [key, campaignId])
    const { items } = await host.plan()

    expect(keys).toEqual([
      ['F-1', '48001'],
      ['campaign-48002', '48002'],
      ['campaign-48003', '48003'],
    ])
    expect(items.map(({ action, changes }) => [action, changes])).toEqual([
      ...[
        ['bind', []],
        ['bind', []],
        ['bind', []],
      ],
    ])
  })

  it('omits values that the file cannot express, names their campaigns, and can be read', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.make('Weekly', { period: 7 })
    world.make('Free', { budget: 0 })

    const { text, partial } = await exported(world, host)

    expect(partial).toEqual(['48001', '48002'])
    expect(text).not.toMatch(/period: "?7|budget: "?0/)
    expect(readDesired(text).kind).toBe('desired')
  })
})
