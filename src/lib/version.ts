// The version of the program, from the package beside it (two folders up, from src/ as from dist/).

import { readFileSync } from 'node:fs'

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

export const VERSION: string = manifest.version
