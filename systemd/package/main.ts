// npm run package: builds/feedsyncd_VERSION_ARCH.deb and feedsyncd-VERSION-linux-ARCH.tar.xz, the same
// bytes from the same commit.
//
//   npm run package -- [--arch arm64] [--revision 2] [--out builds] [--quick]
//
// --quick compresses little: for tests. SOURCE_DATE_EPOCH replaces the time of the commit.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { build as rolldown } from 'rolldown'
import config, { bundledLibraries } from '../../rolldown.config.ts'
import { buildDeb } from './deb.ts'
import { entriesOf } from './entries.ts'
import { type Arch, nodeRuntime } from './node-runtime.ts'
import { buildTarball } from './tarball.ts'

const ROOT = resolve(import.meta.dirname, '../..')

const { values } = parseArgs({
  options: {
    arch: { type: 'string', default: process.arch },
    revision: { type: 'string', default: '1' },
    out: { type: 'string', default: join(ROOT, 'builds') },
    quick: { type: 'boolean', default: false },
  },
})

const scratch = mkdtempSync(join(tmpdir(), 'feedsyncd-package-'))
try {
  const arch = archOf(values.arch)
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? commitTime())
  const dist = join(scratch, 'dist')
  const build = {
    ...{ root: ROOT, arch, version, epoch, dist, bundled: await bundle(dist) },
    runtime: nodeRuntime(ROOT, arch, scratch),
    sqlite: sqliteVersion(),
  }
  const out = resolve(values.out)
  const common = { version, epoch, arch, out }
  const deb = buildDeb(
    await entriesOf({ ...build, zshFolder: '/usr/share/zsh/vendor-completions' }),
    {
      ...{ ...common, stage: join(scratch, 'deb'), revision: Number(values.revision) },
      compression: values.quick ? ['-Zzstd', '-z1'] : ['-Zxz'],
    },
  )
  const tarball = buildTarball(
    await entriesOf({ ...build, zshFolder: '/usr/share/zsh/site-functions' }),
    {
      ...{ ...common, stage: join(scratch, 'tarball') },
      compression: values.quick
        ? { program: 'gzip -n1', ending: 'gz' }
        : // With threads, or the blocks would depend on the number of cores.
          { program: 'xz -T2', ending: 'xz' },
    },
  )
  for (const file of [deb, tarball]) {
    const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex')
    console.log(`${sha256}  ${(statSync(file).size / 2 ** 20).toFixed(1)} MiB  ${file}`)
  }
} catch (error) {
  console.error(`error: no package was built: ${error instanceof Error ? error.message : error}`)
  console.error('try: npm ci, then npm run build; dpkg-deb and xz must be installed')
  process.exitCode = 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function archOf(text: string): Arch {
  if (text === 'x64' || text === 'arm64') return text
  throw new Error(`there is no package for ${text}: x64 or arm64`)
}

/** The folders of the libraries that it holds. */
async function bundle(into: string): Promise<string[]> {
  const { output } = await rolldown({ ...config, output: { ...config.output, dir: into } })
  return bundledLibraries(output)
}

function commitTime(): string {
  try {
    const args = ['log', '-1', '--format=%ct']
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
  } catch (cause) {
    throw new Error('git does not tell the time of the commit: set SOURCE_DATE_EPOCH', { cause })
  }
}

function sqliteVersion(): string {
  const database = new Database(':memory:')
  const version = database.prepare('SELECT sqlite_version()').pluck().get()
  database.close()
  return String(version)
}
