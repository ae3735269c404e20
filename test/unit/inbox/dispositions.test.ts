import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Departure, Disposition } from '../../../src/domain/departure.ts'
import { stampedName } from '../../../src/domain/stamped-name.ts'
import { Dispositions } from '../../../src/inbox/dispositions.ts'
import { moveExclusively } from '../../../src/inbox/exclusive-move.ts'
import type { Inbox } from '../../../src/inbox/folder.ts'
import type { Receipt, Sighting } from '../../../src/inbox/port.ts'
import {
  ManualClock,
  openInbox,
  put,
  temporaryFolder,
  unprivileged,
} from '../../helpers/inbox/harness.ts'

const { unlink } = fs

/** refuseUnlink makes the next unlink fail with EPERM, after `meanwhile`. */
function refuseUnlink(meanwhile = () => {}): void {
  fs.unlink = async () => {
    restoreUnlink()
    meanwhile()
    throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
  }
  syncBuiltinESMExports()
}

function restoreUnlink(): void {
  fs.unlink = unlink
  syncBuiltinESMExports()
}

afterEach(restoreUnlink)

let base: string
let folder: string
let inbox: Inbox
let dispositions: Dispositions

beforeEach(() => {
  base = temporaryFolder()
  folder = join(base, 'inbox')
  mkdirSync(folder)
  inbox = openInbox(folder)
  dispositions = new Dispositions({
    directory: folder,
    archiveDirectory: join(base, 'archive'),
    quarantineDirectory: join(base, 'quarantine'),
    clock: new ManualClock(),
  })
})

/** taken writes a file and returns its sighting. */
async function taken(path: string, content = '<a/>'): Promise<Sighting> {
  put(folder, path, content)
  const seen = (await inbox.list()).files.find((file) => file.path === path)
  if (seen === undefined) throw new Error(`${path} is not listed`)
  return seen
}

/** later returns when the clock of the file system, which moves in steps, is past the ctime of the file. */
function later({ identity }: Sighting): void {
  const now = () => lstatSync(put(base, 'now'), { bigint: true }).ctimeNs
  while (now() <= BigInt(identity.ctimeNs));
}

const dispose = (disposition: Disposition, file: Sighting) =>
  dispositions.dispose({ ...file, disposition, sha256: null, token: '0a1b2c3d4e5f' })

