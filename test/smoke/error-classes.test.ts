// One fault of each class: the daemon backs off, fails one file, waits for a person, or waits for the service.
// test/e2e/upload tests each class in detail.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventually } from '../helpers/eventually.ts'
import { statusOf } from '../helpers/look.ts'
import { quickClock } from '../helpers/quick-clock.ts'
import { feedOf, SECRET, Site } from '../helpers/site.ts'

const serviceState = (site: Site) => statusOf(site).service.state
const outcomes = (site: Site, id: number) => site.show(id).attempts.map(({ outcome }) => outcome)

it('a transient error is retried until the feed is uploaded', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  site.sandbox.faults.add({ at: 'storage', kind: 's3-error', code: 'InternalError', times: 1 })
  await site.daemon()

  site.drop('jobs.xml', feedOf(3))
  const { id } = await site.until('jobs.xml', 'uploaded')

  expect(outcomes(site, id)).toEqual(['failed', 'stored'])
})

it('a file that storage refuses fails with the reason, and other files are uploaded', async () => {
  await using site = await Site.open({}, { clock: quickClock(), contentLengthRange: [1, 1000] })
  await site.daemon()

  site.drop('large.xml', feedOf(100))
  site.drop('small.xml', feedOf(2))
  const { reason } = await site.until('large.xml', 'failed')
  await site.until('small.xml', 'uploaded')

  expect(reason).toMatch(/larger|at most|1,?000/)
})

it('refused credentials pause all feeds after one request, until the key file changes', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  const key = join(site.root, 'service.key')
  writeFileSync(key, 'wrong\n')
  await site.daemon()

  site.drop('jobs.xml', feedOf(3))
  await eventually(() => expect(serviceState(site)).toBe('credentials'))
  writeFileSync(key, `${SECRET}\n`)
  const { id } = await site.until('jobs.xml', 'uploaded')

  expect(outcomes(site, id)).toEqual(['refused', 'stored'])
  await eventually(() => expect(serviceState(site)).toBe('ok'))
})

it('an outage of the service makes all feeds wait, and each is uploaded once when it ends', async () => {
  await using site = await Site.open({}, { clock: quickClock() })
  const outage = site.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503 })
  await site.daemon()
  const names = ['a.xml', 'b.xml', 'c.xml']

  for (const name of names) site.drop(name, feedOf(3))
  await eventually(() => expect(serviceState(site)).toBe('down'))
  outage.remove()
  for (const name of names) await site.until(name, 'uploaded')

  expect(site.sandbox.objects()).toHaveLength(3)
})
