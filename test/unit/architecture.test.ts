import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const SRC = join(import.meta.dirname, '..', '..', 'src')

interface Import {
  file: string
  target: string
  typeOnly: boolean
}

function sources(): string[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(SRC, file), 'utf8')
  const found: Import[] = []
  for (const match of text.matchAll(
    /^(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|import\('([^']+)'\)/gms,
  )) {
    const specifier = match[2] ?? match[3] ?? match[4] ?? ''
    const target = specifier.startsWith('.')
      ? relative(SRC, normalize(join(SRC, dirname(file), specifier)))
      : specifier
    if (target !== '../package.json') found.push({ file, target, typeOnly: match[1] !== undefined })
  }
  return found
}

const room = (path: string) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : path)
const isOurs = (target: string) => target.endsWith('.ts')
const all = sources().flatMap(importsOf)
const between = all.filter((one) => isOurs(one.target) && room(one.file) !== room(one.target))

/**
 * The rooms that each room may import. A room stands above all rooms that it imports. From the rooms in `types` it may
 * import only types, and from a feature only the types of its port file. Every room may import domain and lib.
 */
const RULES: Record<string, { imports: readonly string[]; types?: readonly string[] }> = {
  'main.ts': { imports: ['cli'] },
  cli: {
    imports: [
      ...['app', 'campaigns', 'config', 'history', 'ops', 'sandbox', 'service', 'terminal'],
    ],
    types: ['feed'],
  },
  app: {
    imports: [
      ...['campaigns', 'config', 'daemon', 'feed', 'history', 'inbox', 'ops', 'pipeline'],
      ...['service', 'spool', 'upload'],
    ],
  },
  daemon: {
    imports: ['history', 'inbox', 'pipeline'],
    types: ['config', 'feed', 'ops', 'spool', 'upload'],
  },
  campaigns: {
    imports: ['config', 'feed', 'history', 'ops', 'pipeline', 'service', 'terminal'],
  },
  terminal: { imports: ['config', 'ops'] },
  pipeline: { imports: ['feed', 'history'], types: ['config', 'inbox', 'spool', 'upload'] },
  ops: { imports: [], types: ['feed', 'history', 'inbox'] },
  history: { imports: [] },
  inbox: { imports: [] },
  upload: { imports: [], types: ['service'] },
  service: { imports: [] },
  spool: { imports: [] },
  feed: { imports: ['xml'] },
  xml: { imports: [] },
  sandbox: { imports: [] },
  config: { imports: [] },
  domain: { imports: [] },
  lib: { imports: [] },
}

/** Rooms that import only port files from each other. */
const FEATURES = Object.keys(RULES).slice(Object.keys(RULES).indexOf('ops'))

/** The file or folder that may import each third-party library. zod describes two files that people write. */
const OWNERS: Record<string, string | readonly string[]> = {
  'better-sqlite3': 'history/',
  chokidar: 'inbox/',
  'cli-truncate': 'terminal/text-layout.ts',
  commander: ['campaigns/', 'cli/', 'terminal/'],
  entities: 'campaigns/',
  'fast-xml-parser': 'upload/',
  leven: 'lib/nearest.ts',
  'p-retry': 'lib/retry.ts',
  picomatch: 'lib/glob.ts',
  pino: 'lib/log.ts',
  piscina: 'feed/',
  'prom-client': 'ops/metrics/',
  'string-width': 'terminal/text-layout.ts',
  undici: 'lib/http.ts',
  'wrap-ansi': 'terminal/text-layout.ts',
  yaml: 'lib/yaml.ts',
  zod: ['campaigns/', 'config/'],
}

