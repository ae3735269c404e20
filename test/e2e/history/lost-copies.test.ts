// A copy in the state directory is lost. Its version still has an end that says what happened, and nothing is tried
// for ever.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

let site: Site
beforeEach(async () => {
  site = await Site.open({}, { clock: quickClock() })
})
afterEach(() => site[Symbol.asyncDispose]())

const loseCopies = () => rmSync(join(site.root, 'state', 'spool'), { recursive: true })
const loseFile = (name: string) => rmSync(join(site.inbox, name))

it('a held version whose copy and file are lost fails, and says what to do', async () => {
  const before = await site.daemon()
  site.drop('jobs.xml', '<source></source>')
  await site.until('jobs.xml', 'held')
  await before.stop()
  loseCopies()
  loseFile('jobs.xml')

  await site.daemon()
  const failed = await site.until('jobs.xml', 'failed')

  expect(failed.hint).toBe('put the file into the folder again')
})

it('a version whose copy is lost cannot be retried, and the file is taken when it is dropped again', async () => {
  const before = await site.daemon()
  site.sandbox.faults.add({ at: 'storage', kind: 's3-error', code: 'EntityTooLarge', times: 1 })
  site.drop('jobs.xml', feedOf(3))
  const { id } = await site.until('jobs.xml', 'failed')
  await before.stop()
  loseCopies()
  loseFile('jobs.xml')
  await site.daemon()

  const { code, stderr } = await site.run('retry', String(id))
  const after = site.show(id)
  site.drop('jobs.xml', feedOf(3))
  const uploaded = await site.until('jobs.xml', 'uploaded')

  expect([code, after.state, after.attempts.length]).toEqual([1, 'failed', 1])
  expect(stderr).toContain('drop the file again')
  expect(uploaded.id).toBeGreaterThan(id)
})
