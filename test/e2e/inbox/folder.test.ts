// What lies in the vendor's folder besides good feeds, and what becomes of files whose story is over,
// against a running daemon.

import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { feedOf, Site } from '../../helpers/site.ts'
import { killed } from '../../nightly/crash-scenarios.ts'

const files = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort()

describe('names and kinds of files', () => {
  it('that are odd are no obstacle: each such feed is uploaded', async () => {
    await using site = await Site.open()
    await site.daemon()
    const names = [
      'two\nlines.xml',
      'deep\n/er/two\nlines.xml',
      `${'n'.repeat(251)}.xml`,
      `${'é'.repeat(125)}x.xml`,
      'a b\u202e"\'$(id);*?[x].xml',
      '-rf.xml',
      '%00 %2e%2e%2f.xml',
    ]

    mkdirSync(join(site.inbox, 'deep\n', 'er'), { recursive: true })
    for (const name of names) writeFileSync(join(site.inbox, name), feedOf(2))
    for (const name of names) await site.until(name, 'uploaded')
    const { stdout } = await site.run('status')

    expect(site.sandbox.objects()).toHaveLength(names.length)
    expect(stdout).toContain('two\\nlines.xml')
    expect(stdout.split('\n').filter((line) => line.startsWith('lines.xml'))).toEqual([])
  })

  it('that cannot be read as they are have a named reason, and are taken once they can', async () => {
    await using site = await Site.open()
    const outside = join(site.root, 'outside.xml')
    const at = (name: string) => join(site.inbox, name)
    writeFileSync(outside, feedOf(2))
    symlinkSync(outside, at('leaves.xml'))
    symlinkSync('nowhere', at('dangling.xml'))
    symlinkSync(site.root, at('directory'))
    execFileSync('mkfifo', [at('pipe.xml')])
    writeFileSync(
      Buffer.concat([Buffer.from(`${site.inbox}/caf`), Buffer.from([0xe9]), Buffer.from('.xml')]),
      feedOf(2),
    )
    await site.daemon()

    const reasons = async (name: string) => (await site.until(name, 'rejected')).reason
    const told = {
      leaves: await reasons('leaves.xml'),
      dangling: await reasons('dangling.xml'),
      pipe: await reasons('pipe.xml'),
      unnameable: await reasons('./caf%E9.xml'),
    }
    // What a listing found is written in two steps.
    await eventually(() => expect(statusOf(site).daemon.lastScanAt).not.toBeNull())
    const { stdout } = await site.run('status')
    unlinkSync(at('leaves.xml'))
    site.drop('leaves.xml', feedOf(2))
    await site.until('leaves.xml', 'uploaded')

    expect(told).toEqual({
      leaves: 'is a symbolic link, which is not followed',
      dangling: 'is a symbolic link, which is not followed',
      pipe: 'is not a regular file (fifo)',
      unnameable: 'has a name that is not valid UTF-8',
    })
    for (const reason of Object.values(told)) expect(stdout).toContain(reason)
    expect(stdout).toContain('rename it; its odd bytes are shown as %XX')
    expect(stdout).toContain('put the file or directory itself in its place')
    expect(stdout).toContain('1 symbolic link is not followed: directory\n')
    expect(stdout).not.toContain('ignored by name')
    expect(site.sandbox.objects()).toHaveLength(1)
  })

  it('nothing is written into the folder unless the configuration asks for it', async () => {
    await using site = await Site.open()
    await site.daemon()

    site.drop('good.xml', feedOf(2))
    site.drop('bad.xml', '<a></b>')
    await site.until('good.xml', 'uploaded')
    await site.until('bad.xml', 'rejected')

    expect(files(site.inbox)).toEqual(['bad.xml', 'good.xml'])
  })
})

