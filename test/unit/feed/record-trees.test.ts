// The number of postings is what the generator made, for random trees of groups, envelopes and names.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { feedTrees } from '../../helpers/feed-trees.ts'
import { contentOf } from '../../helpers/feeds.ts'

const RUNS = Number(process.env.FEEDSYNCD_TREES ?? 400)
const SEED = Number(process.env.FEEDSYNCD_SEED ?? 20261128)

it('postings in any groups and envelopes are counted, at the path where they are', async () => {
  await fc.assert(
    fc.asyncProperty(feedTrees, async ({ document, postings, records }) => {
      const content = await contentOf(document)

      expect({ records: content.records, postings: content.postings }).toEqual({
        records,
        postings,
      })
    }),
    { numRuns: RUNS, seed: SEED },
  )
})
