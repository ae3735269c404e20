// Measures text that is not plain ASCII. The tables for this take 18 ms to load, a fifth of the time of `status`, so
// render.ts loads this file only for text that needs it.

import stringWidth from 'string-width'

export const columnsOf = (text: string): number => stringWidth(text)

const segmenter = new Intl.Segmenter()

/** graphemes splits text into what people see as characters. */
export const graphemes = (text: string): string[] =>
  Array.from(segmenter.segment(text), ({ segment }) => segment)