describe('dispositions', () => {
  it('archive: what was uploaded moves there under the time, and never over what is there', async () => {
    await using site = await Site.open({
      inbox: { afterUpload: 'archive', archiveDirectory: './archive' },
    })
    await site.daemon()
    const archive = join(site.root, 'archive', 'acme')

    for (const [index, postings] of [4, 5].entries()) {
      site.drop('acme/jobs.xml', feedOf(postings))
      await eventually(() => expect(files(archive)).toHaveLength(index + 1))
    }

    const contents = files(archive).map((name) => readFileSync(join(archive, name), 'utf8'))
    expect(contents).toEqual([feedOf(4), feedOf(5)])
    await eventually(() => expect(files(site.inbox)).toEqual([]))
    expect(site.uploads({ all: true }).map(({ state }) => state)).toEqual(['uploaded', 'uploaded'])
  })

  it('delete: only the very bytes that were uploaded', async () => {
    await using site = await Site.open({ inbox: { afterUpload: 'delete' } })
    // The small one never comes to this byte.
    const gate = site.sandbox.faults.add({ at: 'storage', kind: 'gate-at-byte', fileByte: 20_000 })
    await site.daemon()
    site.drop('plain.xml', feedOf(2))
    site.drop('replaced.xml', feedOf(3000))
    await gate.held()

    // Other bytes, which are held: they stay.
    site.drop('replaced.xml', feedOf(9))
    await site.until('replaced.xml', 'held')
    gate.remove()
    await eventually(() => {
      expect(site.uploads({ states: ['uploaded'], all: true })).toHaveLength(2)
      expect(files(site.inbox)).toEqual(['replaced.xml'])
    })

    expect(readFileSync(join(site.inbox, 'replaced.xml'), 'utf8')).toBe(feedOf(9))
  })

  it('quarantine: what was rejected, but only once it was left alone for incompleteAfter', async () => {
    const inbox = { afterReject: 'quarantine', quarantineDirectory: './bad' }
    await using site = await Site.open({ inbox: { ...inbox, incompleteAfter: '1h' } })
    const daemon = await site.daemon()
    site.drop('broken.xml', '<a></b>')
    await site.until('broken.xml', 'rejected')
    const scan = () => statusOf(site).daemon.lastScanAt
    const before = scan()
    await eventually(() => expect(scan()).not.toBe(before))
    const kept = files(site.inbox)

    await daemon.stop()
    site.configure({ inbox: { ...inbox, incompleteAfter: '1s' } })
    await site.daemon()
    await eventually(() => expect(files(site.inbox)).toEqual([]))

    expect(kept).toEqual(['broken.xml'])
    expect(files(join(site.root, 'bad'))).toEqual([expect.stringMatching(/^broken\..*\.xml$/)])
  })

  it('archive: what a crash left half moved never comes back over a newer version', async () => {
    await using site = await Site.open()
    const [old, newer] = [feedOf(5, 'Old'), feedOf(6, 'Newer')]
    site.drop('jobs.xml', old)
    await site.run('run', '--once')
    site.configure({ inbox: { afterUpload: 'archive', archiveDirectory: './archive' } })
    const point = 'after rename inbox/jobs.xml to inbox/.jobs.xml.*.taken'
    const wasKilled = await killed(site, point)
    const half = files(site.inbox)
    site.drop('jobs.xml', newer)

    for (let pass = 0; pass < 3; pass++) await site.run('run', '--once')

    expect(wasKilled).toBe(true)
    expect(half).toEqual([expect.stringMatching(/^\.jobs\.xml\.[0-9a-f]{12}\.taken$/)])
    const uploaded = site.uploads({ all: true }).map(({ postings, state }) => [postings, state])
    expect(uploaded).toEqual([
      [6, 'uploaded'],
      [5, 'uploaded'],
    ])
    expect(files(site.inbox)).toEqual([])
    expect(files(join(site.root, 'archive'))).toHaveLength(2)
  })

  it('leave files alone that others named like ours, and none of these stops a scan', async () => {
    await using site = await Site.open({ inbox: { afterUpload: 'archive', receipts: true } })
    const at = (name: string) => join(site.inbox, name)
    execFileSync('mkfifo', [at('.fifo.xml.0123456789ab.taken')])
    symlinkSync('/dev/zero', at('.zero.xml.0123456789ab.taken'))
    writeFileSync(at('.plain.xml.0123456789ab.taken'), feedOf(2))
    writeFileSync(at('.0123456789ab.receipt.tmp'), '')
    execFileSync('truncate', ['-s', '1T', at('.huge.xml.0123456789ab.taken')])
    await site.daemon()

    for (const name of ['first.xml', 'second.xml']) {
      site.drop(name, feedOf(2))
      await site.until(name, 'uploaded')
      await eventually(() => expect(files(site.inbox)).not.toContain(name))
    }

    const hidden = () => readdirSync(site.inbox).filter((name) => name.startsWith('.'))
    // Ours are there for a moment, on the way to the archive.
    await eventually(() => {
      expect(hidden().sort()).toEqual([
        '.0123456789ab.receipt.tmp',
        '.fifo.xml.0123456789ab.taken',
        '.huge.xml.0123456789ab.taken',
        '.plain.xml.0123456789ab.taken',
        '.zero.xml.0123456789ab.taken',
      ])
    })
  })

  it('that are not possible are a condition, with the way out', async () => {
    await using site = await Site.open({
      inbox: { afterUpload: 'archive', archiveDirectory: './archive' },
    })
    writeFileSync(join(site.root, 'archive'), 'not a directory')
    await site.daemon()

    site.drop('jobs.xml', feedOf(2))
    await site.until('jobs.xml', 'uploaded')
    const condition = await eventually(() => {
      const [first] = statusOf(site).daemon.conditions
      if (first === undefined) throw new Error('there is none yet')
      return first
    })

    expect(condition).toMatchObject({
      code: 'dispositions-failing',
      message: 'files stay in the folder: archive is not possible (EEXIST)',
    })
    expect(files(site.inbox)).toEqual(['jobs.xml'])
  })

  it('receipts: beside each feed, with line and column, and never taken for feeds', async () => {
    await using site = await Site.open({ inbox: { receipts: true, include: ['**'] } })
    await site.daemon()
    const receipt = (name: string) =>
      JSON.parse(readFileSync(join(site.inbox, `${name}.receipt.json`), 'utf8'))

    site.drop('good.xml', feedOf(2))
    site.drop('bad.xml', '<a>\n<b></c>')
    const { sha256, fileUrl } = await site.until('good.xml', 'uploaded')
    await site.until('bad.xml', 'rejected')
    site.drop('later.xml', feedOf(3))
    await site.until('later.xml', 'uploaded')
    await eventually(() => {
      expect(['good.xml', 'later.xml', 'bad.xml'].map((name) => receipt(name).state)).toEqual([
        'uploaded',
        'uploaded',
        'rejected',
      ])
    })

    expect(receipt('good.xml')).toMatchObject({
      ...{ schemaVersion: 1, file: 'good.xml', state: 'uploaded', postings: 2, sha256, fileUrl },
    })
    expect(receipt('bad.xml')).toMatchObject({
      ...{ state: 'rejected', reasonCode: 'not-well-formed', line: 2, column: 4, fileUrl: null },
    })
    expect(receipt('good.xml')).toMatchObject({ reasonCode: null, line: null, column: null })
    expect(
      site
        .uploads({ all: true })
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['bad.xml', 'good.xml', 'later.xml'])
  })
})

