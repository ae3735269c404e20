import { execFile, execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { EXIT } from '../../src/lib/errors.ts'
import { commandTable } from '../../systemd/package/command-table.ts'
import { documents, launcher, sqliteFiles } from '../../systemd/package/contents.ts'
import { library } from '../../systemd/package/library.ts'
import { commandsPage } from '../../systemd/package/man-commands.ts'
import { configPage, keysOf } from '../../systemd/package/man-config.ts'
import { packDeb, packTarball, requireTools } from '../../systemd/package/pack.ts'
import { sbom } from '../../systemd/package/sbom.ts'
import { Tree } from '../../systemd/package/tree.ts'
import { feedOf, MAIN, Site } from '../helpers/site.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')
const SQLITE = 'node_modules/better-sqlite3'

describe('the shipped program', () => {
  it('runs with only one library beside it, even for Chinese names, and caches its compiled code', async () => {
    await using site = await Site.open()
    site.drop('漢字.xml', feedOf(2))
    cpSync(dirname(MAIN), join(site.root, 'dist'), { recursive: true })
    for (const path of sqliteFiles(ROOT, process.arch)) {
      cpSync(join(ROOT, path), join(site.root, path))
    }
    const program = join(site.root, 'dist/main.js')
    const { NODE_COMPILE_CACHE: _, ...inherited } = process.env
    const env = { ...inherited, FEEDSYNCD_CONFIG: site.configFile }
    const run = promisify(execFile)
    const answer = async (...args: string[]) =>
      (await run(process.execPath, [program, ...args], { env })).stdout

    await answer('run', '--once')
    expect(await answer('status')).toContain('漢字.xml')
    expect(await answer('--help')).toContain('campaigns')
    expect(existsSync(join(site.root, 'node_modules/.cache'))).toBe(true)
  })

  it('names every library inside it, with its version, its licence and the text of licences', () => {
    const licences = readFileSync(join(dirname(MAIN), 'LICENSES.txt'), 'utf8')
    const sources = globSync('src/**/*.ts', { cwd: ROOT }).map(read)
    const imported = sources
      .flatMap((text) => [...text.matchAll(/^(?!import type).*from '([a-z][^':]*)'/gm)])
      .map(([, name = '']) => `node_modules/${name}`)
      .filter((folder) => folder !== SQLITE)

    expect(imported.length).toBeGreaterThan(10)
    for (const folder of imported) {
      const { name, version, license } = library(ROOT, folder)
      expect(licences).toContain(`${name} ${version} (${license})`)
    }
    expect(licences).toContain('Permission is hereby granted')
  })

  it('holds one native file, the licence of its library, and no sources', () => {
    const paths = sqliteFiles(ROOT, 'x64')

    expect(paths.filter((path) => path.endsWith('.node'))).toHaveLength(1)
    expect(paths.filter((path) => path.endsWith('/LICENSE'))).toHaveLength(1)
    expect(paths.filter((path) => !/(\.node|\.js|\/package\.json|\/LICENSE)$/.test(path))).toEqual(
      [],
    )
  })

  it('holds every file that its pages link to', () => {
    const shipped = documents(ROOT)
    const links = shipped
      .filter((path) => path.endsWith('.md'))
      .flatMap((page) =>
        [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link = '']) =>
          join(dirname(page), link),
        ),
      )

    expect(links).toContain('docs/runbook.md')
    expect(links.filter((link) => !shipped.includes(link))).toEqual([])
  })

  it('has a changelog that begins with the current version', () => {
    const { version } = JSON.parse(read('package.json'))
    const [, newest = ''] = /^## (\S+)/m.exec(read('CHANGELOG.md')) ?? []

    expect(newest).toBe(version)
  })

  it('starts its own Node with the flags of src/main.ts', () => {
    const main = read('src/main.ts')
    const flags = /node (.*)\n/.exec(main)?.[1] ?? ''

    const script = launcher(main)

    expect(flags).toContain('--disable-sigusr1')
    expect(script).toContain(` ${flags} /usr/lib/feedsyncd/dist/main.js "$@"`)
    expect(script).toMatch(/^#!\/bin\/sh\nexec env (\w+=\d+ )+\/usr\/lib\/feedsyncd\/bin\/node /)
  })
})

