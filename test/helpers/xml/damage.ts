// Documents and random damage to them, for the tests that compare the check with other checkers.

import fc from 'fast-check'

export const SOUND = [
  `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<source xmlns:x="urn:x" xmlns="urn:d"><publisher>Café &amp; Co &#x1F600; 😀</publisher>
  <job id="a&lt;b" x:id='é'><title><![CDATA[Nurse ]] > & <b>]]></title><x:city/></job><!-- c - c -->
  <?render fast?><job><title>職 &#38; ]] ></title></job></source>`,
  `<jobs><job a="1" b='2'>x</job><job/><job>&quot;&apos;&gt;</job></jobs>`,
  // If nobody listens, the checker skips repeated elements.
  `<feed xmlns:p="u:p">${`<item at="1" p:id='&amp;"&#38;'><ab/>x &lt; ]]<abc> é&#x20;</abc><p:ex xmlns:q="u:q" q:at="v" at=''><q:ab></q:ab></p:ex><![CDATA[ ]] ]]></item>\n`.repeat(3)}</feed>`,
  `<!DOCTYPE rss SYSTEM "rss.dtd"><rss version="2.0"><channel><item>a</item></channel></rss>`,
].map((text) => Buffer.from(text))

/** Texts that break documents in practice, and that some parsers handle wrongly. */
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
  /** A place is a share of the document's length, so that it stays valid while fast-check shrinks the document. */
  from: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 0, max: 12 }),
  kind: fc.constantFrom('insert', 'delete', 'replace', 'double', 'cut'),
  fragment,
})
/** damaged returns documents with one to four changes; some of them stay well-formed. */
export const damaged = (documents: readonly Buffer[]) =>
  fc
    .record({
      document: fc.constantFrom(...documents),
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
