// Turns the markup of a job description into the text that a person reads. Each step is linear in the length of the
// text, because a feed is hostile.

import { decodeHTML } from 'entities'

const TAG = /<\/?([a-z][^\s/<>]*)[^<>]*>/iy
/** STYLED are the tags that can stand inside a word and leave no gap. Every other tag counts as a space. */
const STYLED = new Set(
  (
    'a abbr b bdi bdo big cite code em font i ins kbd mark q s samp small span strike strong sub sup tt u var ' +
    'wbr'
  ).split(' '),
)
const ENDS = { '!--': /-->/g, script: /<\/script>/gi, style: /<\/style>/gi }

/** readableText returns the text without tags, comments, scripts and styles, and with its references decoded. */
export function readableText(markup: string): string {
  const text = markup.includes('<') ? withoutTags(markup) : markup
  return text.includes('&') ? decodeHTML(text) : text
}

function withoutTags(markup: string): string {
  let text = ''
  let at = 0
  const unclosed = new Set<string>()
  /**
   * hiddenEnd returns where a comment, script or style ends that began before `from`; -1 if it has no end. It remembers
   * the -1 for this kind, so that the text is not searched for the same end again.
   */
  const hiddenEnd = (name: keyof typeof ENDS, from: number) => {
    if (unclosed.has(name)) return -1
    const end = ENDS[name]
    end.lastIndex = from
    if (end.test(markup)) return end.lastIndex
    unclosed.add(name)
    return -1
  }
  for (let open = markup.indexOf('<'); open !== -1; open = markup.indexOf('<', at)) {
    text += markup.slice(at, open)
    TAG.lastIndex = open
    const [tag = '<', name = ''] = TAG.exec(markup) ?? []
    const kind = markup.startsWith('<!--', open) ? '!--' : name.toLowerCase()
    const isHidden = Object.hasOwn(ENDS, kind) && !tag.startsWith('</')
    const end = isHidden ? hiddenEnd(kind as keyof typeof ENDS, open + 4) : -1
    at = end === -1 ? open + tag.length : end
    if (end !== -1 || (name !== '' && !STYLED.has(kind))) text += ' '
    else if (name === '') text += '<'
  }
  return text + markup.slice(at)
}
