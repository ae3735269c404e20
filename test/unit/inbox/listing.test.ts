import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { lookAtPaths, walk } from '../../../src/inbox/listing.ts'
import { Mounts } from '../../../src/inbox/mounts.ts'
import { createNameFilter } from '../../../src/inbox/name-filter.ts'
import {
  openInbox,
  pathsOf,
  put,
  reasonsOf,
  temporaryFolder,
  unprivileged,
} from '../../helpers/inbox/harness.ts'

const WALK = {
  filter: createNameFilter({ include: ['**/*.xml'], exclude: [] }),
  asks: () => {},
  isHung: () => false,
}

describe('listing the folder', () => {
  it('finds the feeds at every depth, with the identity of each', async () => {
    const folder = temporaryFolder()
    put(folder, 'jobs.xml')
    put(folder, 'acme/europe/jobs.xml', '<jobs/>')

    const listing = await openInbox(folder).list()

    expect(listing.folder).toEqual({ kind: 'ready' })
    expect(pathsOf(listing)).toEqual(['acme/europe/jobs.xml', 'jobs.xml'])
    const identityWith = (size: number) => ({
      dev: expect.stringMatching(/^\d+$/),
      ino: expect.stringMatching(/^\d+$/),
      size,
      mtimeNs: expect.stringMatching(/^\d{19}$/),
      ctimeNs: expect.stringMatching(/^\d{19}$/),
    })
    const at = (path: string) => listing.files.find((file) => file.path === path)?.identity
    expect(at('acme/europe/jobs.xml')).toEqual(identityWith(7))
    expect(at('jobs.xml')).toEqual(identityWith(4))
  })

  it('goes 32 directories deep, and skips the first deeper directory with the reason', async () => {
    const folder = temporaryFolder()
    const deep = Array.from({ length: 32 }, () => 'd').join('/')
    put(folder, `${deep}/jobs.xml`)
    put(folder, `${deep}/e/jobs.xml`)
    put(folder, `${deep}/e/f/jobs.xml`)

    const listing = await openInbox(folder).list()

    expect(pathsOf(listing)).toEqual([`${deep}/jobs.xml`])
    expect(reasonsOf(listing)).toEqual({
      [`${deep}/e/`]: 'it lies more than 32 directories deep',
    })
  })

  it('contains the known object of an unchanged file, and a new identity after a change in place', async () => {
    const folder = temporaryFolder()
    put(folder, 'same.xml')
    put(folder, 'changed.xml', '<jobs/>')
    const inbox = openInbox(folder)
    const known = new Map((await inbox.list()).files.map((file) => [file.path, file]))

    put(folder, 'changed.xml', '<jobs></jobs>')
    const listing = await inbox.list((path) => known.get(path) ?? null)

    const at = (path: string) => listing.files.find((file) => file.path === path)
    expect(at('same.xml')).toBe(known.get('same.xml'))
    expect(at('changed.xml')?.identity).not.toEqual(known.get('changed.xml')?.identity)
  })

  it('lists no file that is not included, excluded or below a hidden directory, and names only the first as ignored', async () => {
    const folder = temporaryFolder()
    for (const path of ['a.xml', 'notes.txt', 'old/b.xml', 'draft-c.xml', '.git/d.xml'])
      put(folder, path)

    const listing = await openInbox(folder, { exclude: ['old/**', 'draft-*'] }).list()

    expect(pathsOf(listing)).toEqual(['a.xml'])
    expect(listing.skipped).toEqual([])
    expect(listing.ignored).toEqual(['notes.txt'])
  })

  it('names the rule that ignores a path', () => {
    const exclude = ['old/**', 'draft-*']
    const filter = createNameFilter({ include: ['**/*.xml'], exclude })

    expect(filter.ignored('a.xml')).toBeNull()
    expect(filter.ignored('notes.txt')).toEqual({
      rule: 'not-included',
      patterns: ['**/*.xml'],
    })
    expect(filter.ignored('old/b.xml')).toEqual({ rule: 'excluded', pattern: 'old/**' })
    expect(filter.ignored('draft-c.xml')).toEqual({ rule: 'excluded', pattern: 'draft-*' })
    expect(filter.ignored('.git/d.xml')).toEqual({ rule: 'temporary-name', pattern: '.*/**' })
    expect(filter.ignored('d.xml.part')).toEqual({ rule: 'temporary-name', pattern: '*.part' })
  })

  it('does not apply a pattern for files to directories', async () => {
    const folder = temporaryFolder()
    put(folder, 'acme/jobs.xml')
    put(folder, 'jobs.xml')

    const listing = await openInbox(folder, { exclude: ['*'] }).list()

    expect(pathsOf(listing)).toEqual(['acme/jobs.xml'])
  })

  it('skips every link, whatever its name, and follows none', async () => {
    const folder = temporaryFolder()
    const outside = temporaryFolder()
    put(outside, 'secret.xml')
    put(folder, 'real.xml')
    symlinkSync('real.xml', join(folder, 'to-file.xml'))
    symlinkSync(join(outside, 'secret.xml'), join(folder, 'to-outside.xml'))
    symlinkSync('nowhere', join(folder, 'dangling.xml'))
    symlinkSync('loop.xml', join(folder, 'loop.xml'))
    symlinkSync(outside, join(folder, 'to-directory'))
    symlinkSync('.', join(folder, 'to-itself'))

    const listing = await openInbox(folder).list()

    const reason = 'it is a symbolic link, which is not followed'
    expect(pathsOf(listing)).toEqual(['real.xml'])
    expect(reasonsOf(listing)).toEqual({
      'dangling.xml': reason,
      'loop.xml': reason,
      'to-file.xml': reason,
      'to-outside.xml': reason,
      'to-directory': reason,
      'to-itself': reason,
    })
    expect(listing.ignored).toEqual([])
  })

  it('never leaves the folder through a directory that becomes a link during the listing, and its files are unknown', async () => {
    const folder = temporaryFolder()
    const outside = temporaryFolder()
    for (const path of ['a/b/jobs.xml', 'a/c/jobs.xml']) {
      put(folder, path)
      put(outside, path.slice(2).replace('jobs', 'secret'))
    }
    let swapped = 0
    const asks = (path: string) => {
      if (!path.endsWith('.xml') || swapped++ > 0) return
      renameSync(join(folder, 'a'), join(outside, 'moved'))
      symlinkSync(outside, join(folder, 'a'))
    }

    const listing = walk({ ...WALK, directory: folder, mounts: new Mounts(), asks })

    expect(swapped).toBe(1)
    expect(listing.files).toEqual([])
    expect(listing.unknown).toHaveLength(1)
  })

  it('skips a fifo and a socket without opening them, and takes a hard link', async () => {
    const folder = temporaryFolder()
    execFileSync('mkfifo', [join(folder, 'pipe.xml')])
    const server = createServer().listen(join(folder, 'socket.xml'))
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    linkSync(put(folder, 'a.xml'), join(folder, 'b.xml'))

    const listing = await openInbox(folder).list()

    expect(reasonsOf(listing)).toEqual({
      'pipe.xml': 'it is not a regular file (fifo)',
      'socket.xml': 'it is not a regular file (socket)',
    })
    expect(pathsOf(listing)).toEqual(['a.xml', 'b.xml'])
  })

  it('accepts names with newlines, quotes, odd spaces, and of 255 bytes', async () => {
    const folder = temporaryFolder()
    const names = [
      'two\nlines.xml',
      `"quoted" 'name'.xml`,
      ' \t .xml',
      '*?[a].xml',
      '\\back.xml',
      'caf\u00e9.xml',
      'cafe\u0301.xml',
      'already \uFFFD.xml',
      `${'é'.repeat(125)}x.xml`,
    ]
    for (const name of names) put(folder, name)

    const listing = await openInbox(folder).list()

    expect(pathsOf(listing)).toEqual([...names].sort())
    expect(listing.skipped).toEqual([])
  })

  it('skips a name that is not UTF-8 in each listing, with a unique path and the hint to rename it', async () => {
    const folder = temporaryFolder()
    const bytes = (name: string) =>
      Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')])
    writeFileSync(bytes('caf\xE9.xml'), '<a/>')
    writeFileSync(bytes('na\xEFve%.xml'), '<a/>')
    mkdirSync(bytes('dir\xFF'))
    put(folder, 'caf%E9.xml')
    put(folder, 'ça.xml')

    const inbox = openInbox(folder)
    const listing = await inbox.list()
    rmSync(join(folder, 'caf%E9.xml'))
    const later = await inbox.list()

    const reason = 'it has a name that is not valid UTF-8'
    expect(pathsOf(listing)).toEqual(['caf%E9.xml', 'ça.xml'])
    expect(reasonsOf(listing)).toEqual({
      './caf%E9.xml': reason,
      './na%EFve%25.xml': reason,
      './dir%FF/': reason,
    })
    expect(reasonsOf(later)).toEqual(reasonsOf(listing))
    expect(listing.skipped.every(({ hint }) => hint.startsWith('rename it'))).toBe(true)
  })

  it('skips an unreadable directory with its reason, and its files are unknown, not gone', async () => {
    const folder = temporaryFolder()
    put(folder, 'open/a.xml')
    put(folder, 'closed/b.xml')
    const inbox = openInbox(folder)
    await inbox.list()
    chmodSync(join(folder, 'closed'), 0)

    const listing = await unprivileged(() => inbox.list())

    expect(listing.folder).toEqual({ kind: 'ready' })
    expect(pathsOf(listing)).toEqual(['open/a.xml'])
    expect(listing.unknown).toEqual(['closed/'])
    expect(reasonsOf(listing)).toEqual({
      'closed/': 'it may not be read by this user (EACCES)',
    })
  })

  it('reports an unreadable mount point once, as unreadable, and a mount point that is gone as not mounted', async () => {
    const folder = temporaryFolder()
    put(folder, 'closed/b.xml')
    chmodSync(join(folder, 'closed'), 0)
    const known = ['closed/', 'away/'].map((prefix) => [prefix, 1n] as const)
    const mounts = new Mounts(new Map(known))

    const found = await unprivileged(async () => walk({ ...WALK, directory: folder, mounts }))

    expect(found.skipped.map(({ path, reason }) => [path, reason])).toEqual([
      ['closed/', 'it may not be read by this user (EACCES)'],
      ['away/', 'its own file system is not mounted now'],
    ])
    expect(found.unknown).toEqual(['closed/', 'away/'])
  })

  it('skips a whole directory that can be read but not entered, and its files are unknown', async () => {
    const folder = temporaryFolder()
    put(folder, 'closed/a.xml')
    put(folder, 'closed/b.xml')
    chmodSync(join(folder, 'closed'), 0o444)

    const listing = await unprivileged(() => openInbox(folder).list())

    expect(listing.files).toEqual([])
    expect(Object.keys(reasonsOf(listing))).toEqual(['closed/'])
    expect(listing.unknown).toEqual(['closed/'])
  })

  it('skips a directory that lies deeper than a path can name, its files are unknown, and lists the rest', async () => {
    const folder = temporaryFolder()
    const deep = Array(10).fill('d'.repeat(250)).join('/')
    put(folder, 'a.xml')
    mkdirSync(join(folder, deep), { recursive: true })
    put(folder, `other/${deep}/b.xml`)
    const halves = [join(folder, 'other'), join(folder, deep, 'other')] as const
    renameSync(...halves)
    onTestFinished(() => renameSync(halves[1], halves[0]))

    const listing = await openInbox(folder).list()

    expect(pathsOf(listing)).toEqual(['a.xml'])
    expect(Object.values(reasonsOf(listing))).toEqual([
      'it has a name that is too long (ENAMETOOLONG)',
    ])
    expect(listing.unknown).toEqual([expect.stringMatching(/^(d{250}\/)+other\/(d{250}\/)+$/)])
  })

  it('reports temporary names with their mtime, unless the configuration excludes them', async () => {
    const folder = temporaryFolder()
    for (const name of ['.jobs.xml.AbC123', 'jobs.xml.filepart', '.DS_Store']) put(folder, name)

    const listing = await openInbox(folder, { exclude: ['**/.DS_Store'] }).list()

    expect(listing.temporary.map(({ path }) => path).sort()).toEqual([
      '.jobs.xml.AbC123',
      'jobs.xml.filepart',
    ])
    expect(listing.temporary[0]?.mtimeMs).toBeGreaterThan(1e12)
  })

  it('adds no file to the folder that is watched and listed', async () => {
    const folder = temporaryFolder()
    put(folder, 'a.xml')
    const inbox = openInbox(folder)

    await inbox.watch(() => {})
    await inbox.list()

    expect(readdirSync(folder)).toEqual(['a.xml'])
  })
})

