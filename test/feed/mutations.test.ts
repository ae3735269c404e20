// Random damage to feeds, judged by libxml2 as well (Debian's libxml2-utils; without it, only by what
// must hold of any document). Some hundred documents by default; FEEDSYNCD_MUTATIONS=1000000 for more, and
// FEEDSYNCD_SEED to repeat a run: a failure prints its seed and the smallest document that shows it.

import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Folder } from './helpers/feeds.ts'
import { verdictOf } from './helpers/verdicts.ts'

const DOCUMENTS = Number(process.env.FEEDSYNCD_MUTATIONS ?? 600)
const SEED = Number(process.env.FEEDSYNCD_SEED ?? 20261120)
/** Files of one call of xmllint. */
const BATCH = 300
const HAS_XMLLINT = spawnSync('xmllint', ['--version']).status === 0

const SOUND = [
  `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<source xmlns:x="urn:x" xmlns="urn:d"><publisher>Café &amp; Co &#x1F600; 😀</publisher>
  <job id="a&lt;b" x:id='é'><title><![CDATA[Nurse ]] > & <b>]]></title><x:city/></job><!-- c - c -->
  <?render fast?><job><title>職 &#38; ]] ></title></job></source>`,
  `<jobs><job a="1" b='2'>x</job><job/><job>&quot;&apos;&gt;</job></jobs>`,
  `<!DOCTYPE rss SYSTEM "rss.dtd"><rss version="2.0"><channel><item>a</item></channel></rss>`,
].map((text) => Buffer.from(text))

/** What breaks documents in practice, and what parsers are known to get wrong. */
const SPLINTERS = [
  ...[
    '&',
    '<',
    '>',
    '"',
    "'",
    '/',
    '?',
    '!',
    '-',
    '--',
    ']]>',
    '<!--',
    '-->',
    '<![CDATA[',
    '<?',
    '?>',
    '<?xml ?>',
  ],
  ...[
    '&#0;',
    '&#xD800;',
    '&nbsp;',
    '&amp',
    '&#x;',
    ';',
    ':',
    '=',
    ' ',
    '\t',
    '\r',
    '\n',
    '\0',
    '\x01',
    '\x7f',
    '\x85',
  ],
  ...[
    'xmlns=""',
    ' xmlns:x=""',
    ' a="1"',
    '<a>',
    '</a>',
    '<a/>',
    '<x:a>',
    '\ufeff',
    '\ufffe',
    '\u2028',
    'é',
    '1',
    '.',
  ],
]

const fragment = fc.oneof(
  fc.constantFrom(...SPLINTERS).map((text) => Buffer.from(text)),
  fc.uint8Array({ minLength: 1, maxLength: 3 }).map((bytes) => Buffer.from(bytes)),
)
const mutation = fc.record({
  /** Places as shares of the document's length, so that they stay meaningful while it shrinks. */
  from: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 0, max: 12 }),
  kind: fc.constantFrom('insert', 'delete', 'replace', 'double', 'cut'),
  fragment,
})
const damaged = fc
  .record({
    document: fc.constantFrom(...SOUND),
    mutations: fc.array(mutation, { minLength: 1, maxLength: 4 }),
  })
  .map(({ document, mutations }) =>
    mutations.reduce<Buffer>((bytes, { from, length, kind, fragment: splinter }) => {
      const at = Math.floor(from * bytes.length)
      const [head, piece, rest] = [
        bytes.subarray(0, at),
        bytes.subarray(at, at + length),
        bytes.subarray(at + length),
      ]
      switch (kind) {
        case 'insert':
          return Buffer.concat([head, splinter, piece, rest])
        case 'delete':
          return Buffer.concat([head, rest])
        case 'replace':
          return Buffer.concat([head, splinter, rest])
        case 'double':
          return Buffer.concat([head, piece, piece, rest])
        default:
          return head
      }
    }, document),
  )

/** True where libxml2 finds nothing wrong, namespaces included. */
function judgedByXmllint(documents: Buffer[], folder: Folder): boolean[] {
  const files = documents.map((bytes, n) => folder.file(`${n}.xml`, bytes))
  const { stderr } = spawnSync('xmllint', ['--noout', '--nonet', '--huge', ...files], {
    maxBuffer: 1 << 28,
  })
  const wrong = new Set(
    Array.from(
      stderr.toString('latin1').matchAll(/^.*\/(\d+)\.xml:\d+: .*error(?!.*is not a valid URI)/gm),
      ([, n]) => Number(n),
    ),
  )
  return documents.map((_, n) => !wrong.has(n))
}

/** Where libxml2 2.9 is known to differ from XML 1.0 fifth edition, or we by decision. */
function differsByDecision(document: Buffer): boolean {
  const text = document.toString('latin1')
  // An internal subset and HTML's DOCTYPE are refused whatever they hold; NUL padding waits for its writer.
  if (/<!DOCTYPE[^>]*\[|<!DOCTYPE\s+html/i.test(text) || document.at(-1) === 0) return true
  // Encodings and versions that libxml2 lets pass although the declaration is not grammatical.
  return (
    /^(\xef\xbb\xbf)?<\?xml[^>]*(encoding|version)/.test(text) &&
    !text.includes('version="1.0" encoding="UTF-8"')
  )
}

describe('a damaged feed', () => {
  it.runIf(HAS_XMLLINT)('is ok for us exactly when it is well-formed for libxml2', () => {
    for (let n = 0; n < DOCUMENTS; n += BATCH) {
      using folder = new Folder()
      const documents = fc.sample(damaged, {
        numRuns: Math.min(BATCH, DOCUMENTS - n),
        seed: SEED + n,
      })
      const theirs = judgedByXmllint(documents, folder)
      const different = documents.filter((document, i) => {
        const ours = verdictOf(document) === 'complete'
        // libxml2 reads no further than a NUL behind the root; nothing of ours that is ok has one.
        const cutAtNul = !ours && document.includes(0)
        return ours !== theirs[i] && !cutAtNul && !differsByDecision(document)
      })

      expect(
        different.map((document) => document.toString('latin1')),
        `seed ${SEED + n}`,
      ).toEqual([])
    }
  })

  it('gets one verdict, however its bytes arrive', () => {
    fc.assert(
      fc.property(damaged, fc.constantFrom(1, 2, 3, 7), (document, pieces) => {
        expect(verdictOf(document, pieces)).toBe(verdictOf(document))
      }),
      { numRuns: Math.min(DOCUMENTS, 20_000), seed: SEED },
    )
  })
})
