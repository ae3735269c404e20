import { createHash } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { createDispositions } from '../../src/inbox/dispositions.ts'
import { moveExclusively, stampedName } from '../../src/inbox/exclusive-move.ts'
import type { Dispositions, Inbox, Receipt, Sighting } from '../../src/inbox/port.ts'
import { HandClock, openInbox, put, temporaryFolder, unprivileged } from './harness.ts'

let base: string
let folder: string
let inbox: Inbox
let dispositions: Dispositions

beforeEach(() => {
  base = temporaryFolder()
  folder = join(base, 'inbox')
  mkdirSync(folder)
  inbox = openInbox(folder)
  dispositions = createDispositions({
    directory: folder,
    archiveDirectory: join(base, 'archive'),
    quarantineDirectory: join(base, 'quarantine'),
    clock: new HandClock(),
  })
})

/** The file as it was when it was taken. */
async function taken(path: string, content = '<a/>'): Promise<Sighting> {
  put(folder, path, content)
  const seen = (await inbox.list()).files.find((file) => file.path === path)
  if (seen === undefined) throw new Error(`${path} is not listed`)
  return seen
}

describe('disposing of a file', () => {
  it('archives it under its folder and a name with the time', async () => {
    const file = await taken('acme/jobs.xml')

    const disposed = await dispositions.dispose('archive', file)

    const to = join(base, 'archive/acme/jobs.20270104T060000000Z.xml')
    expect(disposed).toEqual({ kind: 'done', to })
    expect(readFileSync(to, 'utf8')).toBe('<a/>')
    expect(readdirSync(join(folder, 'acme'))).toEqual([])
  })

  it('quarantines it elsewhere', async () => {
    const disposed = await dispositions.dispose('quarantine', await taken('jobs.xml'))

    expect(disposed).toEqual({
      kind: 'done',
      to: join(base, 'quarantine/jobs.20270104T060000000Z.xml'),
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it('deletes it', async () => {
    const disposed = await dispositions.dispose('delete', await taken('jobs.xml'))

    expect(disposed).toEqual({ kind: 'done', to: null })
    expect(readdirSync(folder)).toEqual([])
  })

  it('never overwrites what the archive has', async () => {
    const contents = ['<a/>', '<b/>', '<c/>']
    for (const content of contents) {
      await dispositions.dispose('archive', await taken('jobs.xml', content))
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
    'leaves other bytes at the path alone (%s)',
    async (disposition) => {
      const appended = await taken('appended.xml')
      appendFileSync(join(folder, 'appended.xml'), ' ')
      const replaced = await taken('replaced.xml')
      renameSync(put(base, 'new.xml', '<b/>'), join(folder, 'replaced.xml'))

      const disposed = [
        await dispositions.dispose(disposition, appended),
        await dispositions.dispose(disposition, replaced),
      ]

      expect(disposed).toEqual([{ kind: 'changed' }, { kind: 'changed' }])
      expect(readFileSync(join(folder, 'appended.xml'), 'utf8')).toBe('<a/> ')
      expect(readFileSync(join(folder, 'replaced.xml'), 'utf8')).toBe('<b/>')
    },
  )

  it('moves the taken bytes or nothing, whenever a newer file arrives meanwhile', async () => {
    const outcomes = new Set<string>()
    for (let turn = 0; turn < 200; turn++) {
      const file = await taken('jobs.xml', `<old${turn}/>`)
      const newer = put(base, 'newer', `<new${turn}/>`)

      const disposing = dispositions.dispose('archive', file)
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

  it('says when the file is not there any more', async () => {
    const file = await taken('jobs.xml')
    renameSync(join(folder, 'jobs.xml'), join(base, 'elsewhere.xml'))

    const disposed = await dispositions.dispose('archive', file)

    expect(disposed).toEqual({ kind: 'missing' })
  })

  it('does not touch what a link now stands for', async () => {
    const file = await taken('jobs.xml')
    renameSync(join(folder, 'jobs.xml'), join(base, 'elsewhere.xml'))
    symlinkSync(join(base, 'elsewhere.xml'), join(folder, 'jobs.xml'))

    const disposed = await dispositions.dispose('delete', file)

    expect(disposed).toEqual({ kind: 'changed' })
    expect(existsSync(join(base, 'elsewhere.xml'))).toBe(true)
  })

  it('puts the file back when the archive cannot take it', async () => {
    const file = await taken('jobs.xml')
    writeFileSync(join(base, 'archive'), 'not a directory')

    const disposed = await dispositions.dispose('archive', file)

    expect(disposed).toMatchObject({
      kind: 'problem',
      code: 'EEXIST',
      reason: 'archive jobs.xml: EEXIST',
    })
    expect(readdirSync(folder)).toEqual(['jobs.xml'])
  })

  it('says what to permit when the folder may not be written', async () => {
    const file = await taken('jobs.xml')

    chmodSync(folder, 0o555)
    const disposed = await unprivileged(() => dispositions.dispose('archive', file))
    chmodSync(folder, 0o755)

    expect(disposed).toEqual({
      kind: 'problem',
      code: 'EACCES',
      reason: 'archive jobs.xml: EACCES',
      hint: 'let the daemon’s user write into the folder and the archive',
    })
    expect(readdirSync(folder)).toEqual(['jobs.xml'])
  })

  it('works for names as long as names can be', async () => {
    const name = `${'é'.repeat(125)}x.xml`

    const disposed = await dispositions.dispose('archive', await taken(name))

    expect(disposed.kind).toBe('done')
    const [archived] = readdirSync(join(base, 'archive'))
    expect(Buffer.byteLength(archived ?? '')).toBeLessThanOrEqual(255)
    expect(archived).toMatch(/^é+\.20270104T060000000Z\.xml$/)
  })
})

describe('after a crash', () => {
  it('a file that was half moved is given back under its name', async () => {
    const half = put(folder, 'acme/.jobs.xml.0123456789ab.taken')
    const { temporary, files } = await inbox.list()

    const back = await dispositions.recover(temporary, () => false)

    expect(files).toEqual([])
    expect(back).toEqual(['acme/jobs.xml'])
    expect(existsSync(half)).toBe(false)
    expect(readFileSync(join(folder, 'acme/jobs.xml'), 'utf8')).toBe('<a/>')
  })

  it('a newer file keeps its place, and the half moved one stays to be mentioned', async () => {
    put(folder, '.jobs.xml.0123456789ab.taken', '<old/>')
    put(folder, 'jobs.xml', '<new/>')
    const { temporary } = await inbox.list()

    const back = await dispositions.recover(temporary, () => false)

    expect(back).toEqual([])
    expect(readFileSync(join(folder, 'jobs.xml'), 'utf8')).toBe('<new/>')
    expect(readdirSync(folder).sort()).toEqual(['.jobs.xml.0123456789ab.taken', 'jobs.xml'])
  })

  it('bytes that a newer version has followed are archived, and never come back as a feed', async () => {
    put(folder, '.jobs.xml.0a1b2c3d4e5f.taken', '<old/>')
    const { temporary } = await inbox.list()
    const asked: string[] = []

    const back = await dispositions.recover(temporary, (path, sha256) => {
      asked.push(`${path} ${sha256}`)
      return true
    })

    expect(back).toEqual([])
    expect(readdirSync(folder)).toEqual([])
    const [name = ''] = readdirSync(join(base, 'archive'))
    expect(readFileSync(join(base, 'archive', name), 'utf8')).toBe('<old/>')
    expect(asked).toEqual([`jobs.xml ${createHash('sha256').update('<old/>').digest('hex')}`])
  })

  it('temporary names of others are not touched', async () => {
    put(folder, '.jobs.xml.AbC123')
    put(folder, 'jobs.xml.part')
    const { temporary } = await inbox.list()

    const back = await dispositions.recover(temporary, () => false)

    expect(back).toEqual([])
    expect(readdirSync(folder)).toHaveLength(2)
  })
})

describe('a receipt', () => {
  const receipt: Receipt = {
    schemaVersion: 1,
    file: 'acme/jobs.xml',
    state: 'rejected',
    reason: '"&" must be written "&amp;"',
    line: 311,
    column: 14,
    sha256: 'ab12',
    postings: null,
    fileUrl: null,
    at: '2027-01-04T06:00:00.000Z',
  }

  it('is beside the feed, whole, and replaces the one before', async () => {
    put(folder, 'acme/jobs.xml')
    await dispositions.writeReceipt({ ...receipt, state: 'settling' })

    const written = await dispositions.writeReceipt(receipt)

    const file = join(folder, 'acme/jobs.xml.receipt.json')
    expect(written).toEqual({ kind: 'done', to: file })
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(receipt)
    expect(readdirSync(join(folder, 'acme')).sort()).toEqual(['jobs.xml', 'jobs.xml.receipt.json'])
  })

  it('replaces a link in its place instead of writing through it', async () => {
    put(folder, 'acme/jobs.xml')
    const precious = put(base, 'precious', 'untouched')
    symlinkSync(precious, join(folder, 'acme/jobs.xml.receipt.json'))

    await dispositions.writeReceipt(receipt)

    expect(readFileSync(precious, 'utf8')).toBe('untouched')
  })

  it('that cannot be written is a named problem and leaves nothing behind', async () => {
    const name = `${'n'.repeat(251)}.xml`
    put(folder, name)

    const [tooLong, nowhere] = [
      await dispositions.writeReceipt({ ...receipt, file: name }),
      await dispositions.writeReceipt({ ...receipt, file: 'gone/jobs.xml' }),
    ]

    expect(tooLong).toMatchObject({
      kind: 'problem',
      code: 'ENAMETOOLONG',
      hint: 'use shorter file names',
    })
    expect(nowhere).toMatchObject({ kind: 'problem', code: 'ENOENT' })
    expect(readdirSync(folder)).toEqual([name])
  })
})

describe('moving without overwriting', () => {
  it('copies to another file system, and removes the original only then', async () => {
    const shared = '/dev/shm'
    const target = existsSync(shared) ? shared : base
    const from = put(base, 'jobs.xml', '<a/>')
    const to = join(target, `${basename(base)}.xml`)

    await moveExclusively(from, to)

    expect(readFileSync(to, 'utf8')).toBe('<a/>')
    expect(existsSync(from)).toBe(false)
    const again = moveExclusively(put(base, 'jobs.xml', '<b/>'), to)
    await expect(again).rejects.toMatchObject({ code: 'EEXIST' })
    expect(readFileSync(to, 'utf8')).toBe('<a/>')
    rmSync(to)
  })

  it('falls back to an exclusive name for a file that may not be linked', async () => {
    // A directory stands for what link(2) refuses everywhere; rename(2) then refuses it too.
    const from = join(base, 'directory')
    mkdirSync(from)
    const to = join(base, 'target')

    const moved = moveExclusively(from, to)

    await expect(moved).rejects.toMatchObject({ code: 'ENOTDIR' })
    expect(existsSync(to)).toBe(false)
  })

  it('stamps names at the edge of a character, with and without an extension', () => {
    expect(stampedName('jobs.xml', '2027-01-04T06:00:00.000Z', 0)).toBe(
      'jobs.20270104T060000000Z.xml',
    )
    expect(stampedName('jobs', '2027-01-04T06:00:00.000Z', 2)).toBe('jobs.20270104T060000000Z.2')
    expect(
      Buffer.byteLength(stampedName(`${'😀'.repeat(62)}.xml`, '2027-01-04T06:00:00.000Z', 0)),
    ).toBeLessThanOrEqual(255)
  })
})
