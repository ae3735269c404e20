import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../src/feed/limits.ts'
import { ATTRIBUTE, ELEMENT, Skimmer, State } from '../../src/feed/skimmer.ts'

const BOUND = 1
const UNBOUND = 2

/** What is left of `text`, which stands in an element <a> that is not told of. */
function left(text: string, limits = LIMITS): string {
  const skimmer = Skimmer.take(limits)
  const { room, state, namespaceOf, open } = skimmer
  const enter = (name: string, uses: number, prefix: number) =>
    skimmer.enter(0, room.write(name, 0), uses, prefix)
  open[0] = enter('a', ELEMENT | ATTRIBUTE, 0)
  enter('a-long-name-of-more-than-16-bytes', ELEMENT | ATTRIBUTE, 0)
  enter('p:b', ELEMENT | ATTRIBUTE, BOUND)
  enter('p:c', ATTRIBUTE, BOUND)
  enter('q:d', ELEMENT | ATTRIBUTE, UNBOUND)
  enter('onlyElement', ELEMENT, 0)
  const declares = enter('xmlns:q', 0, UNBOUND)
  const value = room.write('urn:q', 0)
  skimmer.declared({ entry: declares }, 0, value, 7)
  namespaceOf[BOUND] = 5
  state[State.depth] = 1
  state[State.ignoredFrom] = 1
  const length = room.write(`${text}\0`, 0) - 1
  // As if a longer piece had been here before.
  room.write('"\'></a>]]>&lt;<a>', length + 1)
  const at = skimmer.skim(0, length, 0)
  skimmer.giveBack()
  return room.toString('utf8', at, length)
}

describe('the skimmer', () => {
  it.each([
    'text </a>',
    '<a>text</a></a>',
    '<a/><a\n/><a a="" /></a>',
    '<a-long-name-of-more-than-16-bytes>x</a-long-name-of-more-than-16-bytes></a>',
    `${'long text, é and 職, '.repeat(50)}</a>`,
    '&lt;&gt;&amp;&quot;&apos;&#9;&#x10FFFF;&#1114111;&#xfffd;</a>',
    ']] ]> ] ]]]</a>',
    '<![CDATA[]]><![CDATA[ ]] ]> > & < ]]></a>',
    `<a a="it's &lt; '" p:b='"'>text</a></a>`,
    '<p:b><p:b a="" p:c=""/></p:b></a>',
    '<q:d xmlns:q="urn:q" q:d="1"><q:d/></q:d></a>',
    '<q:d xmlns:q="urn:q"/></a>',
  ])('passes over %j', (text) => {
    expect(left(text)).toBe('')
  })

  it.each([
    // Not there as a whole.
    'text',
    '<a',
    '<a a="',
    '<a a=""',
    '<![CDATA[ ]]',
    '&lt',
    // Nothing that it knows.
    '<b/>',
    '<A/>',
    '<a b=""/>',
    '<?a?>',
    '<!-- -->',
    '&nbsp;</a>',
    '<onlyElement onlyElement=""/>',
    '<p:c/>',
    // Wrong.
    'x ]]></a>',
    'x & y</a>',
    '&#0;</a>',
    '&#xD800;</a>',
    '&#xFFFE;</a>',
    '&#;</a>',
    '&#x;</a>',
    '&#12345678;</a>',
    '</b>',
    '</a >',
    '</ab>',
    '<a/ >',
    '< a/>',
    '<a a/>',
    '<a a=1/>',
    '<a a = ""/>',
    '<a a=""p:b=""/>',
    '<a a="<"/>',
    '<a a="&"/>',
    '<a a="" a=""/>',
    '<a p:b="" p:c=""/>',
    '<q:d/>',
    '<a q:d=""/>',
    '<a xmlns:q="urn:other"/>',
    `<a xmlns:q="urn:q'/>`,
    '<a xmlns:q="urn:q" xmlns:q="urn:q"/>',
  ])('leaves %j to the readers that can tell what is wrong with it', (text) => {
    expect(left(text)).toBe(text)
    expect(left(`<a></a>${text}`)).toBe(text)
  })

  it('ends what an element declared together with it', () => {
    expect(left('<a xmlns:q="urn:q"><q:d/></a><q:d/>')).toBe('<q:d/>')
    expect(left('<a xmlns:q="urn:q"/><q:d/>')).toBe('<q:d/>')
  })

  it('stops behind the root element', () => {
    expect(left('</a>text')).toBe('text')
  })

  it('keeps to the limits', () => {
    const deep = { ...LIMITS, depth: 3 }

    expect(left('<a><a></a></a></a>', deep)).toBe('')
    expect(left('<a><a><a></a></a></a></a>', deep)).toBe('<a></a></a></a></a>')
    expect(left('<a a="" p:b=""/>', { ...LIMITS, attributes: 1 })).toBe('<a a="" p:b=""/>')
    expect(left('12345678</a>', { ...LIMITS, text: 8 })).toBe('')
    expect(left('123456789</a>', { ...LIMITS, text: 8 })).toBe('123456789</a>')
  })
})