describe('what became of a broken file', () => {
  const broken = '<source><job>&nbsp;</job></source>'
  const ALL = { feeds: [{ match: '*.xml', name: 'all' }] }

  it('stays rejected while one of two files with its bytes is there, and is gone with the last', async () => {
    await using site = await Site.open(ALL)
    const without = async (...left: string[]) => {
      for (const name of left) unlinkSync(join(site.inbox, name))
      await site.run('run', '--once')
      return site.uploads({ all: true }).map(({ state }) => state)
    }
    site.drop('a.xml', broken)
    site.drop('b.xml', broken)

    expect(await without()).toEqual(['rejected'])
    expect(await without('a.xml')).toEqual(['rejected'])
    expect((await site.run('status', '--check')).stdout).toMatch(/rejected/)
    expect(await without('b.xml')).toEqual(['gone'])
  })

  it('is gone when both files leave at once', async () => {
    await using site = await Site.open(ALL)
    site.drop('a.xml', broken)
    site.drop('b.xml', broken)
    await site.run('run', '--once')

    for (const name of ['a.xml', 'b.xml']) unlinkSync(join(site.inbox, name))
    await site.run('run', '--once')

    expect(site.uploads({ all: true }).map(({ state }) => state)).toEqual(['gone'])
  })

  it('is gone when a good one took its place as a version of another feed, by a new rule', async () => {
    await using site = await Site.open()
    site.drop('jobs.xml', broken)
    await site.run('run', '--once')

    site.configure(ALL)
    site.drop('jobs.xml', feedOf(2))
    await site.run('run', '--once')
    const { code, stdout } = await site.run('status', '--check')

    expect(stdout).not.toMatch(/rejected/)
    expect(code).toBe(0)
    expect(site.uploads({ feed: 'jobs.xml' })[0]?.state).toBe('gone')
    expect(site.uploads({ feed: 'all' })[0]?.state).toBe('uploaded')
  })
})