describe('disposing of a file', () => {
  it.each(['itself', 'a part of it'])(
    'reports a problem and leaves the file alone if the archive has become a link to the folder: %s',
    async (what) => {
      const file = await taken('jobs.xml')
      mkdirSync(join(folder, 'sub'))
      symlinkSync(what === 'itself' ? folder : join(folder, 'sub'), join(base, 'archive'))
      const before = lstatSync(join(folder, 'jobs.xml')).ctimeMs

      const disposed = await dispose('archive', file)

      expect(disposed).toMatchObject({ kind: 'problem', code: 'ELOOP' })
      expect((await inbox.list()).files.map(({ path }) => path)).toEqual(['jobs.xml'])
      expect(lstatSync(join(folder, 'jobs.xml')).ctimeMs).toBe(before)
    },
  )

  it('archives the file in a directory of the same name, with the time in its name', async () => {
    const file = await taken('acme/jobs.xml')

    const disposed = await dispose('archive', file)

    const to = join(base, 'archive/acme/jobs.20270104T060000000Z.xml')
    expect(disposed).toEqual({ kind: 'done', to })
    expect(readFileSync(to, 'utf8')).toBe('<a/>')
    expect(readdirSync(join(folder, 'acme'))).toEqual([])
  })

  it('never overwrites a file in the archive', async () => {
    const contents = ['<a/>', '<b/>', '<c/>']
    for (const content of contents) {
      await dispose('archive', await taken('jobs.xml', content))
    }

    const archived = readdirSync(join(base, 'archive')).sort()
    expect(archived).toEqual([
      'jobs.20270104T060000000Z.1.xml',
      'jobs.20270104T060000000Z.2.xml',
      'jobs.20270104T060000000Z.xml',
    ])
    expect(archived.map((name) => readFileSync(join(base, 'archive', name), 'utf8'))).toEqual([
      '<b/>',
      '<c/>',
      '<a/>',
    ])
  })

  it.each(['archive', 'quarantine', 'delete'] as const)(
    'answers that the file has changed, and leaves other bytes at the path alone (%s)',
    async (disposition) => {
      const appended = await taken('appended.xml')
      appendFileSync(join(folder, 'appended.xml'), ' ')
      const replaced = await taken('replaced.xml')
      renameSync(put(base, 'new.xml', '<b/>'), join(folder, 'replaced.xml'))

      const disposed = [await dispose(disposition, appended), await dispose(disposition, replaced)]

      expect(disposed).toEqual([{ kind: 'changed' }, { kind: 'changed' }])
      expect(readFileSync(join(folder, 'appended.xml'), 'utf8')).toBe('<a/> ')
      expect(readFileSync(join(folder, 'replaced.xml'), 'utf8')).toBe('<b/>')
    },
  )

  it('moves the taken bytes or nothing, and leaves a newer file, at whatever moment the newer file arrives', async () => {
    const outcomes = new Set<string>()
    for (let turn = 0; turn < 80; turn++) {
      const file = await taken('jobs.xml', `<old${turn}/>`)
      const newer = put(base, 'newer', `<new${turn}/>`)

      const disposing = dispose('archive', file)
      for (let wait = 0; wait < turn % 40; wait++) await setImmediate()
      if (turn % 40 === 39) await disposing
      renameSync(newer, join(folder, 'jobs.xml'))
      const disposed = await disposing

      outcomes.add(disposed.kind)
      const archived = disposed.kind === 'done' ? readFileSync(disposed.to ?? '', 'utf8') : null
      expect(archived ?? `<old${turn}/>`).toBe(`<old${turn}/>`)
      expect(readdirSync(folder)).toEqual(['jobs.xml'])
      expect(readFileSync(join(folder, 'jobs.xml'), 'utf8')).toBe(`<new${turn}/>`)
    }

    expect([...outcomes].sort()).toEqual(['changed', 'done'])
  })

  it('reports a missing file', async () => {
    const file = await taken('jobs.xml')
    renameSync(join(folder, 'jobs.xml'), join(base, 'elsewhere.xml'))

    const disposed = await dispose('archive', file)

    expect(disposed).toEqual({ kind: 'missing' })
  })

  it('does not touch the target of a link that replaced the file', async () => {
    const file = await taken('jobs.xml')
    renameSync(join(folder, 'jobs.xml'), join(base, 'elsewhere.xml'))
    symlinkSync(join(base, 'elsewhere.xml'), join(folder, 'jobs.xml'))

    const disposed = await dispose('delete', file)

    expect(disposed).toEqual({ kind: 'changed' })
    expect(existsSync(join(base, 'elsewhere.xml'))).toBe(true)
  })

  it('puts the file back if the archive cannot take it, and says why', async () => {
    const file = await taken('jobs.xml')
    writeFileSync(join(base, 'archive'), 'not a directory')

    const disposed = await dispose('archive', file)

    expect(disposed).toMatchObject({
      kind: 'problem',
      code: 'EEXIST',
      reason: 'archive jobs.xml: the folder or the archive cannot be written (EEXIST)',
    })
    expect(readdirSync(folder)).toEqual(['jobs.xml'])
  })

  it.each(['archive', 'quarantine', 'delete'] as const)(
    'returns the new identity of a file that it puts back (%s)',
    async (disposition) => {
      const file = await taken('acme/jobs.xml')
      later(file)
      if (disposition === 'delete') refuseUnlink()
      else put(base, `${disposition}/acme`, 'not a directory')

      const disposed = await dispose(disposition, file)

      const { files } = await inbox.list()
      expect(files).toMatchObject([{ path: 'acme/jobs.xml' }])
      expect(files[0]?.identity).not.toEqual(file.identity)
      expect(disposed).toMatchObject({ kind: 'problem', returned: files[0]?.identity })
      expect(readdirSync(join(folder, 'acme'))).toEqual(['jobs.xml'])
    },
  )

  it('keeps other bytes that came to the path meanwhile, and returns a partial problem without an identity', async () => {
    const file = await taken('jobs.xml')
    refuseUnlink(() => put(folder, 'jobs.xml', '<b/>'))

    const disposed = await dispose('delete', file)

    expect(disposed).toMatchObject({ kind: 'problem', code: 'EEXIST', isPartial: true })
    expect(disposed).not.toHaveProperty('returned')
    expect(readFileSync(join(folder, 'jobs.xml'), 'utf8')).toBe('<b/>')
  })

  it('says which permission is missing if the folder may not be written, and leaves the file', async () => {
    const file = await taken('jobs.xml')

    chmodSync(folder, 0o555)
    const disposed = await unprivileged(() => dispose('archive', file))
    chmodSync(folder, 0o755)

    expect(disposed).toEqual({
      kind: 'problem',
      code: 'EACCES',
      reason:
        'archive jobs.xml: the folder or the archive may not be written by this user (EACCES)',
      hint: 'let the daemon’s user write it, and enter the folders above it',
    })
    expect(readdirSync(folder)).toEqual(['jobs.xml'])
  })

  it('archives a file with the longest possible name under a shortened name with the time', async () => {
    const name = `${'é'.repeat(125)}x.xml`

    const disposed = await dispose('archive', await taken(name))

    expect(disposed.kind).toBe('done')
    const [archived] = readdirSync(join(base, 'archive'))
    expect(Buffer.byteLength(archived ?? '')).toBeLessThanOrEqual(255)
    expect(archived).toMatch(/^é+\.20270104T060000000Z\.xml$/)
  })

  it('archives nothing through a link in the archive, and leaves the file', async () => {
    mkdirSync(join(base, 'archive'))
    mkdirSync(join(base, 'outside'))
    symlinkSync(join(base, 'outside'), join(base, 'archive/sub'))

    const disposed = await dispose('archive', await taken('sub/jobs.xml'))

    expect(disposed).toMatchObject({ kind: 'problem', code: 'ENOTDIR' })
    expect(readdirSync(join(base, 'outside'))).toEqual([])
    expect(readdirSync(join(folder, 'sub'))).toEqual(['jobs.xml'])
  })
})

