// Several people upload at the same time.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

it('twelve files of one feed become twelve versions, are sent in order up to the newest, and each command ends with 0, 1 or 3', async () => {
  await using site = await Site.open({ guards: { maxDropPercent: 100 } }, { clock: quickClock() })
  await site.daemon()
  const files = Array.from({ length: 12 }, (_, n) => {
    const file = join(site.root, `export-${n}.xml`)
    writeFileSync(file, feedOf(20 + n, `Nurse ${n}`))
    return file
  })

  const ends = await Promise.all(
    files.map((file) => site.run('upload', file, '--feed', 'all', '--new')),
  )

  const versions = site.uploads({ feed: 'all', all: true })
  expect(versions).toHaveLength(12)
  expect(versions[0]?.state).toBe('uploaded')
  expect(versions.every(({ state }) => ['uploaded', 'superseded'].includes(state))).toBe(true)
  expect(ends.every(({ code }) => code === 0 || code === 1 || code === 3)).toBe(true)
  const order = site.sandbox
    .objects()
    .toSorted((a, b) => a.receivedAt - b.receivedAt)
    .map(({ sha256 }) => versions.find((one) => one.sha256 === sha256)?.id ?? 0)
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  expect(order.at(-1)).toBe(versions[0]?.id)
})

it('without a daemon, three uploads of one file at the same time send it once, and each ends with 0 or 75', async () => {
  await using site = await Site.open()
  const file = join(site.root, 'export.xml')
  writeFileSync(file, feedOf(20))

  const ends = await Promise.all(
    [1, 2, 3].map(() => site.process('upload', file, '--feed', 'all', '--new')),
  )

  expect(ends.map(({ code }) => code).every((code) => code === 0 || code === 75)).toBe(true)
  expect(ends.some(({ code }) => code === 0)).toBe(true)
  expect(site.sandbox.objects()).toHaveLength(1)
})
