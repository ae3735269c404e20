// Numbers that no program expects, as broken file systems and wrong tools write them. The folder is a tmpfs, because
// other file systems shorten such times.

import { execFileSync } from 'node:child_process'
import { rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { untilSkipped } from '../../helpers/look.ts'
import { memoryFolder } from '../../helpers/memory-folder.ts'
import { feedOf, Site } from '../../helpers/site.ts'

/** Seconds since 1970: the largest number of a stat, one that is too large for SQLite, and two outside of any calendar. */
const TIMES = ['9223372036854775807', '4611686018427387904', '9000000000000', '-9000000000000']

async function siteInMemory(config: Record<string, unknown> = {}): Promise<Site> {
  const site = await Site.open(config)
  const folder = memoryFolder('feedsyncd-odd-')
  onTestFinished(() => rmSync(folder, { recursive: true }))
  rmdirSync(site.inbox)
  symlinkSync(folder, site.inbox)
  return site
}

const date = (site: Site, name: string, seconds: string) =>
  execFileSync('touch', ['-m', '-d', `@${seconds}`, join(site.inbox, name)])

describe('files with numbers far outside of any calendar or disk', () => {
  it('are sent like the ten feeds beside them, and each command answers without an internal error', async () => {
    await using site = await siteInMemory({ inbox: { receipts: true, afterUpload: 'archive' } })
    const odd = TIMES.map((_, n) => `odd-feed-${'abcd'[n]}.xml`)
    const usual = Array.from({ length: 10 }, (_, n) => `feed-${'abcdefghij'[n]}.xml`)
    for (const name of [...odd, ...usual]) writeFileSync(join(site.inbox, name), feedOf(2))
    for (const [n, name] of odd.entries()) date(site, name, TIMES[n] ?? '')
    writeFileSync(join(site.inbox, 'late.xml.part'), '')
    date(site, 'late.xml.part', TIMES[3] ?? '')
    await site.daemon()

    for (const name of [...odd, ...usual]) await site.until(name, 'uploaded')
    const commands = [['status'], ['status', '--json'], ['status', '--check'], ['show', '1']]
    commands.push(...odd.map((name) => ['show', name]), ['doctor', '--offline'])
    const answers = []
    for (const command of commands) answers.push({ command, ...(await site.run(...command)) })

    for (const { code, command, stderr, stdout } of answers) {
      expect([0, 1], command.join(' ')).toContain(code)
      expect(stdout + stderr, command.join(' ')).not.toMatch(/internal|Invalid|RangeError|NaN/)
    }
  })

  it('of the largest size wait for room, are unreadable for `check`, and the feed beside them is sent', async () => {
    await using site = await siteInMemory()
    writeFileSync(join(site.inbox, 'endless.xml'), feedOf(2))
    // The largest size that Linux knows.
    execFileSync('truncate', ['-s', '9223372036854775807', join(site.inbox, 'endless.xml')])
    site.drop('jobs.xml', feedOf(3))
    await site.daemon()

    await site.until('jobs.xml', 'uploaded')
    const check = await site.run('check', '--json', join(site.inbox, 'endless.xml'))
    const { stdout } = await site.run('status', '--json')

    expect(JSON.parse(check.stdout).files[0]).toMatchObject({
      ...{ verdict: 'unreadable', reason: 'it is larger than any feed can be' },
    })
    expect(stdout).toContain('not enough disk space for the copy')
  })
})

describe('a file that feedsyncd cannot record because of a fault of its own', () => {
  it('is skipped with the reason, keeps no other file from being sent, and is sent once the fault is over', async () => {
    await using site = await Site.open()
    await site.daemon()
    const database = new Database(join(site.root, 'state', 'feedsyncd.db'))
    const fails =
      "BEFORE INSERT ON versions WHEN NEW.path = 'odd.xml' BEGIN SELECT RAISE(ABORT, 'no row'); END"
    database.exec(`CREATE TRIGGER odd ${fails}`)
    const others = ['a.xml', 'm.xml', 'z.xml']
    for (const name of ['odd.xml', ...others]) site.drop(name, feedOf(2))

    for (const name of others) await site.until(name, 'uploaded')
    const { hint, reason } = await untilSkipped(site, 'odd.xml')
    const check = await site.run('status', '--check')
    database.exec('DROP TRIGGER odd')
    database.close()
    await site.until('odd.xml', 'uploaded')

    expect(reason).toContain('no row')
    expect(hint).toContain('report')
    expect(check).toMatchObject({ code: 1, stdout: expect.stringContaining('odd.xml') })
  })
})
