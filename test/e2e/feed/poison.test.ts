// A file that causes an error inside feedsyncd gets a state and a reason, once, and delays no other feed. disk.test.ts
// covers temporary trouble (disk, database).

import { expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { feedOf, finished, preload, Site } from '../../helpers/site.ts'

it('fails each file that kills its reading thread, once, with a reason and a hint, and delivers the other files', async () => {
  await using site = await Site.open({}, { env: preload('poison.ts') })
  for (const name of ['ends.xml', 'errs.xml', 'grows.xml']) site.drop(name, feedOf(3))
  site.drop('a.xml', feedOf(4))
  site.drop('z.xml', feedOf(5))

  const daemon = await site.daemonProcess()
  const output = finished(daemon)
  await site.until('a.xml', 'uploaded')
  await site.until('z.xml', 'uploaded')
  const failed = await Promise.all(
    ['ends.xml', 'errs.xml', 'grows.xml'].map((feed) => site.until(feed, 'failed')),
  )
  site.drop('after.xml', feedOf(6))
  await site.until('after.xml', 'uploaded')
  daemon.kill('SIGTERM')
  const { stdout, stderr } = await output

  expect(failed.map(({ reason }) => reason)).toEqual([
    expect.stringMatching(/^an internal error of feedsyncd: .* the reading thread ended$/),
    'an internal error of feedsyncd: an unexpected error',
    expect.stringMatching(/the reading thread ran out of memory$/),
  ])
  expect(failed.map(({ hint }) => hint)).toEqual(Array(3).fill(expect.stringContaining('report')))
  expect(stdout.match(/"event":"feed.fault"/g)).toHaveLength(3)
  expect(stdout + stderr).not.toContain('daemon.condition')
})

it('reads a failed file again after a retry by a person, as the same version, and after a change of the file', async () => {
  await using site = await Site.open({}, { env: preload('poison.ts') })
  site.drop('errs.xml', feedOf(3))
  site.drop('ends.xml', feedOf(3))
  const broken = await site.daemonProcess()
  const [errs] = await Promise.all([
    site.until('errs.xml', 'failed'),
    site.until('ends.xml', 'failed'),
  ])

  const retried = await site.run('retry', String(errs.id))
  await eventually(() =>
    expect(site.show(errs.id).events.map(({ to }) => to)).toEqual([
      'settling',
      'checking',
      'failed',
      'settling',
      'checking',
      'failed',
    ]),
  )
  broken.kill('SIGKILL')
  await finished(broken)
  site.env = {}
  await site.run('retry', String(errs.id))
  site.drop('ends.xml', feedOf(4))
  await site.daemonProcess()
  const corrected = await site.until('errs.xml', 'uploaded')

  expect(retried.code).toBe(1)
  expect(corrected.id).toBe(errs.id)
  expect((await site.until('ends.xml', 'uploaded')).postings).toBe(4)
})
