// This file reads a job description as a person does: without tags, and with its character references decoded.

import { decodeHTML } from 'entities'

/** INLINE tags are part of a word or sentence. Other tags separate words. */
const INLINE =
  /^(?:a|abbr|b|bdi|bdo|big|cite|code|em|font|i|ins|kbd|mark|q|s|samp|small|span|strike|strong|sub|sup|tt|u|var|wbr)$/i
const HIDDEN: readonly (readonly [all: RegExp, end: RegExp])[] = [
  [/<!--.*?-->/gs, /-->/g],
  [/<script(?=[\s/>])[^<>]*>.*?<\/script>/gis, /<\/script>/gi],
  [/<style(?=[\s/>])[^<>]*>.*?<\/style>/gis, /<\/style>/gi],
]

export function readableText(html: string): string {
  let visible = html
  for (const [all, end] of HIDDEN) {
    // After the last end there is nothing to find, and each beginning there would scan the rest of the text.
    const last = [...visible.matchAll(end)].at(-1)
    const to = last === undefined ? 0 : last.index + last[0].length
    visible = visible.slice(0, to).replace(all, ' ') + visible.slice(to)
  }
  const text = visible.replace(/<\/?([a-z][^\s/<>]*)[^<>]*>/gi, (_, tag: string) =>
    INLINE.test(tag) ? '' : ' ',
  )
  return decodeHTML(text)
}
