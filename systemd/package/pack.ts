// Packs a tree of files into a tarball and a .deb, with GNU tar and dpkg-deb. Owners, order and times are fixed, so
// that the same files give the same bytes.

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Arch } from './node-runtime.ts'
import type { Tree } from './tree.ts'

/** The programs that packing needs, and their Debian packages. */
const TOOLS = { 'dpkg-deb': 'dpkg', tar: 'tar', xz: 'xz-utils', gzip: 'gzip', md5sum: 'coreutils' }
const SCRIPTS = ['postinst', 'prerm', 'postrm']

export function requireTools(tools: Record<string, string> = TOOLS): void {
  for (const [tool, from] of Object.entries(tools)) {
    if (spawnSync(tool, ['--version']).error === undefined) continue
    throw new Error(`${tool} is missing: apt-get install ${from}`)
  }
}

export interface Packing {
  version: string
  arch: Arch
  /** Seconds since 1970: the time of every file. */
  epoch: number
  /** Compresses little, for tests. */
  quick: boolean
}

/**
 * packTarball makes a tarball for hosts without dpkg, which unpack it at /. It contains no folders, so that it changes
 * no owner and no mode of the host's folders.
 */
export function packTarball(tree: Tree, file: string, { epoch, quick }: Packing): void {
  // With a fixed number of threads, the blocks do not depend on the number of cores.
  const compressor = quick ? 'gzip -n1' : 'xz -T2'
  const fixed = ['--owner=0', '--group=0', '--numeric-owner', `--mtime=@${epoch}`, '--format=gnu']
  const list = ['--no-recursion', '--verbatim-files-from', '--files-from=-']
  // Only Debian has the folder vendor-completions.
  const zsh = '--transform=s,^usr/share/zsh/vendor-completions/,usr/share/zsh/site-functions/,'
  const args = ['-C', tree.root, ...fixed, zsh, '-I', compressor, '-cf', file, ...list]
  const input = tree.files().join('\n')
  execFileSync('tar', args, { input, stdio: ['pipe', 'ignore', 'inherit'] })
}

/** packDeb adds the control files to the tree and makes the .deb. */
export function packDeb(tree: Tree, file: string, { version, arch, epoch, quick }: Packing): void {
  const files = tree.files()
  const kib = files.reduce(
    (sum, path) => sum + Math.ceil(statSync(join(tree.root, path)).size / 1024),
    0,
  )
  const control = read('control.in')
    .replace('@VERSION@', version)
    .replace('@ARCHITECTURE@', arch === 'x64' ? 'amd64' : arch)
    .replace('@INSTALLED_SIZE@', String(kib))
  tree.write('DEBIAN/md5sums', execFileSync('md5sum', files, { cwd: tree.root }))
  tree.write('DEBIAN/control', control)
  for (const name of SCRIPTS) tree.write(`DEBIAN/${name}`, read(name), 0o755)
  const compression = quick ? ['-Zzstd', '-z1'] : ['-Zxz']
  const args = ['--root-owner-group', ...compression, '--build', tree.root, file]
  // dpkg-deb gives no file a later time than this.
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(epoch) }
  execFileSync('dpkg-deb', args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
}

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8')
