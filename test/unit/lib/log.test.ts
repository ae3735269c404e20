import { spawnSync } from 'node:child_process'
import { fstatSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createLog, type Log } from '../../../src/lib/log.ts'

const ROOT = join(import.meta.dirname, '../../..')
const SRC = join(ROOT, 'src')

/** The events of all log calls in the sources. */
const events = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.startsWith('sandbox/'))
  .flatMap((name) => [
    ...readFileSync(join(SRC, name), 'utf8').matchAll(
      /(?:event|archive|delete|quarantine): '([a-z]+\.[a-z-]+)'/g,
    ),
  ])
  .map((found) => found[1] ?? '')

async function logged(format: 'json' | 'text', act: (log: Log) => void): Promise<string> {
  let written = ''
  const write = (line: string) => {
    written += line
  }
  act(await createLog({ level: 'info', format, destination: { write } }))
  return written
}

/** asProcess runs a script in a child process and returns what it writes to stdout, which is a file. */
function asProcess(env: (stdout: string) => Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'feedsyncd-log-'))
  const file = join(folder, 'out')
  const out = openSync(file, 'w')
  const { dev, ino } = fstatSync(out)
  const script = `import { createLog } from '${SRC}/lib/log.ts'
    const log = await createLog({ level: 'info', format: 'auto' })
    log.info({ event: 'daemon.stopped' }, 'daemon stopped')
    log.error({ event: 'service.credentials', reason: 'no' }, 'credentials refused')`
  try {
    spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      ...{ stdio: ['ignore', out, 'inherit'], env: { ...process.env, ...env(`${dev}:${ino}`) } },
    })
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('the log', () => {
  it('writes each event as JSON with its code and its message', async () => {
    const line = await logged('json', (log) =>
      log.info({ event: 'feed.detected', id: 7 }, 'feed detected'),
    )

    expect(JSON.parse(line)).toEqual({
      ...{ level: 'info', event: 'feed.detected', id: 7, msg: 'feed detected' },
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
  })

  it('writes a readable line without the code on a terminal', async () => {
    const line = await logged('text', (log) =>
      log.warn({ event: 'feed.detected', id: 7, reason: 'two words' }, 'feed detected'),
    )

    expect(line).toMatch(/^\S+Z warn {2}feed detected {2}id=7 {2}reason="two words"\n$/)
  })

  it('begins lines with their priority only if journald reads them', () => {
    const journal = asProcess((stdout) => ({ JOURNAL_STREAM: stdout }))
    const other = asProcess(() => ({ JOURNAL_STREAM: '1:1' }))

    expect(journal.split('\n').map((line) => line.slice(0, 4))).toEqual(['<6>{', '<3>{', ''])
    expect(other.split('\n').map((line) => line.slice(0, 1))).toEqual(['{', '{', ''])
  })
})

it('docs/logs.md lists each event of the sources once', () => {
  const page = readFileSync(join(ROOT, 'docs/logs.md'), 'utf8')
  const rows = page.slice(page.indexOf('## Events')).split('\n')
  const documented = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map((found) => found[1]),
  )

  expect(documented.sort()).toEqual([...new Set(events)].sort())
})
