// An upgrade replaces the files of the program while a daemon runs. The threads that read feeds start later than the
// program, so they might load other files.

import {
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { VERSION } from '../../../src/lib/version.ts'
import { feedOf, finished, MAIN, preload, Site } from '../../helpers/site.ts'

/** copyOf makes a copy of the program that a test may change. It lies where Node finds the libraries. */
function copyOf(site: Site): { program: string } & Disposable {
  const program = mkdtempSync(join(dirname(MAIN), '../../copy-'))
  cpSync(dirname(MAIN), program, { recursive: true })
  site.program = join(program, 'main.js')
  return { program, [Symbol.dispose]: () => rmSync(program, { recursive: true, force: true }) }
}

const MARK = '"event":"daemon.condition","condition":"internal-error"'

it('a feed that comes after the program was removed waits until the program is back, with the hint to restart', async () => {
  await using site = await Site.open({}, { env: preload('fast-time.ts') })
  using copy = copyOf(site)
  const daemon = await site.daemonProcess()
  renameSync(join(copy.program, 'check-worker.js'), join(copy.program, 'away.js'))

  site.drop('a.xml', feedOf(3))
  const said = JSON.parse(await site.logged(daemon, MARK))
  renameSync(join(copy.program, 'away.js'), join(copy.program, 'check-worker.js'))
  await site.until('a.xml', 'uploaded')

  expect(said.hint).toContain('systemctl restart feedsyncd')
  expect(site.events('a.xml').map(({ to }) => to)).not.toContain('failed')
})

it('a feed waits for the restart, is not read by a thread of another version, and the reason names that version', async () => {
  await using site = await Site.open({}, { env: preload('fast-time.ts') })
  using copy = copyOf(site)
  const daemon = await site.daemonProcess()
  for (const name of globSync('*.js', { cwd: copy.program })) {
    const file = join(copy.program, name)
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(`"${VERSION}"`, '"99.0.0"'))
  }

  site.drop('a.xml', feedOf(3))
  const said = JSON.parse(await site.logged(daemon, MARK))
  const before = site.uploads()
  daemon.kill('SIGTERM')
  await finished(daemon)
  await site.daemonProcess()
  await site.until('a.xml', 'uploaded')

  expect(said.reason).toContain('99.0.0')
  expect(before.map(({ state }) => state)).not.toContain('uploaded')
  expect(site.events('a.xml').map(({ to }) => to)).not.toContain('failed')
})