describe('the layout', () => {
  it('has a rule for every room, and main.ts is the only file outside of a room', () => {
    expect([...new Set(sources().map(room))].sort()).toEqual(Object.keys(RULES).sort())
  })

  it('imports downwards', () => {
    const rooms = Object.keys(RULES)
    const upwards = between.filter(
      (one) => rooms.indexOf(room(one.target)) < rooms.indexOf(room(one.file)),
    )

    expect(between.length).toBeGreaterThan(100)
    expect(upwards).toEqual([])
  })

  it('imports from other rooms only what the table allows', () => {
    const wrong = between.filter((one) => {
      const target = room(one.target)
      const { imports, types } = RULES[room(one.file)] ?? { imports: [] }
      const shared = room(one.file) === 'lib' ? [] : ['domain', 'lib']
      const allowed = [...shared, ...imports, ...(one.typeOnly ? (types ?? []) : [])]
      return !allowed.includes(target)
    })

    expect(wrong).toEqual([])
  })

  it('lets a feature import only port types from other features', () => {
    const wrong = between.filter(
      (one) =>
        FEATURES.includes(room(one.file)) &&
        !['domain', 'lib', 'xml'].includes(room(one.target)) &&
        !(one.typeOnly && one.target.endsWith('/port.ts')),
    )

    expect(wrong).toEqual([])
  })

  it('lets the command line know one file of the campaigns, and the delivery none', () => {
    const known = between.filter(
      (one) => room(one.target) === 'campaigns' && !['app', 'campaigns'].includes(room(one.file)),
    )

    expect(new Set(known.map(({ file, target }) => `${room(file)}: ${target}`))).toEqual(
      new Set(['cli: campaigns/for-cli.ts']),
    )
  })

  it('decides about states in pure functions, and writes a state in one place', () => {
    const decide = all.filter(({ file }) => file.startsWith('pipeline/decide/'))
    const impure = decide.filter(
      ({ target, typeOnly }) =>
        !target.startsWith('pipeline/decide/') &&
        !['domain', 'lib'].includes(room(target)) &&
        !(typeOnly && target === 'history/port.ts'),
    )
    const moves = sources().filter((file) =>
      /\bhistory\.(move|startAttempt|endAttempt)\(/.test(readFileSync(join(SRC, file), 'utf8')),
    )

    expect(impure).toEqual([])
    expect(moves).toEqual(['history/transitions.ts'])
  })

  it('sends and reads files without the history', () => {
    const wrong = all.filter(
      ({ file, target }) =>
        ['upload', 'feed'].includes(room(file)) && target.startsWith('history/'),
    )

    expect(wrong).toEqual([])
  })

  it('has no import cycle between files, not even of types', () => {
    const next = new Map<string, string[]>()
    for (const { file, target } of all)
      if (isOurs(target)) next.set(file, [...(next.get(file) ?? []), target])
    const done = new Set<string>()
    const cycles: string[] = []
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
      if (done.has(file) || path.includes(file)) return
      for (const target of next.get(file) ?? []) visit(target, [...path, file])
      done.add(file)
    }
    for (const file of sources()) visit(file, [])

    expect(cycles).toEqual([])
  })

  it('builds adapters only in app: daemon and pipeline import ports and pure functions', () => {
    const adapters = between.filter(
      (one) =>
        ['daemon', 'pipeline'].includes(room(one.file)) &&
        !one.typeOnly &&
        room(one.target) !== 'lib' &&
        FEATURES.includes(room(one.target)) &&
        readFileSync(join(SRC, one.target), 'utf8').match(
          /from '(node:(fs|net|http|worker_threads)|better-sqlite3|chokidar|undici)/,
        ) !== null,
    )

    expect(adapters).toEqual([])
  })

  it('gives each third-party library one importing file or folder', () => {
    const wrong = all.filter((one) => {
      if (isOurs(one.target) || one.target.startsWith('node:')) return false
      const name = one.target.startsWith('@') ? one.target : (one.target.split('/')[0] ?? '')
      const owners = [OWNERS[name] ?? []].flat()
      return room(one.file) !== 'sandbox' && !owners.some((owner) => one.file.startsWith(owner))
    })

    expect(wrong).toEqual([])
  })

  it('keeps every source file within 330 lines', () => {
    const long = sources()
      .map((file) => [file, readFileSync(join(SRC, file), 'utf8').split('\n').length - 1] as const)
      .filter(([, lines]) => lines > 330)

    expect(long).toEqual([])
  })

  it('reads the clock and sets timers only in lib/clock.ts', () => {
    const wrong = sources().filter(
      (file) =>
        file !== 'lib/clock.ts' &&
        /\b(setTimeout|setInterval)\(|Date\.now\(|new Date\(\)/.test(
          readFileSync(join(SRC, file), 'utf8').replace(/^\s*(\/\/|\*).*$/gm, ''),
        ),
    )

    expect(wrong).toEqual([])
  })
})
