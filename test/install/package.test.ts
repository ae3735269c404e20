import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EXIT } from '../../src/cli/exit-codes.ts'
import { commandTable } from '../../systemd/package/command-table.ts'
import { launcher } from '../../systemd/package/entries.ts'
import { commandsPage } from '../../systemd/package/man-commands.ts'
import { configPage, keysOf } from '../../systemd/package/man-config.ts'
import { libraries, libraryFiles } from '../../systemd/package/modules.ts'
import { sbom } from '../../systemd/package/sbom.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')
const all = libraries(ROOT)

describe('what is shipped', () => {
  it('holds every library that the program imports', () => {
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    const imported = sources
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => [...read(`src/${name}`).matchAll(/(?:from |import\()'([^.'][^']*)'/g)])
      .map((found) => found[1] ?? '')
      .filter((name) => !name.startsWith('node:'))
    const shipped = all.map(({ name }) => name)

    expect(imported.length).toBeGreaterThan(0)
    expect(imported.filter((name) => !shipped.includes(name))).toEqual([])
  })

  it('holds every library that a shipped library needs, as it is locked', () => {
    const shipped = new Set(all.map(({ name }) => name))
    const needed = all.flatMap(({ folder }) =>
      Object.keys(JSON.parse(read(`${folder}/package.json`)).dependencies ?? {}),
    )

    expect(needed.filter((name) => !shipped.has(name))).toEqual([])
  })

  it('holds one native file, the licences that libraries bring, and no types, maps or tests', () => {
    const paths = libraryFiles(ROOT, all, 'linux-x64.node').map(({ path }) => path)

    expect(paths.filter((path) => path.endsWith('.node'))).toHaveLength(1)
    expect(paths.filter((path) => /\.(ts|map|c|h)$|README|\/tests?\//.test(path))).toEqual([])
    const licences = all.flatMap(({ folder }) =>
      readdirSync(join(ROOT, folder))
        .filter((name) => /^licen[cs]e/i.test(name))
        .map((name) => `/usr/lib/feedsyncd/${folder}/${name}`),
    )
    expect(licences.length).toBeGreaterThan(all.length - 4)
    expect(licences.filter((path) => !paths.includes(path))).toEqual([])
  })

  it('starts with the flags of the program itself, and with nothing but its own Node', () => {
    const main = read('src/main.ts')
    const flags = /node (.*)\n/.exec(main)?.[1] ?? ''

    const script = launcher(main)

    expect(flags).toContain('--disable-sigusr1')
    expect(script).toContain(` ${flags} /usr/lib/feedsyncd/dist/main.js "$@"`)
    expect(script).toMatch(/^#!\/bin\/sh\nexec env \w+=\d+ \/usr\/lib\/feedsyncd\/bin\/node /)
    expect(read('package.json')).toContain(flags)
  })
})

describe('the bill of materials', () => {
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

  it('is the same for the same parts, its serial number too', () => {
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

  it.each(Object.entries(pages))('%s is sound roff', (_name, text) => {
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
