// A person pauses the sending of all feeds or one feed. The daemon still takes and checks new files, and they wait.

import { join } from 'node:path'
import { expect, it } from 'vitest'
import { statusOf } from '../../helpers/look.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, preload, Site } from '../../helpers/site.ts'

const WHO = { by: expect.stringMatching(/./), since: expect.any(String) }

it('pause lets running uploads end and sends nothing new until resume; status, show, page, metrics, retry and upload say so', async () => {
  await using site = await Site.open({ http: { listen: '127.0.0.1:0' } })
  const gate = site.sandbox.faults.add({ at: 'storage', kind: 'gate', point: 'answer' })
  const daemon = await site.daemonProcess()
  const opened = await site.logged(daemon, 'endpoint.open')
  const [, address = ''] = /"address":"([^"]+)"/.exec(opened) ?? []
  site.drop('a.xml', feedOf(2))
  await gate.held()

  const paused = await site.run('pause')
  gate.remove()
  await site.until('a.xml', 'uploaded')
  site.drop('b.xml', feedOf(3))
  const { id } = await site.until('b.xml', 'queued')
  const { paused: told, pausedFeeds, uploads } = statusOf(site)
  const said = {
    status: (await site.run('status')).stdout,
    check: await site.run('status', '--check'),
    show: (await site.run('show', String(id))).stdout,
    retry: await site.run('retry', String(id)),
    retryAll: await site.run('retry', '--all'),
    upload: await site.run('upload', join(site.inbox, 'b.xml')),
    page: await (await fetch(address)).text(),
    metrics: await (await fetch(`${address}/metrics`)).text(),
  }
  const objects = site.sandbox.objects().length
  const resumed = await site.run('resume')
  await site.until('b.xml', 'uploaded')

  expect([paused.code, resumed.code, objects]).toEqual([0, 0, 1])
  expect([told, pausedFeeds]).toEqual([{ ...WHO, until: null }, []])
  expect(uploads[0]).toMatchObject({ state: 'queued', reasonCode: 'paused', nextAttemptAt: null })
  expect(uploads[0]?.reason).toBe(`paused by ${told?.by}`)
  expect(paused.stdout).toContain(`nothing is sent: paused by ${told?.by}\n`)
  expect(said.status).toContain(`paused by ${told?.by}`)
  expect(said.status).toContain(`  feedsyncd resume --config ${site.configFile}\n`)
  expect(said.check).toMatchObject({ code: 1, stdout: expect.stringContaining('paused by') })
  expect(said.show).toContain(`paused by ${told?.by}`)
  expect(said.retryAll.stdout).toBe(`version ${id} of b.xml is queued\n`)
  expect(said.retryAll.stderr).toContain('it is sent once the pause ends')
  for (const { code, stderr } of [said.retry, said.retryAll, said.upload])
    expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining('paused by')])
  expect(said.upload.code).toBe(75)
  expect(said.page).toContain(`Nothing is sent: paused by ${told?.by}`)
  expect(said.metrics).toContain('feedsyncd_active_pauses 1\n')
  expect(resumed.stdout).toBe('nothing is paused\n')
  expect(statusOf(site).paused).toBeNull()
})

it('pause FEED stops only that feed, also after a restart and in a single pass, which exits 75, until resume FEED', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  const daemon = await site.daemon()
  for (const name of ['a.xml', 'b.xml']) site.drop(name, feedOf(2))
  for (const name of ['a.xml', 'b.xml']) await site.until(name, 'uploaded')

  await site.run('pause', 'a.xml')
  await daemon.stop()
  for (const name of ['a.xml', 'b.xml']) site.drop(name, feedOf(3))
  const once = await site.run('run', '--once')
  const states = Object.fromEntries(site.uploads().map(({ feed, state }) => [feed, state]))
  const checks = ['a.xml', 'b.xml'].map((feed) => site.run('status', feed, '--json'))
  const told = (await Promise.all(checks)).map(({ stdout }) => JSON.parse(stdout))
  await site.run('resume', 'a.xml')
  const again = await site.run('run', '--once')

  expect([once.code, states]).toEqual([75, { 'a.xml': 'queued', 'b.xml': 'uploaded' }])
  expect(told.map(({ paused, pausedFeeds }) => [paused, pausedFeeds])).toEqual([
    [null, [{ feed: 'a.xml', ...WHO, until: null }]],
    [null, []],
  ])
  expect([again.code, site.uploads({ feed: 'a.xml' })[0]?.state]).toEqual([0, 'uploaded'])
})

it('a pass during pause --for exits 75, the pause lasts its time and ends by itself, and resume ends all pauses', async () => {
  await using site = await Site.open()
  site.env = preload('fast-time.ts')
  await site.run('run', '--once')
  await site.run('pause', '--for', '1h')
  const paused = await site.run('run', '--once')
  await site.daemonProcess()
  site.drop('a.xml', feedOf(2))
  await site.until('a.xml', 'queued')
  const { paused: long } = statusOf(site)
  // The clocks of the daemon run ten times as fast as usual.
  const short = await site.run('pause', '--for', '10s')
  await site.until('a.xml', 'uploaded')
  await site.run('pause')
  await site.run('pause', 'a.xml')
  const { paused: all, pausedFeeds } = statusOf(site)
  await site.run('resume')

  expect(paused.code).toBe(75)
  const lasts = Date.parse(long?.until ?? '') - Date.parse(long?.since ?? '')
  expect(Math.abs(lasts - 3_600_000)).toBeLessThan(60_000)
  expect(short.stdout).toMatch(/paused by \S+ until [-:\d ]+ UTC\n/)
  expect([all?.until, pausedFeeds.length]).toEqual([null, 1])
  expect([statusOf(site).paused, statusOf(site).pausedFeeds]).toEqual([null, []])
})
