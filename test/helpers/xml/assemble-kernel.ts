// Assembles src/xml/kernel/byte-marks.wat into assembled.ts beside it: `npm run kernel`.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import wabt from 'wabt'

const FOLDER = join(import.meta.dirname, '../../../src/xml/kernel')

/** assembledKernel returns what assembled.ts has to be. Throws what wabt says of a wrong text. */
export async function assembledKernel(): Promise<string> {
  const { parseWat } = await wabt()
  const module = parseWat('byte-marks.wat', readFileSync(join(FOLDER, 'byte-marks.wat'), 'utf8'))
  const base64 = Buffer.from(module.toBinary({}).buffer).toString('base64')
  return [
    '// The kernel of ../byte-marks.ts in base64, made by `npm run kernel` from byte-marks.wat.',
    '',
    `export const KERNEL =`,
    `  '${base64}'`,
    '',
  ].join('\n')
}

if (import.meta.main) writeFileSync(join(FOLDER, 'assembled.ts'), await assembledKernel())
