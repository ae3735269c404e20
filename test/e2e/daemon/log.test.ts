import { expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

it('the rejection of a feed is logged once, even when the folder is listed many times', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  const daemon = await site.daemon()
  site.drop('broken.xml', '<a></b>')
  await site.until('broken.xml', 'rejected')

  const scans = new Set<string | null>()
  await eventually(() => {
    scans.add(statusOf(site).daemon.lastScanAt)
    expect(scans.size).toBeGreaterThan(2)
  })

  const about = daemon.output.split('\n').filter((line) => line.includes('"rejected"'))
  expect(about).toHaveLength(1)
})

it('a daemon goes on when nobody reads its log', async () => {
  await using site = await Site.open()
  const daemon = await site.daemonProcess()
  daemon.stdout?.destroy()
  daemon.stderr?.destroy()

  for (const name of ['a.xml', 'b.xml']) {
    site.drop(name, feedOf(3))
    await site.until(name, 'uploaded')
  }

  expect(daemon.exitCode).toBeNull()
})

it('a daemon goes on when the disk of its log is full', async () => {
  await using site = await Site.open()
  const daemon = site.spawnBy(['sh', '-c', 'exec "$@" >/dev/full 2>&1', 'sh'], 'run')

  for (const name of ['a.xml', 'b.xml']) {
    site.drop(name, feedOf(3))
    await site.until(name, 'uploaded')
  }

  expect(daemon.exitCode).toBeNull()
})