describe('packing', () => {
  it('makes the same bytes from the same files in another order and with other dates, owned by root, with a fixed date', () => {
    const folder = mkdtempSync(join(tmpdir(), 'feedsyncd-pack-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const packed = ['first', 'second'].map((name) => {
      const tree = new Tree(join(folder, name))
      const files = ['usr/bin/program', 'usr/share/zsh/vendor-completions/_it', 'usr/lib/a/b']
      for (const path of name === 'first' ? files : files.toReversed()) {
        tree.write(path, path, path.includes('/bin/') ? 0o755 : 0o644)
        utimesSync(join(tree.root, path), 1.8e9, name === 'first' ? 1.8e9 : 1.9e9)
      }
      const packing = { version: '1.2.3-1', arch: 'x64', epoch: 1.7e9, quick: true } as const
      packTarball(tree, `${tree.root}.tar.gz`, packing)
      packDeb(tree, `${tree.root}.deb`, packing)
      return ['.tar.gz', '.deb'].map((ending) => readFileSync(tree.root + ending))
    })

    expect(packed[0]).toEqual(packed[1])
    const list = (program: string, ...args: string[]) =>
      execFileSync(program, args, {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, TZ: 'UTC' },
      })
    expect(list('tar', '-tvzf', 'first.tar.gz').trim().split('\n')).toEqual([
      expect.stringMatching(/^-rwxr-xr-x 0\/0 .* 2023-11-14 22:13 usr\/bin\/program$/),
      expect.stringMatching(/^-rw-r--r-- 0\/0 .* usr\/lib\/a\/b$/),
      expect.stringMatching(/ usr\/share\/zsh\/site-functions\/_it$/),
    ])
    const deb = list('dpkg-deb', '--contents', 'first.deb')
    expect(deb).toMatch(/-rwxr-xr-x root\/root .* 2023-11-14 22:13 \.\/usr\/bin\/program\n/)
    expect(deb.match(/vendor-completions\/_it/g)).toHaveLength(1)
    expect(list('dpkg-deb', '--field', 'first.deb', 'Version')).toBe('1.2.3-1\n')
  })

  it('names the Debian package of a program that is missing', () => {
    expect(() => requireTools({ 'no-such-tool': 'no-tools' })).toThrow(
      'no-such-tool is missing: apt-get install no-tools',
    )
  })
})

describe('the bill of materials', () => {
  const all = [SQLITE, 'node_modules/pino'].map((folder) => library(ROOT, folder))
  const facts = { version: '1.2.3', libraries: all, sqlite: '3.50.0', epoch: 1_700_000_000 }
  const bill = () => sbom({ ...facts, node: { version: '24.1.0', sha256: 'ab'.repeat(32) } })

  it('names every library with its checksum, the private Node, and the SQLite inside', () => {
    const { components } = JSON.parse(bill())

    const names = components.map((one: { name: string }) => one.name)
    expect(names).toEqual([...all.map(({ name }) => name), 'node', 'sqlite'])
    const hashed = components.filter((one: { hashes?: { content: string }[] }) =>
      /^[0-9a-f]{64,128}$/.test(one.hashes?.[0]?.content ?? ''),
    )
    expect(hashed).toHaveLength(names.length - 1)
  })

  it('is the same for the same parts, including its serial number, which is a UUID', () => {
    expect(bill()).toBe(bill())
    expect(JSON.parse(bill()).serialNumber).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
  })
})

describe('the manual', () => {
  const pages = {
    'feedsyncd.1': commandsPage(commandTable.program(), '1.2.3', '2026-11-21'),
    'feedsyncd.yaml.5': configPage('1.2.3', '2026-11-21'),
  }

  it('has every command with each of its options, and every exit code', () => {
    const text = pages['feedsyncd.1'].replaceAll('\\-', '-')
    const visit = (command: ReturnType<typeof commandTable.program>): string[] => [
      ...command.options.map(({ flags }) => `.B "${flags}"`),
      ...command.commands.flatMap((inner) =>
        inner.commands.length > 0 ? visit(inner) : [`${inner.name()}`, ...visit(inner)],
      ),
    ]

    const wanted = [
      ...visit(commandTable.program()),
      ...Object.values(EXIT).map((n) => `.B "${n}"`),
    ]
    expect(wanted.filter((words) => !text.includes(words))).toEqual([])
  })

  it('has every key of the configuration', () => {
    const text = pages['feedsyncd.yaml.5'].replaceAll('\\-', '-')
    const keys = keysOf(JSON.parse(read('config/feedsyncd.schema.json'))).map(({ name }) => name)

    expect(keys).toContain('service.auth.keyFile')
    expect(keys).toContain('feeds[].match')
    expect(keys.filter((name) => !text.includes(`.B "${name}"`))).toEqual([])
  })

  it.each(Object.entries(pages))('%s is valid roff', (_name, text) => {
    expect(text.split('\n').filter((line) => /^[.']/.test(line) && !MACRO.test(line))).toEqual([])
    const checkers: [string, string[]][] = [
      ['groff', ['-man', '-Tutf8', '-ww', '-z']],
      ['mandoc', ['-Tlint', '-Wwarning']],
    ]
    for (const [program, args] of checkers) {
      const { error, stdout, stderr } = spawnSync(program, args, { input: text, encoding: 'utf8' })
      if (error === undefined) expect(stdout + stderr).toBe('')
    }
  })
})

const MACRO = /^\.(TH|SH|SS|PP|TP|B|RS|RE|nf|fi|nh|ad)( |$)/
