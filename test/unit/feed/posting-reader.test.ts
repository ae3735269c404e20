// The reader finds the same postings whether or not the checker skips the elements that the reader does not want.
// FEEDSYNCD_MUTATIONS sets the number of damaged documents, and FEEDSYNCD_SEED the seed.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FIELDS } from '../../../src/feed/field-paths.ts'
import { PostingReader, type Wanted } from '../../../src/feed/posting-reader.ts'
import type { PostingValues } from '../../../src/feed/posting-values.ts'
import { DocumentChecker } from '../../../src/xml/document-checker.ts'
import type { XmlHandler } from '../../../src/xml/handler.ts'
import { LIMITS } from '../../../src/xml/limits.ts'
import { damaged, SOUND } from '../../helpers/xml/damage.ts'
import { everything } from '../../helpers/xml/handlers.ts'

const DOCUMENTS = Number(process.env.FEEDSYNCD_MUTATIONS ?? 150)
const SEED = Number(process.env.FEEDSYNCD_SEED ?? 20261120)
const READ: Wanted = {
  fields: ['id', 'externalCampaignId', 'title', 'description', 'city'],
  hasParts: false,
}

const feeds = [
  `<jobs>${[1, 2, 3]
    .map(
      (n) => `<job xmlns:g="u:g" at='${n}'>
  <id>R${n}</id><campaignid><![CDATA[C${n}]]></campaignid><skill level="5"><id>x</id></skill><none/>
  <location country="US"><city>K&#xF6;ln</city> here </location><g:title>Nurse &amp; <b>Co</b></g:title>
  <description>A <p>night</p> &lt;shift&gt;<![CDATA[ ]] ]]></description><skill level="5"/></job>`,
    )
    .join('\n')}</jobs>`,
  `<rss><channel><title>t</title>${'<item><guid>1</guid><link/><other><title>no</title></other></item>'.repeat(3)}</channel></rss>`,
].map((text) => Buffer.from(text))

/** receivingEverything receives all events and passes on only the events that the reader wants. */
function receivingEverything(reader: PostingReader): XmlHandler {
  let ignoredDepth = 0
  return {
    ...everything,
    open(name, attributes, from) {
      if (ignoredDepth > 0 || !reader.open(name, attributes, from)) ignoredDepth++
      return true
    },
    text: (text) => (ignoredDepth > 0 ? undefined : reader.text(text)),
    close(data, to) {
      if (ignoredDepth > 0) ignoredDepth--
      else reader.close(data, to)
    },
    moving: (data, to) => reader.moving(data, to),
  }
}

const named = (values: PostingValues) =>
  Object.fromEntries(
    FIELDS.map((field, i) => [field, values.text(i)]).filter(([, value]) => value !== ''),
  )

function read(document: Buffer, pieceSize: number, to: (reader: PostingReader) => XmlHandler) {
  const postings: { values: Record<string, string>; content: number }[] = []
  const reader = new PostingReader(
    { records: null, fields: {} },
    (values, content) => postings.push({ values: named(values), content }),
    { wanted: () => READ },
  )
  const check = new DocumentChecker(to(reader), LIMITS)
  for (let at = 0; at < document.length; at += pieceSize) {
    check.write(document.subarray(at, at + pieceSize))
  }
  const ending = check.end()
  return { ending, postings, root: reader.root, records: reader.records, chosen: reader.choose() }
}

describe('the reader of postings', () => {
  it('finds the wanted values of each posting of a well-formed feed', () => {
    const [feed = Buffer.alloc(0)] = feeds
    const { postings } = read(feed, 65_536, (reader) => reader)

    expect(postings.map(({ values }) => values)).toEqual(
      [1, 2, 3].map((n) => ({
        ...{ id: `R${n}`, externalCampaignId: `C${n}`, city: 'Köln', title: 'Nurse &' },
        description: 'A  night  <shift> ]]',
      })),
    )
  })

  it('finds the id of each posting in a feed with thousands of element names', () => {
    const ids = Array.from({ length: 3_000 }, (_, n) => `R${n}`)
    const jobs = ids.map((id, n) => `<job><x${n}>no</x${n}><y${n}/><id>${id}</id></job>`)
    const document = Buffer.from(`<jobs>${jobs.join('')}</jobs>`)

    const { postings } = read(document, 65_536, (reader) => reader)

    expect(postings.map(({ values }) => values)).toEqual(ids.map((id) => ({ id })))
  })

  it('reads the same postings from all events and from the events that it wants, in damaged documents', () => {
    fc.assert(
      fc.property(
        damaged([...SOUND, ...feeds]),
        fc.constantFrom(1, 2, 7, 40, 65_536),
        (document, pieceSize) => {
          const fromAll = read(document, pieceSize, receivingEverything)

          expect(read(document, pieceSize, (reader) => reader)).toEqual(fromAll)
        },
      ),
      { numRuns: DOCUMENTS, seed: SEED },
    )
  })
})
