// Compares the checker with saxes on damaged documents. FEEDSYNCD_MUTATIONS sets the number of documents, and
// FEEDSYNCD_SEED the first seed. Real feeds are damaged too if they are present.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { damaged, SOUND } from '../../helpers/xml/damage.ts'
import { unlikeSaxes } from '../../helpers/xml/saxes-opinion.ts'
import { suiteTests } from '../../helpers/xml/w3c-suite.ts'

const DOCUMENTS = Number(process.env.FEEDSYNCD_MUTATIONS ?? 100_000)
const SEED = Number(process.env.FEEDSYNCD_SEED ?? 20261120)
const FEEDS =
  process.env.FEEDSYNCD_FEEDS ??
  join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'data', 'feeds')
/** LARGEST, in bytes: random damage to a larger feed would rarely hit an interesting place. */
const LARGEST = 20_000

const real = existsSync(FEEDS)
  ? readdirSync(FEEDS, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.xml'))
      .map((file) => readFileSync(join(FEEDS, file)))
      .filter((bytes) => bytes.length <= LARGEST)
  : []

describe('the checker and saxes', () => {
  it('agree on damaged feeds', () => {
    for (let n = 0; n < DOCUMENTS; n += 1_000) {
      const documents = fc.sample(damaged([...SOUND, ...real]), {
        numRuns: Math.min(1_000, DOCUMENTS - n),
        seed: SEED + n,
      })

      expect(unlikeSaxes(documents), `seed ${SEED + n}`).toEqual([])
    }
  })

  it('both refuse a document with two adjacent faults, of which each can name another', () => {
    const documents = ['<!--<!--\ufffe', '<s/\f'].map((text) => Buffer.from(text))

    expect(unlikeSaxes(documents)).toEqual([])
  })

  it('agree on the W3C suite', () => {
    expect(unlikeSaxes(suiteTests().map(({ bytes }) => bytes))).toEqual([])
  })
})
