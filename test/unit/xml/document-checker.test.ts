import { describe, expect, it } from 'vitest'
import { PostingReader } from '../../../src/feed/posting-reader.ts'
import { DocumentChecker } from '../../../src/xml/document-checker.ts'
import { LIMITS } from '../../../src/xml/limits.ts'
import { checkBytes, verdictOf } from '../../helpers/xml/verdicts.ts'

function faultOf(document: string | Buffer, pieceSize?: number) {
  const { ending } = checkBytes(document, pieceSize)
  return ending.kind === 'fault' ? ending.fault : null
}

describe('characters', () => {
  it('that are forbidden are found at every place of a word, between any other characters', () => {
    for (const [wrong, length] of [
      ['\0', 1],
      ['\x0b', 1],
      ['\x1f', 1],
      ['\ufffe', 3],
      ['\uffff', 3],
    ] as const) {
      for (const filling of ['x', '\n', '～']) {
        const document = (before: number) =>
          Buffer.from(`<a><![CDATA[${filling.repeat(before)}${wrong}${filling}]]></a>`)
        const faults = Array.from({ length: 20 }, (_, before) => faultOf(document(before)))
        const width = Buffer.byteLength(filling)

        expect(faults.map((fault) => fault?.at)).toEqual(faults.map((_, n) => 12 + n * width))
        for (const fault of faults) expect(fault?.reason).toContain('is not allowed in XML')
        expect(faultOf(document(7), length)).toEqual(faults[7])
      }
    }
  })

  it('of every allowed kind are accepted', () => {
    expect(
      verdictOf('<a b="\t\x7f\u0080\ud7ff">\t\r\n\ue000\ufffd\ufdd0\u{1fffe}\u{10ffff}</a>'),
    ).toBe('complete')
  })

  it.each([
    ['<a×b/>', 2],
    ['<a b×="1"/>', 4],
    ['<×/>', 0],
    ['<a></a×>', 6],
    ['<a ×="1"/>', 3],
    ['<a\u0300/><b/>', 6],
  ])('that are forbidden in names are refused in %j', (document, at) => {
    for (const size of [1, 2, 3, 65_536]) expect(faultOf(document, size)).toMatchObject({ at })
  })
})

describe('namespaces', () => {
  it.each([
    '<a xmlns:p="u"><p:b xmlns:p="v"/><p:c p:d="" d=""/></a>',
    '<p:a xmlns:p="u" p:b=""/>',
    '<a b:c="" d:c="" xmlns:b="u" xmlns:d="v"/>',
    '<a xml:lang="en" xmlns:xml="http://www.w3.org/XML/1998/namespace"/>',
    '<a xmlns=""><b xmlns="u"/></a>',
    '<a xmlns:p="u"><b xmlns:p="v"><p:c/></b><p:c/></a>',
    // A namespace is named by exactly these characters (Namespaces section 2.3): white space is one of them.
    '<a xmlns:p=" "/>',
    '<a xmlns:p="\u00a0"/>',
    '<a xmlns:p="&#32;" p:b=""/>',
    '<a b:c="" d:c="" xmlns:b="u" xmlns:d=" u"/>',
    '<a b:c="" d:c="" xmlns:b="u" xmlns:d="u\n"/>',
    '<a xmlns:p=" http://www.w3.org/2000/xmlns/"/>',
    '<a xmlns="http://www.w3.org/XML/1998/namespace "/>',
  ])('are understood in %j', (document) => {
    expect(verdictOf(document)).toBe('complete')
  })

  it.each([
    ['<a><b xmlns:p="u"/><p:c/></a>', 'the prefix "p" in <p:c> is not declared'],
    ['<a><b xmlns:p="u"></b><c p:d=""/></a>', 'the prefix "p" in <c> is not declared'],
    ['<a b:c="" d:c="" xmlns:b="u" xmlns:d="u"/>', '<a> has the attribute "c" twice'],
    ['<a b:c="" d:c="" xmlns:b="u" xmlns:d="&#117;"/>', '<a> has the attribute "c" twice'],
    ['<a xmlns:p=""/>', 'a namespace prefix in <a> is declared with an empty value'],
    ['<a xmlns:xml="u"/>', '<a> declares one of the reserved names'],
    ...[' ', '\u00a0', '\n', '&#9;'].flatMap((space): [string, string][] => {
      const xml = 'http://www.w3.org/XML/1998/namespace'
      const reason = '<a> declares one of the reserved names'
      return [
        [`<a xmlns:xml="${space}${xml}"/>`, reason],
        [`<a xmlns:xml="${xml}${space}"/>`, reason],
      ]
    }),
    ['<a xmlns:xmlns="u"/>', '<a> declares one of the reserved names'],
    ['<a xmlns:p="http://www.w3.org/2000/xmlns/"/>', '<a> declares one of the reserved names'],
    ['<a xmlns="http://www.w3.org/XML/1998/namespace"/>', '<a> declares one of the reserved names'],
    ['<xmlns:a/>', '<xmlns:a> declares one of the reserved names'],
    ['<a :b=""/>', '":b" is not a name'],
    ['<a b:=""/>', '"b:" is not a name'],
    ['<a:b:c xmlns:a="u"/>', '"a:b:c" is not a name'],
    ['<a xmlns:b="u" b:1=""/>', '"b:1" is not a name'],
  ])('are violated by %j', (document, reason) => {
    for (const size of [1, 3, 65_536]) {
      expect(faultOf(document, size)?.reason).toContain(reason)
    }
  })
})

