import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readFeed } from '../../../src/feed/feed-reader.ts'
import { openSource } from '../../../src/feed/source-file.ts'
import { identityOf } from '../../../src/lib/files.ts'
import { Folder, jobFor, readDocument } from '../../helpers/feeds.ts'

const FEED = '<source><job><id>1</id></job><job><id>2</id></job></source>\n'

describe('reading a feed', () => {
  it('returns verdict, hashes, size and encoding, and leaves an equal copy that only this user can read', async () => {
    using folder = new Folder()
    const copyTo = join(folder.path, 'copy')

    const result = await readFeed(jobFor(folder.file('a.xml', FEED), { copyTo }), { pieceSize: 7 })

    expect(result).toMatchObject({
      kind: 'read',
      verdict: { kind: 'ok', content: { root: 'source', records: '/source/job', postings: 2 } },
      sha256: createHash('sha256').update(FEED).digest('hex'),
      md5: createHash('md5').update(FEED).digest('hex'),
      bytes: FEED.length,
      encoding: 'UTF-8',
    })
    expect(readFileSync(copyTo, 'utf8')).toBe(FEED)
    expect(lstatSync(copyTo).mode & 0o777).toBe(0o600)
  })

  it('leaves an equal copy of a large file that only this user can read, although all users can read the file', async () => {
    using folder = new Folder()
    const [copyTo, large] = [join(folder.path, 'copy'), `<a>${'<b/>'.repeat(500_000)}</a>`]
    const source = folder.file('a.xml', large)
    chmodSync(source, 0o444)

    const result = await readFeed(jobFor(source, { copyTo }))

    expect(result).toMatchObject({ kind: 'read', bytes: large.length })
    expect(readFileSync(copyTo, 'utf8') === large).toBe(true)
    expect(lstatSync(copyTo).mode & 0o777).toBe(0o600)
  })

  it.each(['<a>&</a>', '<a>', ''])(
    'leaves no copy and no index of a document that is not ok: %j',
    async (document) => {
      using folder = new Folder()
      const [copyTo, indexTo] = [join(folder.path, 'copy'), join(folder.path, 'index')]

      const result = await readFeed(jobFor(folder.file('a.xml', document), { copyTo, indexTo }))

      expect(result).toMatchObject({ kind: 'read', bytes: document.length })
      expect(existsSync(copyTo) || existsSync(indexTo)).toBe(false)
    },
  )

  it('returns no-room if the index cannot be written, leaves no copy, and changes no existing file', async () => {
    using folder = new Folder()
    const source = folder.file('a.xml', FEED)
    const copyTo = join(folder.path, 'copy')
    const taken = folder.file('taken', 'kept')

    const result = await readFeed(jobFor(source, { copyTo, indexTo: taken }))

    expect(result).toMatchObject({ kind: 'no-room', code: 'EEXIST' })
    expect(existsSync(copyTo)).toBe(false)
    expect(readFileSync(taken, 'utf8')).toBe('kept')
  })

  it('reports a fault at the start of a file, and still hashes the whole file', async () => {
    const document = `&${'x'.repeat(200_000)}`

    const result = await readDocument(document)

    expect(result.sha256).toBe(createHash('sha256').update(document).digest('hex'))
    expect(result.verdict).toMatchObject({
      kind: 'broken',
      position: { offset: 0, line: 1, column: 1 },
    })
  })

  it('returns no-room if the copy cannot be written, and changes no existing file', async () => {
    using folder = new Folder()
    const source = folder.file('a.xml', FEED)
    const taken = folder.file('taken', 'kept')

    expect(await readFeed(jobFor(source, { copyTo: taken }))).toMatchObject({
      kind: 'no-room',
      code: 'EEXIST',
    })
    expect(
      await readFeed(jobFor(source, { copyTo: join(folder.path, 'no', 'copy') })),
    ).toMatchObject({
      kind: 'no-room',
      code: 'ENOENT',
    })
    expect(readFileSync(taken, 'utf8')).toBe('kept')
  })
})

