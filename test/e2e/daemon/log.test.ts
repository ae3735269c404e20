import { expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

it('each change of a feed is logged once, however often the folder is listed', async () => {
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

it('a log that nobody reads any more stops no daemon', async () => {
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

it('a log on a full disk stops no daemon', async () => {
  await using site = await Site.open()
  const daemon = site.spawnBy(['sh', '-c', 'exec "$@" >/dev/full 2>&1', 'sh'], 'run')

  for (const name of ['a.xml', 'b.xml']) {
    site.drop(name, feedOf(3))
    await site.until(name, 'uploaded')
  }

  expect(daemon.exitCode).toBeNull()
})