const hash = (text: string) => createHash('sha256').update(text).digest('hex')

describe('after a crash', () => {
  const TOKEN = '0a1b2c3d4e5f'

  /** partlyMoved leaves a file as a crash does: its departure is known, and it has its temporary name. */
  async function partlyMoved(path: string, disposition: Disposition): Promise<Departure> {
    const file = await taken(path, '<old/>')
    later(file)
    const name = `.${basename(path)}.${TOKEN}.taken`
    renameSync(join(folder, path), join(folder, dirname(path), name))
    return { ...file, disposition, sha256: null, token: TOKEN }
  }

  it.each(['archive', 'quarantine', 'delete'] as const)(
    'a partly moved file is moved with its bytes or deleted (%s), and a newer file stays',
    async (disposition) => {
      const departure = await partlyMoved('acme/jobs.xml', disposition)
      put(folder, 'acme/jobs.xml', '<new/>')

      const disposed = await dispositions.resume(departure)

      expect(readdirSync(join(folder, 'acme'))).toEqual(['jobs.xml'])
      expect(readFileSync(join(folder, 'acme/jobs.xml'), 'utf8')).toBe('<new/>')
      if (disposed.kind !== 'done') expect.fail(disposed.kind)
      const moved = disposed.to === null ? null : readFileSync(disposed.to, 'utf8')
      expect(moved).toBe(disposition === 'delete' ? null : '<old/>')
    },
  )

  /**
   * otherInode writes a file under the temporary name of `path`, and returns its departure: same size and time, another
   * inode, and `sha256` as the hash of the bytes that were read.
   */
  async function otherInode(path: string, bytes: string | Buffer, sha256: string | null) {
    const file = await taken('first.xml')
    const name = `.${path}.${TOKEN}.taken`
    writeFileSync(join(folder, name), bytes)
    const { mtimeNs, size } = lstatSync(join(folder, name), { bigint: true })
    const identity = { ...file.identity, mtimeNs: String(mtimeNs), size: Number(size) }
    return { path, identity, sha256, disposition: 'archive', token: TOKEN } as const
  }

  it.each([
    ['the bytes that were read', 'jobs.xml', '<old/>'],
    ['the packed form of the bytes that were read', 'jobs.xml.gz', gzipSync('<old/>')],
  ])('a file with another inode and %s is archived', async (_, path, bytes) => {
    const departure = await otherInode(path, bytes, hash('<old/>'))

    const disposed = await dispositions.resume(departure)

    expect(disposed.kind).toBe('done')
    expect(readdirSync(folder)).toEqual(['first.xml'])
    expect(readdirSync(join(base, 'archive'))).toHaveLength(1)
  })

  it.each([
    ['other bytes than the version', hash('<new/>')],
    ['the bytes of a version whose hash is not known', null],
  ])('a file with another inode and %s goes back to the path', async (_, sha256) => {
    const departure = await otherInode('jobs.xml', '<old/>', sha256)

    const disposed = await dispositions.resume(departure)

    expect(disposed.kind).toBe('changed')
    expect(readdirSync(folder).sort()).toEqual(['first.xml', 'jobs.xml'])
  })

  it('a file that still has its own name is left alone, as a move that had not begun', async () => {
    const file = await taken('jobs.xml')

    const disposed = await dispositions.resume({
      ...{ ...file, disposition: 'delete', sha256: null, token: TOKEN },
    })

    expect(disposed).toEqual({ kind: 'missing' })
    expect(readdirSync(folder)).toEqual(['jobs.xml'])
  })

  it.each(['once', 'twice'])(
    'a file that was put back is recognised, has one name, and is not archived, if it is in the folder %s',
    async (times) => {
      const departure = await partlyMoved('jobs.xml', 'archive')
      linkSync(join(folder, `.jobs.xml.${TOKEN}.taken`), join(folder, 'jobs.xml'))
      if (times === 'once') rmSync(join(folder, `.jobs.xml.${TOKEN}.taken`))

      const disposed = await dispositions.resume(departure)

      const { files } = await inbox.list()
      expect(files[0]?.identity).not.toEqual(departure.identity)
      expect(disposed).toEqual({ kind: 'missing', returned: files[0]?.identity })
      expect(readdirSync(folder)).toEqual(['jobs.xml'])
      expect(existsSync(join(base, 'archive'))).toBe(false)
    },
  )

  it.each([
    ['a fifo', (at: string) => execFileSync('mkfifo', [at])],
    ['a link to /dev/zero', (at: string) => symlinkSync('/dev/zero', at)],
    ['another file', (at: string) => writeFileSync(at, '<other/>')],
  ])('%s under the temporary name of a moved file goes back to the path', async (_, place) => {
    const departure = await partlyMoved('jobs.xml', 'delete')
    rmSync(join(folder, `.jobs.xml.${TOKEN}.taken`))
    place(join(folder, `.jobs.xml.${TOKEN}.taken`))

    const disposed = await dispositions.resume(departure)

    expect(disposed).toEqual({ kind: 'changed' })
    expect(readdirSync(folder)).toEqual(['jobs.xml'])
  })

  it('a file that can go neither to its place nor back is kept and can be tried again', async () => {
    const departure = await partlyMoved('jobs.xml', 'archive')
    put(folder, 'jobs.xml', '<new/>')
    writeFileSync(join(base, 'archive'), 'not a directory')

    const first = await dispositions.resume(departure)
    rmSync(join(base, 'archive'))
    const second = await dispositions.resume(departure)

    expect(first).toMatchObject({ kind: 'problem', code: 'EEXIST', isPartial: true })
    expect(second.kind).toBe('done')
    expect(readdirSync(folder)).toEqual(['jobs.xml'])
  })

  it('a file below a directory that is gone or on another device is a partial problem, and not missing', async () => {
    const departure = await partlyMoved('acme/jobs.xml', 'archive')
    renameSync(join(folder, 'acme'), join(base, 'elsewhere'))
    const gone = await dispositions.resume(departure)
    const other = await dispositions.resume({
      ...{ ...departure, path: 'jobs.xml' },
      identity: { ...departure.identity, dev: '1' },
    })

    expect(gone).toMatchObject({ kind: 'problem', isPartial: true })
    expect(other).toMatchObject({ kind: 'problem', isPartial: true })
  })
})

