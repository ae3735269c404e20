// feedsyncd backup copies the history while the daemon runs. A copy is complete, or it does not replace the old one.

import { existsSync, linkSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { feedOf, Site } from '../../helpers/site.ts'
import { mountedDisk } from '../../helpers/small-disk.ts'

it('a backup during an upload replaces the older copy, is for its owner alone, leaves no other file, and says its size', async () => {
  await using site = await Site.open()
  await site.daemon()
  const gate = site.sandbox.faults.add({ at: 'storage', kind: 'gate', point: 'answer' })
  site.drop('jobs.xml', feedOf(10))
  await gate.held()
  const to = join(site.root, 'backup.db')
  writeFileSync(to, 'an older copy', { mode: 0o644 })

  const said = await site.run('backup', to)
  const json = await site.run('backup', to, '--json')

  expect(said).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`the history is in ${to}`),
  })
  expect(JSON.parse(json.stdout)).toEqual({ schemaVersion: 1, file: to, bytes: statSync(to).size })
  expect(statSync(to).mode & 0o777).toBe(0o600)
  expect(readdirSync(site.root).filter((name) => name.startsWith('backup.db'))).toEqual([
    'backup.db',
  ])
  using copy = opened(to)
  expect(copy.states()).toEqual(['uploading'])
  gate.release()
  await site.until('jobs.xml', 'uploaded')
})

it('a backup keeps the old copy and leaves no other file if the disk is full, says so, and exits 75', async (context) => {
  await using site = await Site.open()
  using disk = mountedDisk(join(site.root, 'small'), context)
  await site.run('run', '--once')
  const to = join(disk.folder, 'backup.db')
  writeFileSync(to, 'an older copy')
  disk.fill(process, 4096)

  const { code, stderr } = await site.run('backup', to)

  expect(code).toBe(75)
  expect(stderr).toContain(`the disk is full: ${to} cannot be written`)
  expect(readdirSync(disk.folder).sort()).toEqual(['backup.db', 'ballast'])
  expect(statSync(to).size).toBe('an older copy'.length)
})

it('a backup exits 1 and makes no file without a history, and exits 64 if the target is a directory', async () => {
  await using site = await Site.open()
  const to = join(site.root, 'backup.db')

  const none = await site.run('backup', to)
  await site.run('run', '--once')
  const folder = await site.run('backup', site.root)

  expect(none).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no history to copy'),
  })
  expect(existsSync(to)).toBe(false)
  expect(folder).toMatchObject({ code: 64, stderr: expect.stringContaining('is not a file') })
})

function opened(file: string) {
  const db = new Database(file, { readonly: true })
  return {
    states: () => db.prepare('SELECT state FROM versions').pluck().all(),
    [Symbol.dispose]: () => db.close(),
  }
}

it('a backup refuses with 64 to replace a file of feedsyncd, under any name', async () => {
  await using site = await Site.open()
  await site.run('run', '--once')
  const state = join(site.root, 'state')
  const config = site.configFile
  symlinkSync(state, join(site.root, 'link'))
  linkSync(config, join(site.root, 'config.hard'))
  const own = ['state/feedsyncd.db', 'state/feedsyncd.db-wal', 'state/daemon.lock', 'state/new.db']
  const others = ['state/spool/1.xml', 'link/feedsyncd.db', 'feedsyncd.yaml', 'config.hard']
  const files = [...own, ...others, 'service.key'].map((name) => join(site.root, name))
  const before = files.map((file) => existsSync(file) && statSync(file).ino)

  const codes = []
  for (const file of files) codes.push((await site.run('backup', file)).code)

  expect(codes).toEqual(files.map(() => 64))
  expect(files.map((file) => existsSync(file) && statSync(file).ino)).toEqual(before)
})

it('a second backup to one file exits 75 while the first runs, one to another file succeeds, and only whole copies stay', async () => {
  await using site = await Site.open()
  site.drop('jobs.xml', feedOf(10))
  await site.run('run', '--once')
  const to = join(site.root, 'backup.db')

  const both = await Promise.all([1, 2, 3].map(() => site.process('backup', to)))
  const refused = both.filter(({ code }) => code !== 0)
  const running = new Database(join(site.root, '.backup.db.lock'))
  running.exec('BEGIN EXCLUSIVE')
  const second = await site.process('backup', to)
  const elsewhere = await site.process('backup', join(site.root, 'other.db'))
  running.close()
  const after = await site.run('backup', to)

  expect(both.map(({ code }) => code)).toContain(0)
  expect(refused.map(({ code }) => code)).toEqual(refused.map(() => 75))
  expect([second.code, elsewhere.code, after.code]).toEqual([75, 0, 0])
  expect(second.stderr).toContain(`another backup to ${to} runs`)
  using copy = opened(to)
  expect(copy.states()).toEqual(['uploaded'])
  expect(readdirSync(site.root).filter((name) => name.startsWith('backup.db'))).toEqual([
    'backup.db',
  ])
})
