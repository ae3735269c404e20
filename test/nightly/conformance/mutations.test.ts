// Feeds with random damage, with libxml2 as a second opinion if Debian's libxml2-utils is installed. Without it, only
// the rules for every document are tested. FEEDSYNCD_MUTATIONS sets the number of documents (default 100,000), and
// FEEDSYNCD_SEED the first seed. A failure prints its seed and the smallest document that fails.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Folder } from '../../helpers/feeds.ts'
import { damaged, SOUND } from '../../helpers/xml/damage.ts'
import { verdictOf } from '../../helpers/xml/verdicts.ts'
import { HAS_XMLLINT, unlikeXmllint } from '../../helpers/xml/xmllint.ts'

const DOCUMENTS = Number(process.env.FEEDSYNCD_MUTATIONS ?? 100_000)
const SEED = Number(process.env.FEEDSYNCD_SEED ?? 20261120)
/** BATCH is the number of files for each call of xmllint. */
const BATCH = 300

describe('a damaged feed', () => {
  it.runIf(HAS_XMLLINT)('is ok exactly if libxml2 finds it well-formed', () => {
    for (let n = 0; n < DOCUMENTS; n += BATCH) {
      using folder = new Folder()
      const documents = fc.sample(damaged(SOUND), {
        numRuns: Math.min(BATCH, DOCUMENTS - n),
        seed: SEED + n,
      })
      const different = unlikeXmllint(documents, folder)

      expect(
        different.map((document) => document.toString('latin1')),
        `seed ${SEED + n}`,
      ).toEqual([])
    }
  })

  it('gets the same verdict with pieces of any size', () => {
    fc.assert(
      fc.property(damaged(SOUND), fc.constantFrom(1, 2, 3, 7), (document, pieces) => {
        expect(verdictOf(document, pieces)).toBe(verdictOf(document))
      }),
      { numRuns: Math.min(DOCUMENTS, 20_000), seed: SEED },
    )
  })
})
