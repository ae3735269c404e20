import { expect, it } from 'vitest'
import { explore } from '../../helpers/campaigns/model.ts'

const SEED = Number(process.env.FEEDSYNCD_SEED ?? 20_261_122)

it('the promises about campaigns hold in 100 random histories', async () => {
  const { sequences } = await explore(100, SEED)

  expect(sequences).toBeGreaterThanOrEqual(100)
})
