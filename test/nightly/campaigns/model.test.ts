import { describe, expect, it } from 'vitest'
import { explore } from '../../helpers/campaigns/model.ts'

/** FEEDSYNCD_MODEL=10000 runs so many, from FEEDSYNCD_MODEL_SEED or a new seed. */
const asked = Number(process.env.FEEDSYNCD_MODEL ?? 0)
const RUNS = asked || 40
const SEED = Number(
  process.env.FEEDSYNCD_MODEL_SEED ?? (asked ? Date.now() % 1_000_000_000 : 20_261_122),
)

describe('the promises of the reconciler', () => {
  it(`hold in ${RUNS} random histories`, { timeout: 120_000 + RUNS * 2_000 }, async () => {
    const figures = await explore(RUNS, SEED)

    console.log(`model: seed ${SEED}, ${JSON.stringify(figures)}`)
    expect(figures.sequences).toBeGreaterThanOrEqual(RUNS)
  })
})