describe('a directory that becomes a link after its file was listed', () => {
  it.each(['archive', 'quarantine', 'delete'] as const)('%s moves nothing', async (disposition) => {
    const file = await taken('sub/jobs.xml')
    // The same file stays, and only the way to it changes.
    renameSync(join(folder, 'sub'), join(base, 'outside'))
    symlinkSync(join(base, 'outside'), join(folder, 'sub'))

    const disposed = await dispose(disposition, file)

    expect(disposed).toEqual({ kind: 'missing' })
    expect(readdirSync(join(base, 'outside'))).toEqual(['jobs.xml'])
  })

  it('gets no receipt, and the file behind the link stays', async () => {
    await taken('sub/jobs.xml')
    mkdirSync(join(base, 'outside'))
    put(base, 'outside/jobs.xml.receipt.json', 'precious')
    renameSync(join(folder, 'sub'), join(base, 'moved'))
    symlinkSync(join(base, 'outside'), join(folder, 'sub'))

    const written = await dispositions.writeReceipt({ ...receipt, file: 'sub/jobs.xml' }, token)

    expect(written).toMatchObject({ kind: 'problem', code: 'ENOTDIR' })
    expect(readFileSync(join(base, 'outside/jobs.xml.receipt.json'), 'utf8')).toBe('precious')
    expect(readdirSync(join(base, 'outside'))).toHaveLength(1)
  })
})

