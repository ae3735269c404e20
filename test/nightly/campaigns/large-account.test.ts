import { join } from 'node:path'
import { expect, it } from 'vitest'
import { bindingOf } from '../../../src/campaigns/bind.ts'
import { markOf, withMark } from '../../../src/campaigns/mark.ts'
import { sentOf } from '../../../src/campaigns/sent.ts'
import { openCampaignStore } from '../../../src/campaigns/store.ts'
import { CampaignsSite } from '../../helpers/campaigns/campaigns-site.ts'
import { entry, fileOf } from '../../helpers/campaigns/file.ts'

const COUNT = 10_000
/** PRINT_CPU makes a process print its processor time, in ms. */
const PRINT_CPU = `process.on('exit', () => {
  const { user, system } = process.cpuUsage()
  console.error('cpu', Math.round((user + system) / 1000))
})`

it(`a plan of ${COUNT} unchanged campaigns takes less than 2 s of processor time and the fewest reads; a pass writes nothing`, async () => {
  const keys = Array.from({ length: COUNT }, (_, n) => `K-${n}`)
  await using vendor = await CampaignsSite.open(fileOf(...keys.map((key) => entry(key))))
  const { site } = vendor
  await site.run('status')
  const { campaigns } = site.sandbox
  site.sandbox.knobs.pageSize = 1000
  {
    const file = join(site.root, 'state', 'feedsyncd.db')
    using store = openCampaignStore({ file, account: `${site.sandbox.url} 123` })
    store.atomically(() => {
      for (const key of keys) {
        const name = withMark(`Campaign ${key}`, markOf('123', key))
        const sent = sentOf({ name, budget: 100, targeting: { externalCampaignId: key } })
        const { id } = campaigns.create('123', { name, budget: 100 })
        const campaign = { id, accountId: '123', name, other: {} }
        store.save(bindingOf(key, campaign, { sent, shown: null, mark: null, repeatAt: null }))
      }
    })
  }

  site.env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(PRINT_CPU)}` }
  const { code, stdout, stderr } = await site.process('campaigns', 'plan', '--json')
  const [, cpu] = /cpu (\d+)/.exec(stderr) ?? []
  const searches = vendor.calls('campaign-search')
  site.env = {}
  const pass = await site.run('run', '--once')

  console.log(`plan of ${COUNT} campaigns: ${cpu} ms of a processor, ${searches} reads`)
  expect([code, JSON.parse(stdout).items]).toEqual([0, []])
  expect(Number(cpu)).toBeLessThan(2000)
  // Eleven pages that overlap by one campaign, and one further request for each of the three statuses.
  expect(searches).toBe(14)
  expect([pass.code, vendor.writes(), vendor.calls('campaign-get')]).toEqual([0, 0, 0])
})
