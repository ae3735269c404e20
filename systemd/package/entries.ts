// Where everything lies on a host: the program with its own Node below /usr/lib/feedsyncd, the rest where
// systemd, shells and man look for it. Nothing below /etc: what is there is the operator's alone.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCli } from '../../src/cli/program.ts'
import { commandTable } from './command-table.ts'
import { commandsPage } from './man-commands.ts'
import { campaignsPage, configPage } from './man-config.ts'
import { type Library, library, libraryFiles } from './modules.ts'
import type { Arch, Runtime } from './node-runtime.ts'
import { sbom } from './sbom.ts'
import { type Entry, gzip } from './tree.ts'

export interface Build {
  /** The checkout. */
  root: string
  /** The bundled program. */
  dist: string
  /** The folders of the libraries that it holds. */
  bundled: readonly string[]
  arch: Arch
  version: string
  runtime: Runtime
  sqlite: string
  /** Seconds since 1970. */
  epoch: number
  /** Where zsh looks for completions of packages: Debian has a folder of its own. */
  zshFolder: string
}

/** The one library with native code, which no bundle can hold. */
const SQLITE = 'node_modules/better-sqlite3'
const HOME = '/usr/lib/feedsyncd'
const DOC = '/usr/share/doc/feedsyncd'

export async function entriesOf(build: Build): Promise<Entry[]> {
  const all = [SQLITE, ...build.bundled].map((folder) => library(build.root, folder))
  return [
    ...program(build),
    ...libraryFiles(build.root, SQLITE, `linux-${build.arch}.node`),
    ...units(build.root),
    ...(await completions(build.zshFolder)),
    ...manuals(build),
    ...documents(build, all),
  ]
}

function program({ dist, runtime, version }: Build): Entry[] {
  const manifest = { name: 'feedsyncd', version, private: true, type: 'module' }
  const start = launcher(readFileSync(join(dist, 'main.js'), 'utf8'))
  return [
    { path: '/usr/bin/feedsyncd', content: start, mode: 0o755 },
    { path: `${HOME}/bin/node`, source: join(runtime.folder, 'bin/node'), mode: 0o755 },
    { path: `${HOME}/package.json`, content: `${JSON.stringify(manifest)}\n`, mode: 0o644 },
    ...readdirSync(dist).map((path) => ({
      ...{ path: `${HOME}/dist/${path}`, source: join(dist, path), mode: 0o644 },
    })),
  ]
}

/**
 * Starts the program as its own first line does, where the flags stand, but with the private Node. A file
 * of its own in /usr/bin and no link to the program: SELinux lets systemd start what has the label of a bin.
 */
export function launcher(main: string): string {
  const [, variables, flags] = /^#!\/usr\/bin\/env -S (.*)\bnode (.*)\n/.exec(main) ?? []
  if (flags === undefined) throw new Error('the first line of dist/main.js starts no node')
  return `#!/bin/sh\nexec env ${variables}${HOME}/bin/node ${flags} ${HOME}/dist/main.js "$@"\n`
}

function units(root: string): Entry[] {
  const from = join(root, 'systemd')
  const file = (path: string, name: string): Entry => ({
    ...{ path, source: join(from, name), mode: 0o644 },
  })
  return [
    file('/usr/lib/systemd/system/feedsyncd.service', 'feedsyncd.service'),
    file('/usr/lib/sysusers.d/feedsyncd.conf', 'feedsyncd.sysusers.conf'),
    file('/usr/lib/tmpfiles.d/feedsyncd.conf', 'feedsyncd.tmpfiles.conf'),
    file(`${DOC}/examples/inbox.conf`, 'inbox.conf.example'),
    file(`${DOC}/examples/notify.conf`, 'notify.conf.example'),
  ]
}

async function completions(zshFolder: string): Promise<Entry[]> {
  const places = {
    bash: '/usr/share/bash-completion/completions/feedsyncd',
    zsh: `${zshFolder}/_feedsyncd`,
    fish: '/usr/share/fish/vendor_completions.d/feedsyncd.fish',
  }
  const made = Object.entries(places).map(async ([shell, path]): Promise<Entry> => {
    let content = ''
    await runCli(['completion', shell], {
      ...{ ...commandTable.context, err: () => {} },
      out: (text) => {
        content += `${text}\n`
      },
    })
    return { path, content, mode: 0o644 }
  })
  return Promise.all(made)
}

function manuals({ version, epoch }: Build): Entry[] {
  const day = new Date(epoch * 1000).toISOString().slice(0, 10)
  const file = (path: string, text: string): Entry => ({ path, content: gzip(text), mode: 0o644 })
  return [
    file('/usr/share/man/man1/feedsyncd.1.gz', commandsPage(commandTable.program(), version, day)),
    file('/usr/share/man/man5/feedsyncd.yaml.5.gz', configPage(version, day)),
    file('/usr/share/man/man5/campaigns.yaml.5.gz', campaignsPage(version, day)),
  ]
}

function documents(build: Build, all: Library[]): Entry[] {
  const { root, runtime } = build
  const doc = (name: string, source: string): Entry => ({
    ...{ path: `${DOC}/${name}`, source: join(root, source), mode: 0o644 },
  })
  const bill = sbom({ ...build, libraries: all, node: runtime })
  const changelog = gzip(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))
  return [
    doc('README.md', 'README.md'),
    doc('runbook.md', 'docs/runbook.md'),
    doc('logs.md', 'docs/logs.md'),
    doc('guards.md', 'docs/guards.md'),
    doc('campaigns.md', 'docs/campaigns.md'),
    doc('examples/feedsyncd.example.yaml', 'config/feedsyncd.example.yaml'),
    doc('examples/feedsyncd.schema.json', 'config/feedsyncd.schema.json'),
    doc('examples/campaigns.example.yaml', 'config/campaigns.example.yaml'),
    doc('examples/campaigns.schema.json', 'config/campaigns.schema.json'),
    { path: `${DOC}/changelog.gz`, content: changelog, mode: 0o644 },
    { path: `${DOC}/feedsyncd.cdx.json`, content: bill, mode: 0o644 },
    { path: `${DOC}/copyright`, content: copyright(build, all), mode: 0o644 },
  ]
}

/** Our terms and Node's; those of the libraries lie beside their code. */
function copyright({ root, runtime }: Build, all: readonly Library[]): string {
  const lines = all.map(({ name, version, license }) => `  ${name} ${version}: ${license}`)
  return [
    'feedsyncd\n',
    readFileSync(join(root, 'LICENSE'), 'utf8'),
    `The libraries, with their licences in ${HOME}/dist/LICENSES.txt and ${HOME}/${SQLITE}/LICENSE:\n`,
    `${lines.join('\n')}\n`,
    'On Debian the texts of common licences are in /usr/share/common-licenses.\n',
    `Node.js ${runtime.version} in ${HOME}/bin, with the parts that it holds:\n`,
    readFileSync(join(runtime.folder, 'LICENSE'), 'utf8'),
  ].join('\n')
}