const token = '0123456789ab'
const receipt: Receipt = {
  schemaVersion: 1,
  file: 'acme/jobs.xml',
  state: 'rejected',
  reason: '"&" must be written "&amp;"',
  reasonCode: 'not-well-formed',
  line: 311,
  column: 14,
  sha256: 'ab12',
  postings: null,
  fileUrl: null,
  at: '2027-01-04T06:00:00.000Z',
}

describe('a receipt', () => {
  it('is written whole beside the feed and replaces the earlier receipt', async () => {
    put(folder, 'acme/jobs.xml')
    await dispositions.writeReceipt({ ...receipt, state: 'settling' }, token)

    const written = await dispositions.writeReceipt(receipt, token)

    const file = join(folder, 'acme/jobs.xml.receipt.json')
    expect(written).toEqual({ kind: 'done', to: file })
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(receipt)
    expect(readdirSync(join(folder, 'acme')).sort()).toEqual(['jobs.xml', 'jobs.xml.receipt.json'])
  })

  it('replaces a link in its place instead of writing through it', async () => {
    put(folder, 'acme/jobs.xml')
    const precious = put(base, 'precious', 'untouched')
    symlinkSync(precious, join(folder, 'acme/jobs.xml.receipt.json'))

    await dispositions.writeReceipt(receipt, token)

    expect(readFileSync(precious, 'utf8')).toBe('untouched')
    expect(lstatSync(join(folder, 'acme/jobs.xml.receipt.json')).isFile()).toBe(true)
  })

  it.each([
    ['a file of somebody else', (at: string) => writeFileSync(at, '{"file":"acme/jobs.xml"}')],
    [
      'a receipt of another file',
      (at: string) => writeFileSync(at, '{"schemaVersion":1,"file":"x"}'),
    ],
    ['a fifo', (at: string) => execFileSync('mkfifo', [at])],
    ['a file without end', (at: string) => execFileSync('truncate', ['-s', '1T', at])],
  ])('never replaces %s, says what to do, and leaves no draft', async (_, place) => {
    put(folder, 'acme/jobs.xml')
    place(join(folder, 'acme/jobs.xml.receipt.json'))
    const before = lstatSync(join(folder, 'acme/jobs.xml.receipt.json')).ino

    const written = await dispositions.writeReceipt(receipt, token)

    expect(written).toMatchObject({ kind: 'problem', hint: 'give that file another name' })
    expect(lstatSync(join(folder, 'acme/jobs.xml.receipt.json')).ino).toBe(before)
    expect(readdirSync(join(folder, 'acme'))).toHaveLength(2)
  })

  it('that a crash left unfinished is removed by its token, no other draft is, and a missing folder is not an error', async () => {
    put(folder, `acme/.${token}.receipt.tmp`, '{')
    put(folder, 'acme/.ffffffffffff.receipt.tmp', '{')

    await dispositions.discardDraft('acme/jobs.xml', token)
    await dispositions.discardDraft('nowhere/jobs.xml', token)

    expect(readdirSync(join(folder, 'acme'))).toEqual(['.ffffffffffff.receipt.tmp'])
  })

  it('that cannot be written returns a problem and leaves nothing behind', async () => {
    const name = `${'n'.repeat(251)}.xml`
    put(folder, name)

    const [tooLong, nowhere] = [
      await dispositions.writeReceipt({ ...receipt, file: name }, token),
      await dispositions.writeReceipt({ ...receipt, file: 'gone/jobs.xml' }, token),
    ]

    expect(tooLong).toMatchObject({
      kind: 'problem',
      code: 'ENAMETOOLONG',
      hint: 'use a shorter name',
    })
    expect(nowhere).toMatchObject({ kind: 'problem', code: 'ENOENT' })
    expect(readdirSync(folder)).toEqual([name])
  })
})

