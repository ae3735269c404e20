// Reads the pairs of singulars and plurals that the tests of the program and of the sandbox share.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const lines = readFileSync(join(import.meta.dirname, '../data/plurals.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))

const pair = (line: string) => line.split(' ') as [singular: string, plural: string]

export const PLURALS = lines.filter((line) => !line.startsWith('not ')).map(pair)
/** NO_PLURALS are pairs of words in which the first word must not select the second. */
export const NO_PLURALS = lines
  .filter((line) => line.startsWith('not '))
  .map((line) => pair(line.slice('not '.length)))
