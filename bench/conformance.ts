// Counts the wrong verdicts of the check: on the W3C suite, on the same documents in pieces, and on damaged feeds with
// two other parsers as second opinions. The tests require zero; this benchmark can check more documents.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { Folder } from '../test/helpers/feeds.ts'
import { damaged, SOUND } from '../test/helpers/xml/damage.ts'
import { unlikeSaxes } from '../test/helpers/xml/saxes-opinion.ts'
import { verdictOf } from '../test/helpers/xml/verdicts.ts'
import { W3cSuite } from '../test/helpers/xml/w3c-verdicts.ts'
import { HAS_XMLLINT, unlikeXmllint } from '../test/helpers/xml/xmllint.ts'
import { type Bench, type Benchmark, temporaryFolder } from './bench.ts'
import { type Figure, figure } from './figures.ts'
import { SHAPES, type ShapeName, writeFeed } from './generator.ts'

/** BATCH is the number of documents that are damaged and checked together. */
const BATCH = 300
/** GENERATED_BYTES is the size of a generated feed. Longer feeds of the folder than LONGEST_BYTES are not damaged. */
const GENERATED_BYTES = 3_000
const LONGEST_BYTES = 16_384
const NONE = { of: 'value', atMost: 0 } as const

export const conformance: Benchmark = {
  name: 'conformance',
  title: 'Verdicts of the check',
  run: async (bench) => [...ofSuite(bench), ...ofDamage(bench)],
}

function ofSuite(bench: Bench): Figure[] {
  bench.progress('the W3C suite')
  const suite = new W3cSuite()
  const passed = suite.passedThoughWrong()
  const refused = suite.refusedThoughRight()
  const wrong = suite.all.filter(({ type }) => type === 'not-wf').length
  return [
    figure(
      { what: 'W3C suite: not well-formed, and accepted', unit: '' },
      [passed.unexplained.length],
      {
        target: NONE,
        note: `of ${wrong}; ${passed.explained.length} more have their fault in an external entity, which is never read`,
      },
    ),
    figure(
      { what: 'W3C suite: well-formed, and refused', unit: '' },
      [refused.unexplained.length],
      {
        target: NONE,
        note: `of ${suite.rightWithoutDtd.length} without DTD; ${refused.explained.length} more are wrong by namespaces`,
      },
    ),
    figure(
      { what: 'W3C suite: another verdict in pieces', unit: '' },
      [suite.unlikeInPieces().length],
      {
        target: NONE,
        note: `of ${suite.all.length}, in pieces of 1, 2, 3, 5 and 7 bytes`,
      },
    ),
  ]
}

function ofDamage(bench: Bench): Figure[] {
  const count = bench.documents
  const seed = Date.now() % 2 ** 31
  const sources = [...SOUND, ...generated(bench), ...given(bench.feeds)]
  let saxes = 0
  let xmllint = 0
  for (let n = 0; n < count; n += BATCH) {
    if (n % (BATCH * 10) === 0) bench.progress(`damaged feeds: ${n} of ${count}, seed ${seed}`)
    using folder = new Folder()
    const documents = fc.sample(damaged(sources), {
      numRuns: Math.min(BATCH, count - n),
      seed: seed + n,
    })
    const unlike = unlikeSaxes(documents)
    for (const one of unlike) bench.progress(`judged otherwise by saxes: ${JSON.stringify(one)}`)
    saxes += unlike.length
    if (!HAS_XMLLINT) continue
    const wrong = unlikeXmllint(documents, folder)
    for (const one of wrong)
      bench.progress(`judged otherwise by xmllint: ${one.toString('latin1')}`)
    xmllint += wrong.length
  }
  const note = `of ${count.toLocaleString('en-US')} made of ${sources.length}, seed ${seed}`
  const judged = [
    figure({ what: 'damaged feeds: judged otherwise by saxes', unit: '' }, [saxes], {
      target: NONE,
      note,
    }),
  ]
  if (HAS_XMLLINT) {
    judged.push(
      figure({ what: 'damaged feeds: judged otherwise by xmllint', unit: '' }, [xmllint], {
        target: NONE,
        note,
      }),
    )
  }
  return judged
}

/** generated returns a short feed of each shape, with a few postings. */
function generated(bench: Bench): Buffer[] {
  using folder = temporaryFolder(bench)
  const path = join(folder.path, 'feed.xml')
  return (Object.keys(SHAPES) as ShapeName[]).map((shape) => {
    writeFeed(path, shape, { bytes: GENERATED_BYTES })
    return readFileSync(path)
  })
}

/** given returns the well-formed feeds of a folder that are short enough to check thousands of them. */
function given(folder: string | null): Buffer[] {
  if (folder === null) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.xml'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
    .filter((bytes) => bytes.length <= LONGEST_BYTES && verdictOf(bytes) === 'complete')
}