describe('moving without overwriting', () => {
  /** otherDisk returns a folder on another file system than `base`. */
  function otherDisk(): string {
    const disk = temporaryFolder('/dev/shm')
    expect(lstatSync(disk).dev).not.toBe(lstatSync(base).dev)
    return disk
  }

  it('moves a file to another file system, and overwrites no file there', async () => {
    const from = put(base, 'jobs.xml', '<a/>')
    const to = join(otherDisk(), 'jobs.xml')

    await moveExclusively(from, to)

    expect(readFileSync(to, 'utf8')).toBe('<a/>')
    expect(existsSync(from)).toBe(false)
    const again = moveExclusively(put(base, 'jobs.xml', '<b/>'), to)
    await expect(again).rejects.toMatchObject({ code: 'EEXIST' })
    expect(readFileSync(to, 'utf8')).toBe('<a/>')
  })

  it('names a copy on another file system only when it is whole, and replaces a torn draft', async () => {
    const target = otherDisk()
    const content = 'x'.repeat(4 * 2 ** 20)
    const to = join(target, 'jobs.1.xml')
    const seen = new Set<string>()
    let isOver = false

    const moving = moveExclusively(put(base, 'jobs.xml', content), to).finally(() => {
      isOver = true
    })
    const sizes = new Set<number>()
    while (!isOver) {
      for (const name of readdirSync(target)) seen.add(name)
      if (existsSync(to)) sizes.add(lstatSync(to).size)
      await setImmediate()
    }
    await moving
    // A killed process leaves a torn draft.
    for (const name of seen) if (name.startsWith('.')) put(target, name, 'torn')
    await moveExclusively(put(base, 'jobs.xml', '<b/>'), join(target, 'jobs.2.xml'))

    expect([...seen]).toContainEqual(expect.stringMatching(/^\..+\.copy$/))
    expect([...sizes]).toEqual([content.length])
    expect(readdirSync(target).sort()).toEqual(['jobs.1.xml', 'jobs.2.xml'])
    expect(readFileSync(to, 'utf8') === content).toBe(true)
    expect(readFileSync(join(target, 'jobs.2.xml'), 'utf8')).toBe('<b/>')
  })

  it('refuses a fifo on the way to another file system, without waiting for its writer, and leaves it', async () => {
    const to = join(otherDisk(), 'fifo.xml')
    const fifo = join(base, 'fifo.xml')
    execFileSync('mkfifo', [fifo])

    await expect(moveExclusively(fifo, to)).rejects.toMatchObject({ code: 'EINVAL' })

    expect(existsSync(to)).toBe(false)
    expect(existsSync(fifo)).toBe(true)
  })

  it('removes the name that it reserved for a file that cannot be linked, if the rename fails, too', async () => {
    // link(2) refuses a directory everywhere; rename(2) then refuses it, too.
    const from = join(base, 'directory')
    mkdirSync(from)
    const to = join(base, 'target')

    const moved = moveExclusively(from, to)

    await expect(moved).rejects.toMatchObject({ code: 'ENOTDIR' })
    expect(existsSync(to)).toBe(false)
  })

  it('stamps a name with the time and a number before its extension', () => {
    expect(stampedName('jobs.xml', '2027-01-04T06:00:00.000Z', 0)).toBe(
      'jobs.20270104T060000000Z.xml',
    )
    expect(stampedName('jobs', '2027-01-04T06:00:00.000Z', 2)).toBe('jobs.20270104T060000000Z.2')
    expect(stampedName('jobs.XML.gz', '2027-01-04T06:00:00.000Z', 0)).toBe(
      'jobs.20270104T060000000Z.XML.gz',
    )
  })

  it('shortens a stamped name to 255 bytes, by whole characters', () => {
    const name = stampedName(`${'😀'.repeat(62)}.xml`, '2027-01-04T06:00:00.000Z', 0)

    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
    expect(name).toMatch(/^😀+\.20270104T060000000Z\.xml$/u)
  })
})
