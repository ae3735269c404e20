// Reads the descriptions of postings that the tests of the program and of the sandbox share.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const READABLE_TEXTS = readFileSync(
  join(import.meta.dirname, '../data/readable-texts.txt'),
  'utf8',
)
  .split('\n')
  .filter((line) => line.startsWith('['))
  .map((line) => JSON.parse(line) as [markup: string, found: string, missing: string])
