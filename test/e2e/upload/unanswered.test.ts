// A version that a person discarded after an upload without an answer: storage might have it.

import { expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { statusOf } from '../../helpers/look.ts'
import { feedOf, Site } from '../../helpers/site.ts'

/** discardUnanswered discards the newest version of a feed after storage took it and did not answer. */
async function discardUnanswered(site: Site, postings: number): Promise<number> {
  const { faults } = site.sandbox
  faults.add({ at: 'storage', kind: 'lose-answer', how: 'rst', stored: true, times: 1 })
  faults.add({ at: 'storage', kind: 'answer', status: 503, retryAfter: '600', times: 1 })
  site.drop('acme.xml', feedOf(postings))
  const id = await eventually(() => {
    const [newest] = site.uploads()
    if (newest?.reason !== 'storage answered 503') throw new Error(`it is ${newest?.reason}`)
    return newest.id
  })
  expect((await site.run('discard', String(id))).code).toBe(0)
  await site.until('acme.xml', 'discarded')
  return id
}

it('a discarded version that storage might have is named everywhere until a later one is stored', async () => {
  await using site = await Site.open({ guards: { maxDropPercent: 100 } })
  await site.daemon()
  site.drop('acme.xml', feedOf(40))
  const first = await site.until('acme.xml', 'uploaded')
  const maybe = 'storage might have version 2 (3 postings), because its upload had no answer'

  expect(await discardUnanswered(site, 3)).toBe(2)
  const status = await site.run('status')
  const feed = await site.run('show', 'feed:acme.xml')
  const json = JSON.parse((await site.run('show', 'feed:acme.xml', '--json')).stdout)
  const check = await site.run('status', '--check')
  const { problems, uploads } = statusOf(site)

  expect(status.stdout).toContain(`warning: acme.xml is discarded, but ${maybe}`)
  expect(status.stdout).toContain(`    on the service: version ${first.id}, 40 postings, since `)
  expect(feed.stdout).toMatch(/^on the service: version 1, 40 postings, since .* UTC, but /)
  expect(feed.stdout).toContain(maybe)
  expect(json).toMatchObject({ onService: { id: 1 }, maybeOnService: { id: 2, postings: 3 } })
  expect([check.code, check.stdout]).toEqual([1, expect.stringContaining(maybe.slice(0, 30))])
  const found = problems.find(({ code }) => code === 'maybe-stored')
  expect(found).toMatchObject({ severity: 'warning', subject: { feed: 'acme.xml', version: 2 } })
  expect(uploads).toMatchObject([{ id: 2, maybeOnService: { id: 2, postings: 3 } }])

  await site.run('restore', String(first.id), '--yes')
  await site.until('acme.xml', 'uploaded')

  expect(statusOf(site).problems.map(({ code }) => code)).not.toContain('maybe-stored')
  expect((await site.run('show', 'feed:acme.xml')).stdout).not.toContain('might have')
})

it('a discarded version that storage might have is named also if the service has no other version', async () => {
  await using site = await Site.open()
  await site.daemon()

  await discardUnanswered(site, 3)
  const { stdout } = await site.run('status')

  expect(stdout).toContain(
    '    on the service: no version of this feed, but storage might have version 1 (3 postings)',
  )
})
