import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openHistory } from '../../../src/history/sqlite-history.ts'
import { feedOf, Site } from '../../helpers/site.ts'

it('status in a pipe lists every feed, however many there are', async () => {
  await using site = await Site.open()
  await site.run('run', '--once')
  using history = openHistory({ file: join(site.root, 'state', 'feedsyncd.db') })
  for (let n = 100; n < 160; n++) {
    const feed = { path: `f${n}.xml`, feed: `f${n}.xml`, account: null, reason: null }
    history.add({ ...feed, state: 'settling', at: Date.now() })
  }

  const { stdout } = await site.process('status')

  expect(stdout.match(/^ *\d+ +f1\d\d\.xml/gm)).toHaveLength(60)
})

it('status --check answers with 3 for a feed that it does not know, as for a mistyped name', async () => {
  await using site = await Site.open()
  await site.daemon()
  site.drop('jobs.xml', feedOf(1))
  await site.until('jobs.xml', 'uploaded')

  const known = await site.run('status', 'jobs.xml', '--check')
  const failed = await site.run('status', 'jobs.xml', '--check', '--state', 'failed')
  const mistyped = await site.run('status', 'job.xml', '--check')
  const json = await site.run('status', 'job.xml', '--check', '--json')

  expect(known).toMatchObject({ code: 0, stdout: expect.stringMatching(/^OK - 1 feed/) })
  expect(failed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^OK - 0 feeds/) })
  expect(mistyped).toMatchObject({
    code: 3,
    stdout: 'UNKNOWN - no version of job.xml is known: see feedsyncd status\n',
  })
  expect([json.code, JSON.parse(json.stdout)]).toEqual([
    3,
    { schemaVersion: 1, code: 3, line: mistyped.stdout.trimEnd() },
  ])
})
