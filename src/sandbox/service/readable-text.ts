// This file reads a job description as a person does: without tags, and with its character references decoded.

import { decodeHTML } from 'entities'

/** INLINE tags are part of a word or sentence. Other tags separate words. */
const INLINE =
  /^(?:a|abbr|b|bdi|bdo|big|cite|code|em|font|i|ins|kbd|mark|q|s|samp|small|span|strike|strong|sub|sup|tt|u|var|wbr)$/i
/** HIDDEN has what a person does not see: a pattern for all of it, and a pattern for its end. */
const HIDDEN: readonly (readonly [all: RegExp, end: RegExp])[] = [
  [/<!--.*?-->/gs, /-->/g],
  [/<script(?=[\s/>])[^<>]*>.*?<\/script>/gis, /<\/script>/gi],
  [/<style(?=[\s/>])[^<>]*>.*?<\/style>/gis, /<\/style>/gi],
]

/** readableText returns the text that a person reads in a description with HTML tags. */
export function readableText(html: string): string {
  let visible = html
  for (const [all, end] of HIDDEN) {
    // A beginning after the last end has no end, and a search from there would scan the rest of the text in vain.
    const last = [...visible.matchAll(end)].at(-1)
    const to = last === undefined ? 0 : last.index + last[0].length
    visible = visible.slice(0, to).replace(all, ' ') + visible.slice(to)
  }
  const text = visible.replace(/<\/?([a-z][^\s/<>]*)[^<>]*>/gi, (_, tag: string) =>
    INLINE.test(tag) ? '' : ' ',
  )
  return decodeHTML(text)
}
