// Random damage to feeds, judged by libxml2 as well (Debian's libxml2-utils; without it, only by what
// must hold of any document). FEEDSYNCD_MUTATIONS sets how many documents (default 100,000), FEEDSYNCD_SEED the
// first seed: a failure prints its seed and the smallest document that shows it.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Folder } from '../../helpers/feeds.ts'
import { damaged, SOUND } from '../../helpers/xml/damage.ts'
import { verdictOf } from '../../helpers/xml/verdicts.ts'
import { HAS_XMLLINT, unlikeXmllint } from '../../helpers/xml/xmllint.ts'

const DOCUMENTS = Number(process.env.FEEDSYNCD_MUTATIONS ?? 100_000)
const SEED = Number(process.env.FEEDSYNCD_SEED ?? 20261120)
/** Files of one call of xmllint. */
const BATCH = 300

describe('a damaged feed', () => {
  it.runIf(HAS_XMLLINT)('is ok for us exactly when it is well-formed for libxml2', () => {
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

  it('gets one verdict, however its bytes arrive', () => {
    fc.assert(
      fc.property(damaged(SOUND), fc.constantFrom(1, 2, 3, 7), (document, pieces) => {
        expect(verdictOf(document, pieces)).toBe(verdictOf(document))
      }),
      { numRuns: Math.min(DOCUMENTS, 20_000), seed: SEED },
    )
  })
})
