// Feeds that come at the same time are read in parallel and share commits and fsyncs. Each feed must still be handled
// as if it came alone.

import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openHistoryReader } from '../../../src/history/tables.ts'
import { killed } from '../../helpers/killed.ts'
import { feedOf, Site } from '../../helpers/site.ts'

const NAMES = ['a.xml', 'b.xml', 'c.xml', 'd.xml', 'e.xml']
const contentOf = (name: string, round = 1) => feedOf(5, `${name} ${round}`)
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

function dropAll(site: Site, names = NAMES, round = 1): void {
  for (const name of names) site.drop(name, contentOf(name, round))
}

/** spooled returns the files in the spool, and the copies that versions name. */
function spooled(site: Site): { files: string[]; named: string[] } {
  return {
    files: readdirSync(join(site.root, 'state', 'spool')).filter((name) => !/index$/.test(name)),
    named: NAMES.flatMap((feed) => filesOf(site, feed)),
  }
}

function filesOf(site: Site, feed: string): string[] {
  using history = openHistoryReader({ file: join(site.root, 'state', 'feedsyncd.db') })
  const versions = history?.list({ feed, all: true }) ?? []
  return versions.flatMap(({ spool }) => spool ?? [])
}
const stored = (site: Site) => site.sandbox.objects().map((object) => object.sha256)
const shas = (round = 1) => NAMES.map((name) => sha256(contentOf(name, round)))

describe.concurrent('feeds that come at the same time', () => {
  it('arrive whole, each once, and leave one copy each', async () => {
    await using site = await Site.open()
    dropAll(site)

    const { code } = await site.run('run', '--once')

    expect(code).toBe(0)
    expect(stored(site).sort()).toEqual(shas().sort())
    const { files, named } = spooled(site)
    expect(files.sort()).toEqual(named.sort())
    expect(files).toHaveLength(NAMES.length)
  })

  it('are each compared with their own last upload', async () => {
    await using site = await Site.open()
    site.drop('a.xml', contentOf('a.xml'))
    await site.run('run', '--once')
    dropAll(site, NAMES, 2)
    await site.run('run', '--once')
    dropAll(site, NAMES, 3)

    await site.run('run', '--once')

    const changes = site.uploads({ all: true }).map(({ feed, changes }) => [feed, changes])
    const changed = { added: 0, removed: 0, changed: 5 }
    expect(changes).toEqual(
      expect.arrayContaining(NAMES.map((feed) => [feed, changed])) as typeof changes,
    )
    expect(changes.filter(([feed]) => feed === 'a.xml')).toEqual([
      ['a.xml', changed],
      ['a.xml', changed],
      ['a.xml', null],
    ])
  })

  it('leave no copy and are not sent when they have the same bytes as before', async () => {
    await using site = await Site.open()
    dropAll(site)
    await site.run('run', '--once')
    const before = spooled(site).files.sort()

    dropAll(site)
    await site.run('run', '--once')

    expect(spooled(site).files.sort()).toEqual(before)
    expect(stored(site)).toHaveLength(NAMES.length)
  })

  it('can be restored alone', async () => {
    await using site = await Site.open()
    dropAll(site)
    await site.run('run', '--once')
    dropAll(site, NAMES, 2)
    await site.run('run', '--once')
    const [older] = site.uploads({ feed: 'c.xml', all: true }).toReversed()

    await site.run('restore', String(older?.id))
    await site.run('run', '--once')

    const again = stored(site).filter((sha) => sha === sha256(contentOf('c.xml')))
    expect(again).toHaveLength(2)
    expect(stored(site)).toHaveLength(2 * NAMES.length + 1)
  })
})

describe.concurrent('after a kill while several copies are written', () => {
  for (const point of [
    'half of write state/spool/*.part (3)',
    'before fsync state/spool/*.part (2)',
    'after fsync state/spool/*.part (4)',
    'after rename state/spool/*.part to state/spool/3.xml',
    'after fsync state/spool',
  ]) {
    it(`all feeds arrive, twice only after an unknown attempt, and no unneeded copy is left (${point})`, async () => {
      await using site = await Site.open()
      dropAll(site)

      expect(await killed(site, point)).toBe(true)
      const { code } = await site.run('run', '--once')

      expect(code).toBe(0)
      expect([...new Set(stored(site))].sort()).toEqual(shas().sort())
      // An upload that the kill cut off might be stored: then the file is sent again.
      const attempts = site.uploads({ all: true }).flatMap(({ id }) => site.show(id).attempts)
      const unknown = attempts.filter(({ outcome }) => outcome === 'unknown').length
      expect(stored(site).length).toBeLessThanOrEqual(shas().length + unknown)
      const { files, named } = spooled(site)
      expect(files.sort()).toEqual([...new Set(named)].sort())
    })
  }
})