describe('a path that is not a readable file', () => {
  it('is reported, and not followed, if it is a symbolic link', async () => {
    using folder = new Folder()
    const link = join(folder.path, 'link.xml')
    symlinkSync(folder.file('a.xml', FEED), link)

    expect(await readFeed(jobFor(link))).toMatchObject({ kind: 'unreadable', code: 'ELOOP' })
  })

  it('is reported if it is a directory, missing, or a fifo that nobody writes', async () => {
    using folder = new Folder()
    const fifo = join(folder.path, 'fifo.xml')
    execFileSync('mkfifo', [fifo])
    const directory = join(folder.path, 'dir.xml')
    mkdirSync(directory)
    const missing = join(folder.path, 'gone.xml')

    const results = [await readFeed(jobFor(directory)), await readFeed(jobFor(missing))]
    results.push(await readFeed(jobFor(fifo)))

    expect(results).toMatchObject([
      { kind: 'unreadable', code: null, reason: 'it is a directory, not a regular file' },
      { kind: 'unreadable', code: 'ENOENT' },
      { kind: 'unreadable', code: null, reason: 'it is a fifo, not a regular file' },
    ])
  })

  it.skipIf(process.getuid?.() === 0)(
    'is reported with the code of the missing permission (skipped for root, who can read every file)',
    async () => {
      using folder = new Folder()
      const source = folder.file('a.xml', FEED)
      chmodSync(source, 0)

      expect(await readFeed(jobFor(source))).toMatchObject({ kind: 'unreadable', code: 'EACCES' })
    },
  )
})

describe('a file that changes', () => {
  const cases: Array<[string, (source: string) => void]> = [
    ['grows', (source) => writeFileSync(source, `${FEED} `)],
    ['shrinks', (source) => writeFileSync(source, FEED.slice(0, 30))],
    [
      'gets other bytes of the same size',
      (source) => writeFileSync(source, FEED.replace('1', '3')),
    ],
    [
      'is replaced by a rename',
      (source) => {
        writeFileSync(`${source}.new`, FEED)
        renameSync(`${source}.new`, source)
      },
    ],
    ['goes away', (source) => renameSync(source, `${source}.gone`)],
    [
      'becomes a link to the same content',
      (source) => {
        renameSync(source, `${source}.real`)
        symlinkSync(`${source}.real`, source)
      },
    ],
  ]

  it.each(cases)(
    'is reported as changed, and leaves no copy and no index, if it %s during the read',
    async (_, change) => {
      using folder = new Folder()
      const source = folder.file('a.xml', FEED)
      const [copyTo, indexTo] = [join(folder.path, 'copy'), join(folder.path, 'index')]
      const before = statSync(source, { bigint: true }).ctimeNs
      let pieces = 0
      const beforePiece = () => {
        if (++pieces !== 3) return
        // File systems take the time from the timer tick: write until the ctime differs.
        do change(source)
        while (existsSync(source) && lstatSync(source, { bigint: true }).ctimeNs === before)
      }

      const result = await readFeed(jobFor(source, { copyTo, indexTo }), {
        pieceSize: 8,
        beforePiece,
      })

      expect(result).toEqual({ kind: 'changed' })
      expect(existsSync(copyTo) || existsSync(indexTo)).toBe(false)
    },
  )

  it('is read only if its inode and ctime are the same as when it settled, else reported as changed', async () => {
    using folder = new Folder()
    const source = folder.file('a.xml', FEED)
    using opened = openSource(source)
    const expected = opened.identity

    expect(await readFeed(jobFor(source, { expected }))).toMatchObject({ kind: 'read' })
    expect(await readFeed(jobFor(source, { expected: { ...expected, ino: '1' } }))).toEqual({
      kind: 'changed',
    })
    expect(await readFeed(jobFor(source, { expected: { ...expected, ctimeNs: '1' } }))).toEqual({
      kind: 'changed',
    })
  })
})

