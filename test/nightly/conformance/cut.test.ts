import { describe, expect, it } from 'vitest'
import { verdictOf } from '../../helpers/xml/verdicts.ts'

const FEED = `<?xml version="1.0" encoding="UTF-8" standalone='yes'?>
<!-- made by – hand --><?render fast?><!DOCTYPE source SYSTEM "feed.dtd">
<source xmlns:x="urn:x"><publisher>Café &amp; Co &#x1F600; 😀</publisher>\r
  <job id="a&lt;b" x:lang='é' ><title><![CDATA[Nurse ]] 職 <b>]]></title><x:city/></job>
</source>
<!-- end --><?done?>
`

const utf16 = (text: string, bom: boolean) =>
  Buffer.from(`${bom ? '\ufeff' : ''}${text}`, 'utf16le')

/** prefixVerdicts returns the verdicts of all prefixes that end before the root element ends. */
function prefixVerdicts(bytes: Buffer, rootEnd: number, step = 1): Set<string> {
  const verdicts = new Set<string>()
  for (let length = 0; length < rootEnd; length += step) {
    verdicts.add(verdictOf(bytes.subarray(0, length)))
  }
  return verdicts
}

describe('a feed that ends early', () => {
  it('is incomplete at every byte in UTF-8', () => {
    const bytes = Buffer.from(FEED)

    const verdicts = prefixVerdicts(bytes, bytes.lastIndexOf('</source>') + 9)

    expect(verdicts).toEqual(new Set(['incomplete']))
    expect(verdictOf(bytes)).toBe('complete')
  })

  it('is incomplete at every byte after a byte order mark, in UTF-16 and in 8-bit encodings', () => {
    const latin = Buffer.from(
      FEED.replace('UTF-8', 'ISO-8859-1').replace(/[^\0-\xff]/g, '?'),
      'latin1',
    )
    const wide = FEED.replace('UTF-8', 'UTF-16')
    const documents = [
      Buffer.concat([Buffer.from('\ufeff'), Buffer.from(FEED)]),
      utf16(wide, true),
      utf16(wide, true).swap16(),
      utf16(FEED.replace('UTF-8', 'UTF-16LE'), false),
      utf16(FEED.replace('UTF-8', 'UTF-16BE'), false).swap16(),
      latin,
    ]

    const verdicts = documents.map((bytes) => {
      const end =
        bytes.length - (bytes.length / FEED.length >= 2 ? 2 : 1) * '\n<!-- end --><?done?>\n'.length
      return prefixVerdicts(bytes, end)
    })

    expect(verdicts).toEqual(documents.map(() => new Set(['incomplete'])))
    expect(documents.map((bytes) => verdictOf(bytes))).toEqual(documents.map(() => 'complete'))
  })

  it('is incomplete at every byte of a DOCTYPE, and broken if no DOCTYPE can begin like this', () => {
    const declared = (doctype: string) => Buffer.from(`<!DOCTYPE ${doctype}><a></a>`)
    const right = ['a', 's:a PUBLIC "-//A//B 1.0" "a.dtd" ', "a PUBLIC '' 'a\"b'", "a SYSTEM '>'"]
    const wrong = [
      'a PUBLIC "x"',
      'a FEED "x"',
      'a SYSTEM "x" "y"',
      'a PUBLIC "<" "y"',
      'a system "x"',
    ]

    expect(
      right.map((doctype) => [...prefixVerdicts(declared(doctype), declared(doctype).length)]),
    ).toEqual(right.map(() => ['incomplete']))
    expect(wrong.map((doctype) => verdictOf(declared(doctype)))).toEqual(
      wrong.map(() => 'not-well-formed'),
    )
  })

  it('is incomplete at every 50th byte of a larger feed', () => {
    const job =
      '<job><id>R1</id><text><![CDATA[<p>Größe &nbsp;]]></text><url>a?b=1&amp;c=2</url></job>\n'
    const bytes = Buffer.from(`<source>\n${job.repeat(300)}</source>`)

    expect(prefixVerdicts(bytes, bytes.length, 50)).toEqual(new Set(['incomplete']))
  })

  it.each([
    '',
    ' \n',
    '<',
    '<?',
    '<?xm',
    '<?xml version="1.0"',
    '<sour',
    '<!',
    '<!-',
    '<!DOC',
    '<a>&',
    '<a>&am',
    '<a>&#x',
    '<a><![CDA',
    '<a b="',
  ])('is incomplete as %j', (prefix) => {
    expect(verdictOf(prefix)).toBe('incomplete')
  })

  const NAMES = ['jo', 'x:job', 'Größe', '職務', 'j😀b', `l${'o'.repeat(30)}ng`]
  const ENCODINGS: Record<string, (text: string) => Buffer> = {
    'UTF-8': (text) => Buffer.from(text),
    'UTF-16 (LE)': (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
    'UTF-16 (BE)': (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
    'ISO-8859-1': (text) => Buffer.from(text, 'latin1'),
    'windows-1252': (text) => Buffer.from(text, 'latin1'),
  }

  it.each(Object.keys(ENCODINGS))(
    'is incomplete at every byte of an end tag, and broken if the tag ends another element, in %s',
    (encoding) => {
      const encode = ENCODINGS[encoding] as (text: string) => Buffer
      const declared = `<?xml version="1.0" encoding="${encoding.split(' ')[0]}"?>`
      for (const name of NAMES) {
        // Characters that the encoding lacks become "z".
        const known = /^(ISO|win)/.test(encoding) ? name.replace(/[^\0-\xff]/g, 'z') : name
        const open = `${declared}<s xmlns:x="urn:x"><${known}>text`
        const bytes = encode(`${open}</${known} \n>`)
        for (let length = encode(open).length; length < bytes.length; length++)
          expect(verdictOf(bytes.subarray(0, length)), `${known} ${length}`).toBe('incomplete')
        const others = [`${known}x`, [...known].slice(0, -1).join('')]
        const verdicts = others.map((other) => verdictOf(encode(`${open}</${other}>`), 7))
        expect(verdicts).toEqual(['not-well-formed', 'not-well-formed'])
      }
    },
  )

  it('is complete with white space, comments and instructions after its root, and incomplete inside a comment', () => {
    expect(verdictOf('<a/>\r\n<!-- x --><?y?>  ')).toBe('complete')
    expect(verdictOf('<a/><!-- x')).toBe('incomplete')
  })
})

describe('a broken feed', () => {
  it.each([
    '<a>&</a>',
    '<a>& b',
    '<a>&nbsp;',
    '<job <t',
    '<a b="<',
    '<a b=c',
    '<a><b></a>',
    '<a/>x',
    '<a/><b',
    '<!foo',
    '<!-- a --b',
    '<?x?y',
    '<a>]]>',
    '</a',
    '<a></ ',
    '<1',
    '<a b="1" b="2">',
    '<x:a>',
    '\ufeff\ufeff<a/>',
    '<?xml version="1.0" encodin:',
    'jobs.xml',
    'j',
  ])('stays broken when it is cut after the fault: %j', (prefix) => {
    expect(verdictOf(prefix)).not.toMatch(/complete/)
  })

  it('is broken at every cut after its fault, and incomplete at every cut before the fault', () => {
    const document = Buffer.from('<s><a>Größe</a><b c="1">R&D</b></s>')
    const known = document.indexOf('&D') + 2

    for (let length = 0; length < document.length; length++) {
      const verdict = verdictOf(document.subarray(0, length))
      // Before the "<", "&D" can still become "&D;", although the entity "&D;" does not exist either.
      expect(verdict).toBe(length <= known ? 'incomplete' : 'not-well-formed')
    }
  })
})
