// Random feeds, faults and kills, checked against a model. FEEDSYNCD_SOAK sets the number of seeds (default 100; each
// takes a few seconds, four run at a time), FEEDSYNCD_SEED the first seed (default 1). A failure names its seed. The
// same seed gives the same actions, but not at the same millisecond.

import { describe, expect, it } from 'vitest'
import { Play } from './play.ts'
import { problemsOf, trailsOf } from './verdict.ts'

const RUNS = Number(process.env.FEEDSYNCD_SOAK ?? 100)
const FIRST = Number(process.env.FEEDSYNCD_SEED ?? 1)
const SIDE_BY_SIDE = 4

describe('random feeds, faults and kills', () => {
  it(`leave nothing lost, stuck or wrong in ${RUNS} runs`, async () => {
    const queue = Array.from({ length: RUNS }, (_, n) => FIRST + n)
    const wrong: string[] = []
    const work = async () => {
      for (let seed = queue.shift(); seed !== undefined; seed = queue.shift()) {
        await using play = await Play.open(seed)
        const played = await play.play()
        const found = problemsOf(played).map((problem) => `seed ${seed}: ${problem}`)
        wrong.push(...found)
        if (found.length > 0) {
          process.stdout.write(`${[...found, ...played.trace, ...trailsOf(played)].join('\n')}\n`)
        }
        if (seed % 20 === 0) process.stdout.write(`seed ${seed}, ${wrong.length} wrong\n`)
      }
    }
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work))

    expect(wrong).toEqual([])
  })
})
