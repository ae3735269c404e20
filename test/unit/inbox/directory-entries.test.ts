// A file system that does not report the kinds of its entries (FUSE, XFS with ftype=0). Each test runs in its own
// process with a changed C library.

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FaultyFiles, NO_COMPILER } from '../../helpers/faulty-files.ts'
import { put, temporaryFolder } from '../../helpers/inbox/harness.ts'

const LIST = `
  const { Inbox } = await import(process.env.SOURCES + '/inbox/folder.ts')
  const { Conditions } = await import(process.env.SOURCES + '/domain/conditions.ts')
  const { silentLog } = await import(process.env.SOURCES + '/lib/log.ts')
  const { systemClock } = await import(process.env.SOURCES + '/lib/clock.ts')
  const inbox = new Inbox({
    directory: process.env.FOLDER, include: ['**/*.xml'], exclude: [],
    clock: systemClock, conditions: new Conditions(systemClock), log: silentLog,
  })
  const { folder, files, skipped, ignored, temporary } = await inbox.list()
  await inbox[Symbol.asyncDispose]()
  const paths = (all) => all.map(({ path }) => path).sort()
  console.log(JSON.stringify({
    folder: folder.kind, files: paths(files), skipped: paths(skipped), ignored, temporary: paths(temporary),
  }))
`
const title = `a folder without kinds of entries${NO_COMPILER === null ? '' : ` (skipped: ${NO_COMPILER})`}`

describe.skipIf(NO_COMPILER !== null)(title, () => {
  it('is listed by the bytes of its names: feeds, skipped, ignored and temporary files', () => {
    const base = temporaryFolder()
    const folder = join(base, 'inbox')
    const names = ['é.xml', 'plain.xml', 'sub/sub/求人.xml', ...many('more-', 150)]
    for (const name of [...names, '.git/x.xml', 'jobs.txt', 'late.xml.part']) put(folder, name)
    // The bytes of "é.xml" read as Latin-1.
    mkdirSync(join(folder, 'Ã©.xml'))
    writeFileSync(Buffer.from(`${folder}/caf\xe9.xml`, 'latin1'), '')
    const files = new FaultyFiles(base)
    files.hideTypes()

    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', LIST], {
      env: {
        ...{ ...process.env, ...files.env, FOLDER: folder },
        SOURCES: join(import.meta.dirname, '../../../src'),
      },
    })

    expect(JSON.parse(String(printed))).toEqual({
      ...{ folder: 'ready', files: names.sort(), skipped: ['./caf%E9.xml'] },
      ...{ ignored: ['jobs.txt'], temporary: ['late.xml.part'] },
    })
  })
})

function many(begin: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${begin}${n}.xml`)
}
