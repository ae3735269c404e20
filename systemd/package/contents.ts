// The place of each file on a host: the program and its own Node below /usr/lib/feedsyncd, the rest where systemd,
// shells and man look for it. The package has no file below /etc, which belongs to the operator alone.

import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { runCli } from '../../src/cli/program.ts'
import { commandTable } from './command-table.ts'
import { type Library, library } from './library.ts'
import { commandsPage } from './man-commands.ts'
import { campaignsPage, configPage } from './man-config.ts'
import type { Arch, Runtime } from './node-runtime.ts'
import { sbom } from './sbom.ts'
import type { Tree } from './tree.ts'

export interface Build {
  /** The checkout. */
  root: string
  dist: string
  /** The folders of the libraries in the bundle. */
  bundled: readonly string[]
  arch: Arch
  version: string
  runtime: Runtime
  sqlite: string
  /** Seconds since 1970. */
  epoch: number
}

const HOME = 'usr/lib/feedsyncd'
const DOC = 'usr/share/doc/feedsyncd'
/** The only library with native code, which a bundle cannot contain. */
const SQLITE = 'node_modules/better-sqlite3'

export async function addContents(tree: Tree, build: Build): Promise<void> {
  addProgram(tree, build)
  addUnits(tree, join(build.root, 'systemd'))
  await addCompletions(tree)
  addManuals(tree, build)
  addDocuments(tree, build)
}

function addProgram(tree: Tree, { root, dist, runtime, version, arch }: Build): void {
  const manifest = { name: 'feedsyncd', version, private: true, type: 'module' }
  tree.write('usr/bin/feedsyncd', launcher(readFileSync(join(dist, 'main.js'), 'utf8')), 0o755)
  tree.copy(`${HOME}/bin/node`, join(runtime.folder, 'bin/node'), 0o755)
  tree.write(`${HOME}/package.json`, `${JSON.stringify(manifest)}\n`)
  for (const name of readdirSync(dist)) tree.copy(`${HOME}/dist/${name}`, join(dist, name))
  for (const path of sqliteFiles(root, arch)) tree.copy(`${HOME}/${path}`, join(root, path))
}

/** sqliteFiles returns the loaded files of better-sqlite3, and its licence, relative to the checkout. */
export function sqliteFiles(root: string, arch: string): string[] {
  const loaded = ['package.json', 'LICENSE', 'lib/**/*.js', `prebuilds/linux-${arch}.node`]
  return globSync(
    loaded.map((pattern) => `${SQLITE}/${pattern}`),
    { cwd: root },
  )
}

/**
 * launcher returns a script that starts the program with the flags of its first line, but with the private Node. It is
 * a file in /usr/bin and not a link, because SELinux lets systemd start only files with the label of a bin folder.
 */
export function launcher(main: string): string {
  const [, variables, flags] = /^#!\/usr\/bin\/env -S (.*)\bnode (.*)\n/.exec(main) ?? []
  if (flags === undefined) throw new Error('the first line of dist/main.js starts no node')
  return `#!/bin/sh\nexec env ${variables}/${HOME}/bin/node ${flags} /${HOME}/dist/main.js "$@"\n`
}

function addUnits(tree: Tree, from: string): void {
  const copy = (path: string, name: string) => tree.copy(path, join(from, name))
  copy('usr/lib/systemd/system/feedsyncd.service', 'feedsyncd.service')
  copy('usr/lib/systemd/system/feedsyncd@.service', 'feedsyncd@.service')
  copy('usr/lib/sysusers.d/feedsyncd.conf', 'feedsyncd.sysusers.conf')
  copy('usr/lib/tmpfiles.d/feedsyncd.conf', 'feedsyncd.tmpfiles.conf')
  copy(`${DOC}/examples/local.conf`, 'local.conf.example')
  copy(`${DOC}/examples/notify.conf`, 'notify.conf.example')
}

async function addCompletions(tree: Tree): Promise<void> {
  const places = {
    bash: 'usr/share/bash-completion/completions/feedsyncd',
    zsh: 'usr/share/zsh/vendor-completions/_feedsyncd',
    fish: 'usr/share/fish/vendor_completions.d/feedsyncd.fish',
  }
  for (const [shell, path] of Object.entries(places)) {
    const lines: string[] = []
    const context = { ...commandTable.context, out: (text: string) => lines.push(`${text}\n`) }
    await runCli(['completion', shell], context)
    tree.write(path, lines.join(''))
  }
}

function addManuals(tree: Tree, { version, epoch }: Build): void {
  const day = new Date(epoch * 1000).toISOString().slice(0, 10)
  const add = (path: string, text: string) => tree.write(`usr/share/man/${path}.gz`, gzip(text))
  add('man1/feedsyncd.1', commandsPage(commandTable.program(), version, day))
  add('man5/feedsyncd.yaml.5', configPage(version, day))
  add('man5/campaigns.yaml.5', campaignsPage(version, day))
}

function addDocuments(tree: Tree, build: Build): void {
  const { root, bundled, runtime } = build
  const libraries = [SQLITE, ...bundled].map((folder) => library(root, folder))
  for (const path of documents(root)) tree.copy(`${DOC}/${path}`, join(root, path))
  tree.write(`${DOC}/feedsyncd.cdx.json`, sbom({ ...build, libraries, node: runtime }))
  tree.write(`${DOC}/copyright`, copyright(build, libraries))
}

/** documents returns the pages and all files that they link to, at the same relative paths as in the checkout. */
export function documents(root: string): string[] {
  const linked = [
    '*.md',
    'Dockerfile',
    'config/*',
    'docs/**/*.{md,png}',
    'src/xml/README.md',
    'systemd/*.example',
    'systemd/examples/*',
    'systemd/feedsyncd@.service',
  ]
  return globSync(linked, { cwd: root }).sort()
}

/** copyright returns our terms and Node's; the terms of the libraries are beside their code. */
function copyright({ root, runtime }: Build, libraries: readonly Library[]): string {
  const lines = libraries.map(({ name, version, license }) => `  ${name} ${version}: ${license}\n`)
  return [
    'feedsyncd\n',
    readFileSync(join(root, 'LICENSE'), 'utf8'),
    `The libraries, with their licences in /${HOME}/dist/LICENSES.txt and /${HOME}/${SQLITE}/LICENSE:\n`,
    lines.join(''),
    'On Debian the texts of common licences are in /usr/share/common-licenses.\n',
    `Node.js ${runtime.version} in /${HOME}/bin, with the parts that it holds:\n`,
    readFileSync(join(runtime.folder, 'LICENSE'), 'utf8'),
  ].join('\n')
}

const gzip = (text: string) => gzipSync(text, { level: 9 })
