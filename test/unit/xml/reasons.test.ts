import { describe, expect, it } from 'vitest'
import { DocumentChecker } from '../../../src/xml/document-checker.ts'
import { LIMITS } from '../../../src/xml/limits.ts'
import { locate } from '../../../src/xml/locator.ts'
import { everything } from '../../helpers/xml/handlers.ts'
import { checkBytes, verdictOf } from '../../helpers/xml/verdicts.ts'

/** explained returns the reason and position of the fault, and the expected position, which `▶` marks. */
async function explained(
  marked: string,
  encode: (text: string) => Buffer = (text) => Buffer.from(text),
) {
  const before = marked.split('▶')[0] ?? ''
  const bytes = encode(marked.replace('▶', ''))
  const check = new DocumentChecker(everything, LIMITS)
  check.write(bytes)
  const ending = check.end()
  if (ending.kind !== 'fault') throw new Error(`${ending.kind}: ${marked}`)
  const { at, reason, reference } = ending.fault
  const [position, other] = await locate([bytes], check.encoding, check.bom, [at, reference ?? at])
  const lines = before.split(/\r\n?|\n/)
  const expected = {
    offset: encode(before).length,
    line: lines.length,
    column: [...(lines.at(-1) ?? '')].length + 1,
  }
  return { reason: reason.replace('{line}', String(other?.line)), position, expected }
}

