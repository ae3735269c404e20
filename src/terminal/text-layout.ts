// Measures, wraps and cuts text for a terminal. The tables for this take 18 ms to load, a fifth of the time of `status`,
// so render.ts loads this file only for text that needs it.

import truncated from 'cli-truncate'
import columnsOf from 'string-width'
import wrapAnsi from 'wrap-ansi'

export { columnsOf }

/** wrapped returns lines of at most `columns`, broken at spaces. A longer word stays whole. */
export const wrapped = (text: string, columns: number): string[] =>
  wrapAnsi(text, columns).split('\n')

/** middleCut removes the middle of a text that is wider than `columns`. A grapheme is never cut. */
export const middleCut = (text: string, columns: number): string =>
  truncated(text, columns, { position: 'middle', truncationCharacter: '...' })
