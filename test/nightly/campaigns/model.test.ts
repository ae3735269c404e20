import { describe, expect, it } from 'vitest'
import { explore } from '../../helpers/campaigns/model.ts'

const RUNS = Number(process.env.FEEDSYNCD_MODEL ?? 10_000)
const SEED = Number(process.env.FEEDSYNCD_SEED ?? 20_261_122)

describe('the promises about campaigns', () => {
  it(`hold in ${RUNS} random histories`, async () => {
    const figures = await explore(RUNS, SEED)

    console.log(`model: seed ${SEED}, ${JSON.stringify(figures)}`)
    expect(figures.sequences).toBeGreaterThanOrEqual(RUNS)
  })
})