describe('looking at single paths', () => {
  it('returns what is at each path now', async () => {
    const folder = temporaryFolder()
    put(folder, 'a.xml')
    put(folder, 'sub/b.xml')
    symlinkSync('a.xml', join(folder, 'link.xml'))
    const inbox = openInbox(folder)
    const listing = await inbox.list()

    const seen = await inbox.look(['a.xml', 'sub/b.xml', 'link.xml', 'gone.xml', 'a.xml/below.xml'])

    expect(seen.get('a.xml')).toEqual(listing.files.find(({ path }) => path === 'a.xml'))
    expect(seen.get('sub/b.xml')).toEqual(listing.files.find(({ path }) => path === 'sub/b.xml'))
    expect(seen.get('link.xml')).toMatchObject({ reason: expect.stringContaining('symbolic link') })
    expect(seen.get('gone.xml')).toBeNull()
    expect(seen.get('a.xml/below.xml')).toBeNull()
  })

  it('names the link that replaced a directory above a path, and does not follow it', async () => {
    const folder = temporaryFolder()
    const outside = temporaryFolder()
    put(folder, 'sub/deep/a.xml')
    put(outside, 'deep/a.xml')
    const inbox = openInbox(folder)
    await inbox.list()
    rmSync(join(folder, 'sub'), { recursive: true })
    symlinkSync(outside, join(folder, 'sub'))

    const seen = await inbox.look(['sub/deep/a.xml'])

    expect(seen.get('sub/deep/a.xml')).toMatchObject({
      path: 'sub',
      reason: 'it is a symbolic link, which is not followed',
    })
  })

  it('skips a path below a directory that hangs without a question, and asks once about each other directory', () => {
    const folder = temporaryFolder()
    const paths = ['acme/sub/a.xml', 'west/sub/b.xml', 'west/sub/c.xml']
    for (const path of paths) put(folder, path)
    const asked: string[] = []
    const asks = (path: string) => void asked.push(path)
    const isHung = (path: string) => path === 'acme/'

    const seen = lookAtPaths(paths, { directory: folder, asks, isHung })

    expect(seen.get('acme/sub/a.xml')).toMatchObject({ reason: 'its file system does not answer' })
    expect(asked).toEqual(['west/', 'west/sub/', 'west/sub/b.xml', 'west/sub/c.xml'])
  })

  it('asks nothing about paths below a directory that is gone or has become a link', () => {
    const folder = temporaryFolder()
    symlinkSync(temporaryFolder(), join(folder, 'link'))
    const asked: string[] = []
    const asks = (path: string) => void asked.push(path)

    lookAtPaths(['gone/sub/a.xml', 'link/sub/b.xml'], {
      directory: folder,
      asks,
      isHung: () => false,
    })

    expect(asked).toEqual(['gone/', 'link/'])
  })
})
