import { type ChildProcess, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import type { Command } from '../../helpers/command.ts'
import { eventually } from '../../helpers/eventually.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, SECRET, Site } from '../../helpers/site.ts'

/** Sends SIGHUP and waits for the line of the log that says how it went. */
function reload(site: Site, daemon: Command | ChildProcess, nth = 1): Promise<string> {
  daemon.kill('SIGHUP')
  return site.logged(daemon, '"event":"config.', nth)
}

describe('SIGHUP', () => {
  it('takes up new rules, guards and receivers without a restart', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    const daemon = await site.daemon()
    const paged = join(site.root, 'paged')
    const script = "process.stdin.pipe(require('fs').createWriteStream(process.argv[1]))"
    site.configure({
      feeds: [{ match: '{1}/*.xml', name: 'rule-{1}' }],
      guards: { minPostings: 5 },
      alerts: [{ on: ['held'], exec: [process.execPath, '-e', script, paged] }],
    })

    const line = await reload(site, daemon)
    site.drop('acme/a.xml', feedOf(3))
    await site.until('rule-acme', 'held')
    const look = () => expect(readFileSync(paged, 'utf8')).toContain('rule-acme held')
    await eventually(look)

    expect(JSON.parse(line)).toMatchObject({ msg: 'configuration reloaded', waiting: [] })
  })

  it('keeps all of what is in force when the file has a mistake, says which, and takes up the corrected one', async () => {
    await using site = await Site.open({ guards: { minPostings: 5 } }, { clock: quickClock() })
    const daemon = await site.daemon()
    site.configure({ guards: { minPostings: 1 }, upload: { concurrency: 0 } })

    const line = await reload(site, daemon)
    site.drop('a.xml', feedOf(3))
    await site.until('a.xml', 'held')
    site.configure({ guards: { minPostings: 1 } })
    const corrected = await reload(site, daemon, 2)
    site.drop('b.xml', feedOf(3))
    await site.until('b.xml', 'uploaded')

    expect(line).toContain('configuration not reloaded; the one in force stays')
    expect(corrected).toContain('"configuration reloaded"')
    expect(JSON.parse(line).problems[0]).toMatch(/upload\.concurrency: expected a whole number/)
    expect(daemon.output).toMatch(
      /^error: configuration not reloaded: .+\ntry: feedsyncd config check\n/m,
    )
  })

  it('says what to do about a file that cannot be read, where a check by root may find nothing', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    const daemon = await site.daemon()
    rmSync(site.configFile)
    mkdirSync(site.configFile)

    await reload(site, daemon)

    expect(daemon.output).toMatch(
      /^error: configuration not reloaded: .+ is a directory \(EISDIR\)\ntry: name the /m,
    )
  })

  it('says what to do about a history that cannot be written: the file has no mistake', async () => {
    const alerts = [{ on: ['rejected'], exec: ['/bin/true'] }]
    await using site = await Site.open({ alerts }, { clock: quickClock() })
    const daemon = await site.daemon()
    site.drop('a.xml', '<a></b>')
    await site.logged(daemon, '"event":"alert.sent"')
    await site.until('a.xml', 'rejected')
    site.configure({ alerts: [] })
    const other = new Database(join(site.root, 'state', 'feedsyncd.db'))
    other.exec('BEGIN IMMEDIATE')

    const line = await reload(site, daemon)
    other.exec('ROLLBACK')
    other.close()

    expect(JSON.parse(line).problems[0]).toContain('is locked by another process')
    expect(daemon.output).toMatch(/^error: configuration not reloaded: .+\ntry: Try again/m)
  })

  it.each(['configuration', 'key'])('never waits for a FIFO in place of the %s', async (which) => {
    await using site = await Site.open({ guards: { minPostings: 5 } }, { clock: quickClock() })
    const daemon = await site.daemonProcess()
    const file = which === 'key' ? join(site.root, 'service.key') : site.configFile
    rmSync(file)
    execFileSync('mkfifo', [file])

    daemon.kill('SIGHUP')
    if (which === 'key') await site.logged(daemon, 'is not a regular file')
    else expect(await reload(site, daemon)).toContain(`${file} is not a regular file`)
    site.drop('a.xml', feedOf(3))

    await site.until('a.xml', 'held')
  })

  it('names the keys that have no effect before a restart, and takes up the others', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    const daemon = await site.daemon()
    site.configure({
      inbox: { directory: './elsewhere', rescan: '2s', quietPeriod: '100ms' },
      guards: { minPostings: 5 },
      http: { listen: '127.0.0.1:0' },
    })

    const line = await reload(site, daemon)
    site.drop('a.xml', feedOf(3))
    await site.until('a.xml', 'held')

    expect(JSON.parse(line).waiting).toEqual(['inbox.directory', 'http.listen'])
    expect(daemon.output).toContain(
      'error: restart needed for inbox.directory, http.listen\ntry: systemctl',
    )
  })

  describe('leaves what belongs to keys that wait for a restart as it is until then:', () => {
    const PARTNER = { account: undefined, partner: 'acme', partnerAccount: '42' }
    const RULES = [{ match: 'test/*.xml', partnerAccount: '43' }]
    const identity = { partner: 'acme', partnerAccounts: ['42', '43'], secret: SECRET }

    const asked = (site: Site) =>
      site.sandbox.requests().flatMap(({ account, route }) => (route === 'presign' ? account : []))
    const left = (site: Site, ...names: string[]) =>
      names.filter((name) => existsSync(join(site.inbox, name)))

    it.each([
      ['another identity', { service: { account: '123' }, feeds: RULES }],
      ['files that are left out', { service: PARTNER, feeds: [], inbox: { exclude: ['test/**'] } }],
    ])('no feed goes to the account of another one (%s)', async (_, after) => {
      await using site = await Site.open(
        { service: PARTNER, feeds: RULES },
        { identity, clock: quickClock() },
      )
      const daemon = await site.daemon()
      site.configure(after)

      const line = await reload(site, daemon)
      site.drop('test/a.xml', feedOf(3))
      await site.until('test/a.xml', 'uploaded')

      expect(asked(site)).toEqual(['43'])
      expect(JSON.parse(line).waiting).toContain('feeds')
    })

    it('files of the folder before are neither deleted nor given receipts', async () => {
      await using site = await Site.open({}, { clock: quickClock() })
      const daemon = await site.daemon()
      site.drop('a.xml', feedOf(3))
      await site.until('a.xml', 'uploaded')
      site.configure({
        inbox: { directory: './elsewhere', afterUpload: 'delete', receipts: true },
      })

      const line = await reload(site, daemon)
      site.drop('b.xml', feedOf(3))
      await site.until('b.xml', 'uploaded')
      // The listing that finds it has looked at the other two.
      site.drop('c.xml', feedOf(3))
      await site.until('c.xml', 'uploaded')

      const waiting = ['inbox.directory', 'inbox.afterUpload', 'inbox.receipts']
      expect(JSON.parse(line).waiting).toEqual(waiting)
      expect(left(site, 'a.xml', 'b.xml', 'b.xml.receipt.json')).toEqual(['a.xml', 'b.xml'])
    })

    it('files go to no other archive than the one that the file names', async () => {
      await using site = await Site.open({}, { clock: quickClock() })
      const daemon = await site.daemon()
      site.drop('a.xml', feedOf(3))
      await site.until('a.xml', 'uploaded')
      site.configure({
        inbox: { afterUpload: 'archive', archiveDirectory: './kept' },
      })

      const line = await reload(site, daemon)
      site.drop('b.xml', feedOf(3))
      await site.until('b.xml', 'uploaded')
      await daemon.stop()
      await site.daemon()
      await eventually(() => expect(left(site, 'a.xml', 'b.xml')).toEqual([]))

      expect(JSON.parse(line).waiting).toEqual(['inbox.afterUpload', 'inbox.archiveDirectory'])
      expect(existsSync(join(site.root, 'state/archive'))).toBe(false)
    })
  })
})
