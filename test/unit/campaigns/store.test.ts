import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openCampaignStore } from '../../../src/campaigns/store.ts'
import { temporaryFolder } from '../../helpers/history/temporary.ts'
import { campaignRun } from '../../helpers/ops/campaign-run.ts'

it('the last look and the last used file belong to their account, and the next ones replace them', () => {
  const file = join(temporaryFolder(), 'feedsyncd.db')
  using one = openCampaignStore({ file, account: '123' })
  using other = openCampaignStore({ file, account: '124' })
  const run = campaignRun({ state: 'failed', problem: 'no answer' })
  const used = { fileSha256: 'b'.repeat(64), keys: ['north', 'south', 'east'] }

  one.keepRun(campaignRun())
  one.keepRun(run)
  one.keepUsedFile({ fileSha256: 'a'.repeat(64), keys: ['north', 'west'] })
  one.keepUsedFile(used)

  expect([one.lastRun(), one.usedFile()]).toEqual([run, used])
  expect([other.lastRun(), other.usedFile()]).toEqual([null, null])
})
