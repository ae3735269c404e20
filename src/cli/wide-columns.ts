// How wide text is that is not plain ASCII. The tables that know this take 18 ms to load, a fifth of `status`:
// columns.ts loads this file for such text alone.

import stringWidth from 'string-width'

export const columnsOf = (text: string): number => stringWidth(text)

const segmenter = new Intl.Segmenter()

/** What a person sees as one character. */
export const graphemes = (text: string): string[] =>
  Array.from(segmenter.segment(text), ({ segment }) => segment)