describe('memory', () => {
  it('forgets names when there are thousands, which changes no verdict', () => {
    const many = Array.from(
      { length: 2_000 },
      (_, i) => `<e${i} a${i}="" b="" xmlns:p${i}="u${i}" p${i}:b=""><p${i}:c/></e${i}>`,
    ).join('')
    const root = (rest: string) => `<r xmlns:q="q">${many}<q:s/>${rest}</r>`

    expect(verdictOf(root(''))).toBe('complete')
    expect(faultOf(root('<x a5="" a5=""/>'))?.reason).toBe('<x> has the attribute "a5" twice')
    expect(faultOf(root('<p1999:c/>'))?.reason).toContain('the prefix "p1999"')
  })

  it('keeps a whole tag that arrives in many pieces, whether the tag is right, wrong, cut or not closed', () => {
    const value = '&lt;\n'.repeat(20_000)
    const document = (end: string) => `<a b="${value}" c="${value}"${end}`

    expect(verdictOf(document('></a>'))).toBe('complete')
    expect(faultOf(document(' c=""></a>'))?.reason).toBe('<a> has the attribute "c" twice')
    expect(verdictOf(document(''))).toBe('incomplete')
    expect(faultOf(document('<'), 4_096)?.reason).toContain('is not closed')
  })

  it('for the attribute values of one tag has one limit for all of them together', () => {
    const value = 'x'.repeat(900_000)
    const limits = { ...LIMITS, attributeValue: 2_000_000 }

    expect(verdictOf(`<a b="${value}" c="${value}"/>`, 65_536, limits)).toBe('complete')
    expect(verdictOf(`<a b="${value}" c="${value}" d="${value}"/>`, 65_536, limits)).toBe(
      'attribute-too-long',
    )
  })
})

describe('the content of a posting', () => {
  const jobs = [
    '<job id="1"><t>Nurse &amp; Co</t>\n <d><![CDATA[ <p>night   shift</p>\n ]]></d></job>',
    `<job id="2"><t>${'long text with spaces   '.repeat(900)}</t></job>`,
    '<job id="3"><t>a<![CDATA[b ]]> c</t> <e/></job>',
  ]
  const contents = (document: string, pieceSize: number) => {
    const found: number[] = []
    const check = new DocumentChecker(
      new PostingReader({ records: null, fields: {} }, (_, content) => found.push(content)),
      LIMITS,
    )
    const bytes = Buffer.from(document)
    for (let at = 0; at < bytes.length; at += pieceSize) {
      check.write(bytes.subarray(at, at + pieceSize))
    }
    check.end()
    return found
  }

  it('has the same hash for pieces of any size', () => {
    const document = `<jobs>${jobs.join('\n')}</jobs>`
    const whole = contents(document, 65_536)

    expect(new Set(whole).size).toBe(3)
    for (const size of [1, 2, 3, 5, 7, 64, 1_000]) expect(contents(document, size)).toEqual(whole)
  })

  it('has another hash after any change in the posting, and the same hash after a change around it', () => {
    const content = (job: string) => contents(`<jobs>${job}</jobs>`, 9)[0]
    const job = '<job id="1"><t>a b</t></job>'

    for (const other of ['a  b', 'a b ', '<![CDATA[a b]]>', 'a b<!-- -->']) {
      expect(content(job.replace('a b', other))).not.toBe(content(job))
    }
    expect(content(`\n<!-- -->${job}\n`)).toBe(content(job))
  })
})
