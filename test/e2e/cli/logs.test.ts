import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventuallyTrue } from '../../helpers/eventually.ts'
import { feedOf, Site } from '../../helpers/site.ts'

/** installJournal gives the site a journalctl that runs this script. */
function installJournal(site: Site, script: string): void {
  const bin = join(site.root, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'journalctl'), `#!/bin/sh\n${script}\n`)
  chmodSync(join(bin, 'journalctl'), 0o755)
  site.env = { PATH: `${bin}:${process.env.PATH}` }
}

describe('logs', () => {
  it('prints the log in plain sentences, whole or about one feed', async () => {
    await using site = await Site.open()
    site.drop('jobs.xml', feedOf(40))
    site.drop('other.xml', '<source><job>&</job></source>')
    const { stdout } = await site.run('run', '--once')
    const file = join(site.root, 'log')
    writeFileSync(file, `Started feedsyncd.service\n${stdout}`)

    const all = (await site.run('logs', '--file', file)).stdout
    const one = (await site.run('logs', 'jobs.xml', '--file', file)).stdout

    expect(all).toMatch(/^Started feedsyncd.service\n/)
    expect(all).toMatch(/^\S+Z warn {2}other\.xml rejected: line 1, column 14: "&" must be/m)
    expect(one).toMatch(/^\S+Z info {2}jobs\.xml uploaded: 40 postings, [\d.]+ KiB {2}id=\d+$/m)
    expect(one).not.toContain('other.xml')
  })

  it('of a pass have the id of the version and the feed in each line about a feed', async () => {
    await using site = await Site.open()
    site.drop('jobs.xml', feedOf(40))
    site.drop('other.xml', '<source><job>&</job></source>')

    const { stdout } = await site.run('run', '--once')

    const lines = stdout.split('\n').filter((text) => text.includes('"event":"feed.'))
    expect(lines.length).toBeGreaterThan(1)
    for (const line of lines)
      expect(JSON.parse(line)).toMatchObject({ id: expect.any(Number), feed: expect.any(String) })
  })

  it('reads the journal of the unit, and passes -f and --since to it', async () => {
    await using site = await Site.open()
    installJournal(site, 'echo "$@"')

    const { stdout } = await site.run('logs', '-f', '--since', 'today')

    expect(stdout).toBe('-u feedsyncd -o cat --no-pager -f --since today\n')
  })

  it('reads the journal of the instance that --config belongs to', async () => {
    await using site = await Site.open()
    installJournal(site, 'echo "$@"')

    const args = [site.program, 'logs', '--config', '/etc/feedsyncd/a/feedsyncd.yaml']
    const env = { ...process.env, ...site.env }
    const stdout = execFileSync(process.execPath, args, { encoding: 'utf8', env })

    expect(stdout).toBe('-u feedsyncd@a -o cat --no-pager\n')
  })

  it('says where the log is if the daemon writes it to a file, and how to read it', async () => {
    await using site = await Site.open()
    installJournal(site, 'echo "-- No entries --"')
    const file = join(site.root, 'daemon.log')
    const daemon = site.spawnBy(['sh', '-c', 'exec "$@" > "$0"', file], 'run')
    await eventuallyTrue(() => readFileSync(file, 'utf8').includes('daemon started'))

    const { code, stderr, stdout } = await site.run('logs')

    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toBe(
      `the daemon (pid ${daemon.pid}) writes its log to ${file}, not to the journal\n` +
        `try: feedsyncd logs --file ${file}\n`,
    )
  })

  it('says that the log is empty if no daemon runs, and where to look', async () => {
    await using site = await Site.open()
    installJournal(site, 'echo "-- No entries --"')

    const { code, stderr, stdout } = await site.run('logs')

    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toMatch(/^the log is empty\ntry: find out where the daemon logs: systemctl /)
  })

  it('says that the log has no line of a feed or of a version, and exits 64 for a feed that does not exist', async () => {
    await using site = await Site.open()
    installJournal(site, 'true')
    site.drop('jobs.xml', feedOf(1))
    await site.process('run', '--once')

    const known = await site.run('logs', 'jobs.xml')
    const version = await site.run('logs', '1')
    const mistyped = await site.run('logs', 'job.xml')

    expect([known.code, known.stderr]).toEqual([
      0,
      expect.stringMatching(
        /^the journal has no line about jobs\.xml\ntry: feedsyncd show jobs\.xml/,
      ),
    ])
    expect([version.code, version.stderr]).toEqual([0, expect.stringContaining('about 1\n')])
    expect([mistyped.code, mistyped.stderr]).toEqual([
      64,
      expect.stringMatching(
        /^error: no feed is named "job\.xml"; the nearest is "jobs\.xml"\ntry: feedsyncd logs jobs\.xml/,
      ),
    ])
  })

  it('refuses a missing file with 64, and says what to do', async () => {
    await using site = await Site.open()

    const { code, stderr } = await site.run('logs', '--file', 'mistyped')

    expect([code, stderr]).toEqual([
      64,
      'error: logs: there is no file mistyped\ntry: check the path\n',
    ])
  })

  it('refuses a directory with 1, and says what to do', async () => {
    await using site = await Site.open()

    const { code, stderr } = await site.run('logs', '--file', site.inbox)

    expect([code, stderr]).toEqual([
      1,
      `error: logs: ${site.inbox} is a directory (EISDIR)\n` +
        'try: put a file in its place, or correct --file\n',
    ])
  })

  it('exits 1 if the user may not read the journal, and names the group that may', async () => {
    await using site = await Site.open()
    installJournal(site, 'echo "insufficient permissions" >&2; exit 1')

    const { code, stderr } = await site.run('logs')

    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: logs: journalctl ended with 1\ntry: .+systemd-journal/m)
  })

  it('exits 1 on a host without journalctl, and says what to do', async () => {
    await using site = await Site.open()
    site.env = { PATH: site.root }

    const { code, stderr } = await site.run('logs')

    expect([code, stderr]).toEqual([
      1,
      'error: this host has no journalctl\n' +
        'try: pipe the log, such as: docker logs feedsyncd | feedsyncd logs --file -\n',
    ])
  })
})