describe('a directory that becomes a link', () => {
  /** swap moves the file out of the root; the same path still leads to it, through a link. */
  function swap(folder: Folder): void {
    renameSync(join(folder.path, 'inbox/sub'), join(folder.path, 'outside'))
    symlinkSync(join(folder.path, 'outside'), join(folder.path, 'inbox/sub'))
  }

  function job(folder: Folder) {
    mkdirSync(join(folder.path, 'inbox/sub'), { recursive: true })
    const source = join(folder.path, 'inbox/sub/jobs.xml')
    writeFileSync(source, FEED)
    const expected = identityOf(lstatSync(source, { bigint: true }))
    const copyTo = join(folder.path, 'copy')
    return { ...jobFor(source, { copyTo }), root: join(folder.path, 'inbox'), expected }
  }

  it('after the file has settled makes the file unreadable, and leaves no copy', async () => {
    using folder = new Folder()
    const checked = job(folder)
    swap(folder)

    expect(await readFeed(checked)).toMatchObject({ kind: 'unreadable', code: 'ENOTDIR' })
    expect(existsSync(checked.copyTo ?? '')).toBe(false)
  })

  it('during the read is reported as a change, and leaves no copy', async () => {
    using folder = new Folder()
    const checked = job(folder)
    let pieces = 0
    const beforePiece = () => {
      if (pieces++ === 0) swap(folder)
    }

    expect(await readFeed(checked, { beforePiece, pieceSize: 10 })).toEqual({ kind: 'changed' })
    expect(pieces).toBeGreaterThan(1)
    expect(existsSync(checked.copyTo ?? '')).toBe(false)
  })
})

describe('NUL padding', () => {
  const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')
  const nul = (count: number) => Buffer.alloc(count)

  it.each([
    ['a complete feed', Buffer.from(FEED), 4096],
    ['a cut feed', Buffer.from(FEED.slice(0, 20)), 70_000],
    ['a feed cut inside a character', Buffer.from('<a>é').subarray(0, 4), 1],
    ['nothing', Buffer.alloc(0), 100],
    ['a UTF-16LE feed', utf16(FEED), 2],
    ['a UTF-16BE feed', utf16(FEED).swap16(), 3],
    ['one character', Buffer.from('<'), 3],
  ])(
    'after %s makes the file incomplete, with a reason and a place',
    async (_, document, count) => {
      const { verdict } = await readDocument(Buffer.concat([document, nul(count)]))

      expect(verdict).toMatchObject({ kind: 'incomplete', reason: expect.stringContaining('NUL') })
      expect(verdict).toMatchObject({ position: { offset: expect.any(Number) } })
    },
  )

  it('does not hide a fault before it, or NUL bytes inside the document', async () => {
    const broken = await readDocument(Buffer.concat([Buffer.from('<a>&</a>'), nul(9)]))
    const inside = await readDocument(
      Buffer.concat([Buffer.from('<a>'), nul(3), Buffer.from('</a>')]),
    )

    expect(broken.verdict).toMatchObject({ kind: 'broken', position: { offset: 3 } })
    expect(inside.verdict).toMatchObject({ kind: 'broken', position: { offset: 3 } })
  })

  it('is not the NUL byte in which every UTF-16LE feed ends', async () => {
    const { verdict } = await readDocument(utf16(FEED.trimEnd()))

    expect(verdict).toMatchObject({ kind: 'ok' })
  })
})

describe('a file of 1 TB that is mostly holes', () => {
  const TERABYTE = 2 ** 40

  /** sparse writes texts at places of an otherwise empty file. */
  function sparse(folder: Folder, at: Record<string, string>): string {
    const source = folder.file('sparse.xml', '')
    truncateSync(source, TERABYTE)
    const fd = openSync(source, 'r+')
    for (const [place, text] of Object.entries(at)) writeSync(fd, text, Number(place))
    closeSync(fd)
    return source
  }

  // Reading the whole file would take an hour.
  it.each([
    ['nothing', {}, 'incomplete', null],
    ['a complete feed at its start', { 0: FEED }, 'incomplete', null],
    ['a feed around a hole', { 0: '<a>', [TERABYTE - 4]: '</a>' }, 'broken', 3],
    ['a feed after a hole', { [TERABYTE - FEED.length]: FEED }, 'broken', 0],
  ])(
    'gets its verdict within a minute, without hashes and without a copy: %s',
    async (_, at, kind, offset) => {
      using folder = new Folder()
      const copyTo = join(folder.path, 'copy')

      const result = await readFeed(jobFor(sparse(folder, at), { copyTo }))

      expect(result).toMatchObject({ kind: 'read', sha256: null, md5: null, bytes: TERABYTE })
      const verdict = result.kind === 'read' ? result.verdict : null
      expect(verdict?.kind).toBe(kind)
      expect(verdict?.kind === 'ok' ? 'ok' : (verdict?.position?.offset ?? null)).toBe(offset)
      expect(existsSync(copyTo)).toBe(false)
    },
    60_000,
  )
})
