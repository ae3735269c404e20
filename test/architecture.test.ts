import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const SRC = join(import.meta.dirname, '..', 'src')

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
    found.push({ file, target, typeOnly: match[1] !== undefined })
  }
  return found
}

const area = (path: string) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : path)
const isOurs = (target: string) => target.endsWith('.ts') || target.endsWith('.json')
const all = sources().flatMap(importsOf)
const ours = all.filter((i) => isOurs(i.target) && area(i.file) !== area(i.target))

/** From the top down; the daemon's two halves stand side by side. */
const LAYERS = [
  ['main.ts'],
  ['cli'],
  ['app.ts'],
  [
    ...['app-reconcile.ts', 'app-tools.ts', 'app-campaigns.ts', 'app-decisions.ts'],
    ...['app-preview.ts', 'app-doctor.ts'],
  ],
  ['daemon.ts'],
  ['intake.ts', 'deliveries.ts', 'reconciling.ts', 'upkeep.ts'],
  ['pipeline.ts'],
  [
    'aftercare.ts',
    'guard.ts',
    'noticing.ts',
    'outcomes.ts',
    'refusals.ts',
    'resuming.ts',
    'clock-follower.ts',
    'drain.ts',
    'halt.ts',
  ],
]

const FEATURES = ['inbox', 'feed', 'upload', 'service', 'history', 'campaigns', 'ops']

/** Each third-party library and the one file or folder that may import it (design section 2). */
const OWNERS: Record<string, string> = {
  'better-sqlite3': 'history/',
  chokidar: 'inbox/',
  commander: 'cli/',
  'fast-xml-parser': 'upload/',
  'p-retry': 'upload/',
  picomatch: 'lib/glob.ts',
  pino: 'lib/log.ts',
  'prom-client': 'ops/',
  'string-width': 'cli/columns.ts',
  undici: 'lib/http.ts',
  yaml: 'lib/yaml.ts',
  zod: 'config/',
}

describe('the layout', () => {
  it('lets lib import nothing of ours', () => {
    expect(ours.filter((i) => area(i.file) === 'lib')).toEqual([])
  })

  it('lets the check of XML import nothing of ours: it knows neither feeds nor files', () => {
    expect(ours.filter((i) => area(i.file) === 'xml')).toEqual([])
  })

  it('lets a feature import lib, feed the check of XML as well, and of other features only port types', () => {
    const wrong = ours.filter(
      (i) =>
        FEATURES.includes(area(i.file)) &&
        area(i.target) !== 'lib' &&
        !(area(i.file) === 'feed' && area(i.target) === 'xml') &&
        !(i.typeOnly && i.target.endsWith('/port.ts')),
    )

    expect(wrong).toEqual([])
  })

  it('keeps the sandbox apart, so that the client is never tested against its own helpers', () => {
    const inward = ours.filter((i) => area(i.file) === 'sandbox' && area(i.target) !== 'lib')
    const outward = ours.filter(
      (i) => area(i.target) === 'sandbox' && !['app.ts', 'cli'].includes(area(i.file)),
    )

    expect(inward).toEqual([])
    expect(outward).toEqual([])
  })

  it('imports downwards: main, cli, app, daemon, pipeline, features', () => {
    const rank = (path: string) => LAYERS.findIndex((layer) => layer.includes(area(path)))
    const upward = ours.filter((i) => {
      const from = rank(i.file)
      const to = rank(i.target)
      return to !== -1 && (from === -1 || to < from)
    })

    expect(upward).toEqual([])
  })

  it('builds adapters in app.ts alone: what lies below sees ports and pure functions', () => {
    const adapters = ours.filter(
      (i) =>
        LAYERS.slice(4).flat().includes(area(i.file)) &&
        !i.typeOnly &&
        FEATURES.includes(area(i.target)) &&
        readFileSync(join(SRC, i.target), 'utf8').match(
          /from '(node:(fs|net|http|worker_threads)|better-sqlite3|chokidar|undici)/,
        ) !== null,
    )

    expect(adapters).toEqual([])
  })

  it('gives each third-party library one importing file or folder', () => {
    const wrong = all.filter((i) => {
      if (isOurs(i.target) || i.target.startsWith('node:')) return false
      const name = i.target.startsWith('@') ? i.target : (i.target.split('/')[0] ?? '')
      const owner = OWNERS[name]
      return area(i.file) !== 'sandbox' && (owner === undefined || !i.file.startsWith(owner))
    })

    expect(wrong).toEqual([])
  })

  it('keeps every source file within 300 lines', () => {
    const long = sources()
      .map((file) => [file, readFileSync(join(SRC, file), 'utf8').split('\n').length - 1] as const)
      .filter(([, lines]) => lines > 300)

    expect(long).toEqual([])
  })

  it('reads the clock and sets timers in lib/clock.ts alone', () => {
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
