// npm run package makes builds/feedsyncd_VERSION_ARCH.deb and feedsyncd-VERSION-linux-ARCH.tar.xz. The same commit
// gives the same bytes.
//
//   npm run package -- [--arch arm64] [--revision 2] [--out builds] [--quick]
//
// --quick compresses little, for tests. SOURCE_DATE_EPOCH replaces the time of the commit.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { build as bundle } from 'rolldown'
import config, { bundledLibraries } from '../../rolldown.config.ts'
import { formatDuration } from '../../src/lib/units.ts'
import { addContents } from './contents.ts'
import { type Arch, nodeRuntime } from './node-runtime.ts'
import { packDeb, packTarball, requireTools } from './pack.ts'
import { Tree } from './tree.ts'

const ROOT = resolve(import.meta.dirname, '../..')

const { values } = parseArgs({
  options: {
    arch: { type: 'string', default: process.arch },
    revision: { type: 'string', default: '1' },
    out: { type: 'string', default: join(ROOT, 'builds') },
    quick: { type: 'boolean', default: false },
  },
})

// All users may read the folders of the package, even if the builder's umask forbids it.
process.umask(0o022)
const scratch = mkdtempSync(join(tmpdir(), 'feedsyncd-package-'))
try {
  requireTools()
  await build(archOf(values.arch))
} catch (error) {
  console.error(`error: no package was built: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

async function build(arch: Arch): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? commitTime())
  const dist = join(scratch, 'dist')
  const { output } = await bundle({ ...config, output: { ...config.output, dir: dist } })
  const tree = new Tree(join(scratch, 'tree'))
  await addContents(tree, {
    ...{ root: ROOT, arch, version, epoch, dist, bundled: bundledLibraries(output) },
    runtime: nodeRuntime(ROOT, arch, scratch),
    sqlite: sqliteVersion(),
  })
  // Debian sorts 1.0.0~rc.1 before 1.0.0, and allows only the hyphen before the revision.
  const debian = `${version.replaceAll('-', '~')}-${values.revision}`
  const { quick } = values
  const ending = quick ? 'gz' : 'xz'
  mkdirSync(values.out, { recursive: true })
  const file = (name: string) => join(resolve(values.out), name)
  const packages = [
    { name: `feedsyncd-${version}-linux-${arch}.tar.${ending}`, pack: packTarball },
    { name: `feedsyncd_${debian}_${arch === 'x64' ? 'amd64' : arch}.deb`, pack: packDeb },
  ]
  for (const { name, pack } of packages) {
    console.error(`packing ${name}${quick ? '' : ', which takes minutes'}`)
    const began = performance.now()
    // An interrupted run must not leave a file that looks like a package.
    const part = file(`${name}.part`)
    pack(tree, part, { version: debian, arch, epoch, quick })
    renameSync(part, file(name))
    console.error(`packed in ${formatDuration(performance.now() - began)}`)
    const sha256 = createHash('sha256')
      .update(readFileSync(file(name)))
      .digest('hex')
    console.log(`${sha256}  ${(statSync(file(name)).size / 2 ** 20).toFixed(1)} MiB  ${file(name)}`)
  }
}

function archOf(text: string): Arch {
  if (text === 'x64' || text === 'arm64') return text
  throw new Error(`there is no package for ${text}: x64 or arm64`)
}

function commitTime(): string {
  try {
    const args = ['log', '-1', '--format=%ct']
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
  } catch (cause) {
    throw new Error('git cannot read the time of the commit: set SOURCE_DATE_EPOCH', { cause })
  }
}

function sqliteVersion(): string {
  const database = new Database(':memory:')
  const version = database.prepare('SELECT sqlite_version()').pluck().get()
  database.close()
  return String(version)
}