describe('the reason and the place of a fault', () => {
  it.each([
    ['<a>R▶&D</a>', '"&" must be written "&amp;"'],
    ['<a b="x?y=1▶&z=2"/>', '"&" must be written "&amp;"'],
    ['<a>3 ▶< 4</a>', '"<" must be written "&lt;"'],
    [
      '<a>▶&nbsp;</a>',
      '"&nbsp;" is an HTML entity that XML does not know; write "&#160;" or the character itself',
    ],
    ['<a>▶&foo;</a>', 'the entity "&foo;" is not declared; a "&" as text must be written "&amp;"'],
    ['<a>▶&#11;</a>', '"&#11;" stands for a character that XML does not allow; leave it out'],
    ['<s>\n<date>\n<b/>▶</job></s>', 'the end tag </job> does not match <date> opened in line 2'],
    ['<a>▶]]></a>', '"]]>" must be written "]]&gt;" outside a CDATA section'],
    ['<!-- a ▶-- b --><a/>', '"--" is not allowed inside a comment'],
    ['<s><job ▶<t/></s>', 'the tag <job is not closed: ">" is missing before this "<"'],
    ['<s></s ▶<t/>', 'the end tag </s is not closed: ">" is missing before this "<"'],
    [
      '<a href="x▶<b c="/>',
      '"<" is not allowed in an attribute value; is a closing quote missing?',
    ],
    ['<a b="1" c="2" ▶b="3"/>', '<a> has the attribute "b" twice'],
    ['<a b=▶c/>', 'an attribute value of <a> must be put in quotes'],
    ['<a b=▶\u001ac/>', 'the character U+001A is not allowed in XML; leave it out'],
    ['<a b="1"▶c="2"/>', 'a space is missing between the attributes of <a>'],
    ['<s>▶<x:a/></s>', 'the prefix "x" in <x:a> is not declared with xmlns:x="…"'],
    ['<a>Gr▶\u0003ße</a>', 'the character U+0003 is not allowed in XML; leave it out'],
    ['<a>▶\uFFFE</a>', 'the character U+FFFE is not allowed in XML; leave it out'],
    ['<a/>\n▶<b/>', 'there is a second root element; one element must contain all postings'],
    ['<a/>▶Revision', 'there is text after the end of the root element'],
    [
      '▶This XML file<a/>',
      'there is text before the root element; the document must begin with "<"',
    ],
    [
      '\n▶<?xml version="1.0"?><a/>',
      'the XML declaration may appear only once, at the very beginning of the file',
    ],
    [
      '<?xml versio▶m="1.0"?><a/>',
      'the XML declaration is wrong here; it must look like <?xml version="1.0" encoding="UTF-8"?>',
    ],
    [
      '<?xml version="1.0" encoding="▶EBCDIC-FR"?><a/>',
      'the declared encoding "EBCDIC-FR" is not supported; export the feed as UTF-8',
    ],
    [
      '▶<!DOCTYPE a [<!ENTITY b "c">]><a/>',
      'the DOCTYPE has an internal subset ("[...]"), which is refused because it can declare entities; leave it out',
    ],
    ['<a>▶</></a>', 'an end tag must have a name after "</", not ">"'],
    [
      '<Job Description▶>x</Job>',
      'an attribute of <Job> has no value; write name="value", or the name contains a space',
    ],
    ['<a b="1" c▶></a>', 'an attribute of <a> has no value; write name="value"'],
    [
      '<s><benefits/▶0>',
      '"/" in the tag <benefits> must be followed by ">"; a name cannot contain "/"',
    ],
    ['<s><benefits/▶ >', '"/" in the tag <benefits> must be followed by ">"'],
    [
      '<s>▶<0>103</0></s>',
      'an element name cannot begin with a digit; as text, "<" must be written "&lt;"',
    ],
    [
      '<s>▶<%= job.title %></s>',
      '"<" must be written "&lt;"; "<%" looks like a template that was not filled in',
    ],
    [
      '<s>\n<br>▶</span></s>',
      'the end tag </span> does not match <br> opened in line 2; HTML belongs in CDATA',
    ],
    [
      '<s><job>text▶</BR></s>',
      'the end tag </BR> does not match <job> opened in line 1; HTML belongs in CDATA',
    ],
    [
      '▶This XML file does not appear to have any style information.<a/>',
      'there is text before the root element; it was copied from a browser: save the file itself',
    ],
    [
      '▶---\nlayout:\n---\n<a/>',
      'there is text before the root element; it looks like a template: export its result',
    ],
    ['<a>\ufeff</a>▶\ufeff', 'there is a byte order mark in the middle of the file'],
  ])('are correct for %j', async (marked, sentence) => {
    const { reason, position, expected } = await explained(marked)

    expect(reason).toBe(sentence)
    expect(position).toEqual(expected)
  })

  it('count characters, not bytes or UTF-16 units, and each kind of line end once', async () => {
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      const { position, expected } = await explained(
        `<s>${lineEnd}<a>é職😀${lineEnd}${lineEnd}😀é ▶& b</a></s>`,
      )

      expect(position).toEqual(expected)
      expect(position).toMatchObject({ line: 4, column: 4 })
    }
  })

  it('have offsets in bytes of the file, in UTF-8 and UTF-16 with a byte order mark', async () => {
    const encodings: Array<(text: string) => Buffer> = [
      (text) => Buffer.from(`\ufeff${text}`),
      (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
      (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
    ]
    for (const encode of encodings) {
      const { position, expected } = await explained('<s>\n<a>職😀 ▶& b</a></s>', encode)

      expect(position).toEqual(expected)
    }
  })

  it.each([
    ['<!-- jobs', 'inside a comment, before its root element'],
    ['<jobs/><!-- of today', 'inside a comment, after its root element'],
    ['<jobs><!-- of today', 'inside a comment: <jobs> opened in line {line} is not closed'],
    ['<jobs><jo', 'inside a tag: <jobs> opened in line {line} is not closed'],
    ['<jobs><job x', 'inside a tag: <job> is not closed'],
  ])('say where %j ends early', (document, where) => {
    const { ending } = checkBytes(document)

    expect(ending).toMatchObject({ kind: 'incomplete', reason: `the document ends early ${where}` })
  })

  it.each([
    ['gzip', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0])],
    ['zip', Buffer.from('PK\x03\x04..')],
    ['bzip2', Buffer.from('BZh91AY')],
    ['xz', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0])],
    ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0])],
    ['pdf', Buffer.from('%PDF-1.7')],
    ['json', Buffer.from('{"jobs": []}')],
    ['json', Buffer.from('[{"id": 1}]')],
    ['json', Buffer.from(`{\n${' '.repeat(40)}"jobs": [] }`)],
    ['json', Buffer.from(' []')],
    ['html', Buffer.from('<!DOCTYPE html><html></html>')],
    ['html', Buffer.from('<!doctype html>')],
    ['html', Buffer.from('<html lang="en"><body><p>404<br></body></html>')],
  ])('name the format %s', (code, bytes) => {
    expect(verdictOf(bytes)).toBe(code)
    expect(verdictOf(bytes, 1)).toBe(code)
  })

  it.each([
    ['{% for job in jobs %}<job/>{% endfor %}', 'it looks like a template: export its result'],
    ['{{ feed }}', 'it looks like a template: export its result'],
    ['{$listing.title}', 'it looks like a template: export its result'],
    ['[[ feed ]]', 'the document must begin with "<"'],
    ['[error] no connection to the database', 'the document must begin with "<"'],
    ['[2026-11-24 10:00:00] ERROR: out of memory', 'the document must begin with "<"'],
    ['{', 'the document must begin with "<"'],
  ])('do not mistake a template or an error message for JSON: %s', (text, why) => {
    for (const size of [1, 65_536]) {
      const { ending } = checkBytes(Buffer.from(text), size)

      expect(ending).toMatchObject({
        fault: {
          code: 'not-well-formed',
          reason: `there is text before the root element; ${why}`,
        },
      })
    }
  })

  it('follow the rules of XML 1.0 for the declared version 1.1, and refuse version 2.0', () => {
    expect(verdictOf('<?xml version="1.1"?><a>&#1;</a>')).toBe('not-well-formed')
    expect(verdictOf('<?xml version="1.1"?><a>\x85\u2028</a>')).toBe('complete')
    expect(verdictOf('<?xml version="2.0"?><a/>')).toBe('not-well-formed')
  })

  it('accept a DOCTYPE without internal subset, and say of its entities that the DTD is never fetched', () => {
    expect(verdictOf('<!DOCTYPE source SYSTEM "file:///etc/passwd"><source/>')).toBe('complete')
    expect(checkBytes('<!DOCTYPE s SYSTEM "x"><s>&co;</s>').ending).toMatchObject({
      fault: { code: 'undefined-entity', reason: expect.stringContaining('never fetched') },
    })
  })
})
