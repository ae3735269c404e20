import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { judged } from './helpers/judge-suite.ts'

const SCRIPT = join(import.meta.dirname, 'helpers', 'judge-suite.ts')

describe('a processor without the instructions that the skimmer needs', () => {
  // Other architectures have no flag that takes theirs away.
  it.runIf(process.arch === 'x64')('judges every document as others do', () => {
    const elsewhere = execFileSync(process.execPath, ['--no-enable-sse4-1', SCRIPT], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    })

    expect(JSON.parse(elsewhere)).toEqual(JSON.parse(judged()))
  })
})
