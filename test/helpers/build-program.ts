// Builds the program once, as it is installed, for the tests that start processes. A start from the sources takes 1.5
// times as long.

import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'
import type { TestProject } from 'vitest/node'
import config from '../../rolldown.config.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the built main.js. */
    program: string
  }
}

const ROOT = join(import.meta.dirname, '../..')
/** CACHE is a folder below the checkout, so that the built program finds better-sqlite3. */
const CACHE = join(ROOT, 'node_modules/.cache')
const DAY = 24 * 60 * 60 * 1000

/** buildProgram builds the program if a file that the build reads has changed, and provides the path of its main.js. */
export default async function buildProgram({ provide }: TestProject): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  const folder = join(CACHE, `program-${digest()}`)
  if (!existsSync(folder)) {
    for (const program of globSync('program-*', { cwd: CACHE })) removeIfOld(join(CACHE, program))
    // Another run can build the same program at the same time, so rename a finished draft.
    const draft = mkdtempSync(join(CACHE, 'draft-'))
    await build({ ...config, output: { ...config.output, dir: join(draft, 'dist') } })
    // Tests also start the program as other users.
    chmodSync(draft, 0o755)
    try {
      renameSync(draft, folder)
    } catch {
      rmSync(draft, { recursive: true })
    }
  }
  provide('program', join(folder, 'dist/main.js'))
}

/** digest returns a hash of everything that the build reads. */
function digest(): string {
  const hash = createHash('sha256')
  const others = ['package.json', 'package-lock.json', 'rolldown.config.ts']
  for (const name of [...others, 'config/service.openapi.yaml', ...sources()]) {
    hash.update(`${name}\n`).update(readFileSync(join(ROOT, name)))
  }
  return hash.digest('hex').slice(0, 16)
}

const sources = () => globSync('src/**/*.{ts,json,sql}', { cwd: ROOT }).sort()

function removeIfOld(folder: string): void {
  if (statSync(folder).mtimeMs < Date.now() - DAY) rmSync(folder, { recursive: true, force: true })
}
