import { describe, expect, it } from 'vitest'
import { LIMITS, type Limits } from '../../../src/xml/limits.ts'
import { verdictOf } from '../../helpers/xml/verdicts.ts'

const small: Limits = { depth: 3, attributes: 2, name: 10, attributeValue: 20, tag: 60, text: 50 }
const x = (count: number) => 'x'.repeat(count)

describe('limits', () => {
  it.each([
    ['too-deep', '<a><b><c><d/></c></b></a>', '<a><b><c/></b><b/></a>'],
    ['too-many-attributes', '<a b="1" c="2" d="3"/>', '<a b="1" c="2"/>'],
    ['name-too-long', `<a><${x(11)}/></a>`, `<a><${x(10)}/></a>`],
    ['name-too-long', `<a ${x(11)}="1"/>`, `<a ${x(10)}="1"/>`],
    ['name-too-long', `<?${x(11)} ?><a/>`, `<?${x(10)} ?><a/>`],
    ['attribute-too-long', `<a b="${x(21)}"/>`, `<a b="${x(20)}"/>`],
    ['tag-too-long', `<a ${' '.repeat(70)}/>`, `<a ${' '.repeat(50)}/>`],
    ['text-too-long', `<a>${x(51)}</a>`, `<a>${x(50)}</a>`],
    ['text-too-long', `<a>${'&amp;'.repeat(11)}</a>`, `<a>${'&amp;'.repeat(10)}</a>`],
    ['text-too-long', `<a><![CDATA[${x(51)}]]></a>`, `<a><![CDATA[${x(50)}]]></a>`],
    ['text-too-long', `<a><!--${x(51)}--></a>`, `<a><!--${x(40)}--><!--${x(40)}--></a>`],
    ['text-too-long', `<a><?y ${x(51)}?></a>`, `<a><?y ${x(40)}?></a>`],
  ])(
    'give the code %s for %j, and accept a document just within the limit',
    (code, over, within) => {
      for (const size of [1, 3, 65_536]) {
        expect(verdictOf(over, size, small)).toBe(code)
        expect(verdictOf(within, size, small)).toBe('complete')
      }
    },
  )

  it.each([
    `<a>${x(51)}\x01</a>`,
    `<a>${x(51)}&wrong</a>`,
    `<a><![CDATA[${x(51)}\x01]]></a>`,
    `<a><!--${x(51)}\x01--></a>`,
  ])('are reported before a later fault in %j, with pieces of any size', (document) => {
    for (const size of [1, 3, 65_536])
      expect(verdictOf(document, size, small)).toBe('text-too-long')
  })

  it('leave room for a picture of 12 MB in a text, and of 1.5 MB in an attribute', () => {
    const document = `<a b="${x(1_500_000)}">${x(12_000_000)}<b><![CDATA[${x(12_000_000)}]]></b></a>`

    expect(verdictOf(document)).toBe('complete')
  })

  it.each([
    ['text', 'text-too-long', '<a>', 'x'],
    ['line ends', 'text-too-long', '<a>', '\r\n'],
    ['entities', 'text-too-long', '<a>', '&lt;'],
    ['CDATA', 'text-too-long', '<a><![CDATA[', ']a'],
    ['comment', 'text-too-long', '<a><!--', '-a'],
    ['instruction', 'text-too-long', '<a><?b ', '?a'],
    ['attribute value', 'attribute-too-long', '<a b="', '&lt;'],
    ['attributes', 'too-many-attributes', '<a', ' b="1"'],
    ['tag', 'tag-too-long', '<a', ' '],
    ['name', 'name-too-long', '<', 'a'],
    ['prolog', 'not-well-formed', '<!DOCTYPE a SYSTEM "', 'a'],
    ['declaration', 'not-well-formed', '<?xml version="1.0"', ' '],
  ])('stop a giant %s that never ends, with the code %s', (_, code, begin, filling) => {
    const document = Buffer.from(begin + filling.repeat(Math.ceil(300_000 / filling.length)))
    const limits = { ...LIMITS, attributeValue: 100_000, tag: 50_000, text: 100_000 }

    expect(verdictOf(document, 65_536, limits)).toBe(code)
  })
})
