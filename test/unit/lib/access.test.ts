import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const ACCESS = join(import.meta.dirname, '..', '..', '..', 'src', 'lib', 'access.ts')
const GROUP = 'www-data'
const [, GID] =
  new RegExp(`^${GROUP}:x:(\\d+):`, 'm').exec(readFileSync('/etc/group', 'utf8')) ?? []

/** hintFor asks as a user that is in no group of this host. */
function hintFor(file: string): string {
  const code = `import(${JSON.stringify(ACCESS)}).then((m) => console.log(String(m.groupHint(process.argv[1]))))`
  const args = [
    '--reuid=54320',
    '--regid=54321',
    '--clear-groups',
    process.execPath,
    '-e',
    code,
    file,
  ]
  return spawnSync('setpriv', args, { encoding: 'utf8', cwd: '/' }).stdout.trim()
}

it.skipIf(process.getuid?.() !== 0 || GID === undefined)(
  'a user outside the group is told which folder refuses and which group to join, and nothing if only root or everybody may enter',
  () => {
    const root = mkdtempSync(join(tmpdir(), 'access-'))
    onTestFinished(() => rmSync(root, { recursive: true }))
    chmodSync(root, 0o755)
    const folder = join(root, 'etc')
    const file = join(folder, 'feedsyncd.yaml')
    mkdirSync(folder)
    writeFileSync(file, 'version: 1')
    chmodSync(file, 0o644)
    chownSync(folder, 0, Number(GID))
    chmodSync(folder, 0o750)

    const closed = hintFor(file)
    chmodSync(folder, 0o700)
    const ofRoot = hintFor(file)
    chmodSync(folder, 0o755)
    const open = hintFor(file)

    expect(closed).toMatch(
      new RegExp(
        `^${folder} is open to the group ${GROUP}: as root, usermod -aG ${GROUP} \\S.*, then log in again$`,
      ),
    )
    expect([ofRoot, open]).toEqual(['null', 'null'])
  },
)
