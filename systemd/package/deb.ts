// The .deb: what dpkg wants to know of the tree, the maintainer scripts, and dpkg-deb.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Arch } from './node-runtime.ts'
import { type Entry, gzip, writeTree } from './tree.ts'

export interface DebOptions {
  version: string
  /** Debian's count of packages of one version. */
  revision: number
  arch: Arch
  epoch: number
  /** As dpkg-deb knows them, such as -Zxz. */
  compression: readonly string[]
  /** Where the tree is made. */
  stage: string
  /** Where the package goes. */
  out: string
}

const ARCHITECTURES: Record<Arch, string> = { x64: 'amd64', arm64: 'arm64' }
const MAINTAINER = 'the feedsyncd authors <feedsyncd@localhost.invalid>'
const SCRIPTS = ['postinst', 'prerm', 'postrm']

/** Answers the path of the package. */
export function buildDeb(entries: readonly Entry[], options: DebOptions): string {
  const { epoch, stage, out, arch, compression } = options
  // Debian sorts 1.0.0~rc.1 before 1.0.0, and wants no other hyphen than the revision's.
  const version = `${options.version.replaceAll('-', '~')}-${options.revision}`
  const architecture = ARCHITECTURES[arch]
  writeTree(stage, [...entries, ...debianFiles(version, epoch)], epoch)
  writeTree(stage, controlFiles(stage, version, architecture), epoch)
  mkdirSync(out, { recursive: true })
  const file = join(out, `feedsyncd_${version}_${architecture}.deb`)
  const args = ['--root-owner-group', ...compression, '--build', stage, file]
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(epoch) }
  execFileSync('dpkg-deb', args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  return file
}

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8')

/** What a package of Debian's has beside ours. */
function debianFiles(version: string, epoch: number): Entry[] {
  const date = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000')
  const changelog = `feedsyncd (${version}) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- ${MAINTAINER}  ${date}\n`
  return [
    {
      path: '/usr/share/doc/feedsyncd/changelog.Debian.gz',
      content: gzip(changelog),
      mode: 0o644,
    },
    {
      path: '/usr/share/lintian/overrides/feedsyncd',
      content: read('lintian-overrides'),
      mode: 0o644,
    },
  ]
}

function controlFiles(stage: string, version: string, architecture: string): Entry[] {
  const files = readdirSync(stage, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile())
    .map((item) => join(item.parentPath, item.name))
    .sort()
  const sums = files.map((path) => {
    const sum = createHash('md5').update(readFileSync(path)).digest('hex')
    return `${sum}  ${relative(stage, path)}\n`
  })
  const kib = files.reduce((sum, path) => sum + Math.ceil(lstatSync(path).size / 1024), 0)
  const control = read('control.in')
    .replace('@VERSION@', version)
    .replace('@ARCHITECTURE@', architecture)
    .replace('@MAINTAINER@', MAINTAINER)
    .replace('@INSTALLED_SIZE@', String(kib))
  return [
    { path: '/DEBIAN/control', content: control, mode: 0o644 },
    { path: '/DEBIAN/md5sums', content: sums.join(''), mode: 0o644 },
    ...SCRIPTS.map((name) => ({ path: `/DEBIAN/${name}`, content: read(name), mode: 0o755 })),
  ]
}
