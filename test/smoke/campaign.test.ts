import { expect, it } from 'vitest'
import { CampaignsSite } from '../helpers/campaigns/campaigns-site.ts'

const FILE = `version: 1
campaigns:
  - externalCampaignId: NUR-Q1
    name: Nurses Q1
    budget: "1500.00"
    period: monthly
    targeting: { stateProvCodes: [MA] }
`

const json = (text: string) => JSON.parse(text)

it('apply needs a plan and a known key, creates a campaign of the file once; then plan is empty, and status and history show it', async () => {
  await using vendor = await CampaignsSite.open(FILE)

  const planned = await vendor.campaigns('plan')
  const refused = await vendor.campaigns('apply')
  const misnamed = await vendor.campaigns('apply', 'NUR-Q2', '--lower')
  const [, digest = ''] = /apply --plan ([0-9a-f]{8}) --config/.exec(planned.stdout) ?? []
  const applied = await vendor.campaigns('apply', '--plan', digest)
  const again = await vendor.campaigns('plan', '--json')
  const status = await vendor.campaigns('status', '--json')
  const history = await vendor.campaigns('history', 'NUR-Q1')

  expect(planned.code).toBe(2)
  expect(planned.stdout).toContain(`+ NUR-Q1: create
    name: Nurses Q1
    budget: 1500.00 a month
    period: monthly
    targeting.externalCampaignId: NUR-Q1
    targeting.stateProvCodes: MA
`)
  expect(refused).toMatchObject({ code: 64, stdout: '' })
  expect(misnamed).toMatchObject({ code: 64, stdout: '' })
  expect(misnamed.stderr).toContain('no entry is named "NUR-Q2"; the nearest is "NUR-Q1"')
  expect(applied).toMatchObject({ code: 0, stdout: 'created NUR-Q1 (campaign 48001)\n' })
  expect(vendor.all).toMatchObject([
    {
      name: expect.stringMatching(/^Nurses Q1 \[#.{10}\]$/),
      budget: 1500,
      targeting: { externalCampaignId: 'NUR-Q1', stateProvCodes: ['MA'] },
    },
  ])
  expect(vendor.writes()).toBe(1)
  expect(again.code).toBe(0)
  expect(json(again.stdout)).toMatchObject({ schemaVersion: 1, items: [] })
  expect(json(status.stdout).entries).toMatchObject([
    { key: 'NUR-Q1', campaignId: '48001', state: 'in line', status: 'running' },
  ])
  expect(history.stdout).toMatch(/NUR-Q1 +48001 +created +\S+: campaigns apply --plan \w{8} /)
})
