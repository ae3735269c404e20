// A version with very many events: people still see only as much as they can read.

import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { openWithEndpoint } from '../../helpers/ops/endpoint-site.ts'
import { feedOf, type Site } from '../../helpers/site.ts'

const EVENTS = 130_000

/** addEvents writes, beside the running daemon, the events of an incomplete file that grows each minute. */
function addEvents(site: Site, id: number): void {
  const db = new Database(join(site.root, 'state', 'feedsyncd.db'))
  const { n } = db.prepare('SELECT max(n) AS n FROM events').get() as { n: number }
  const add = db.prepare(
    `INSERT INTO events (version, n, at, from_state, to_state, reason)
       VALUES (?, ?, ?, 'incomplete', 'settling', 'the document ends early, <source> is still open')`,
  )
  db.transaction(() => {
    for (let i = n + 1; i <= EVENTS; i++) add.run(id, i, 1_700_000_000_000 + i * 60_000)
  })()
  db.close()
}

it('show and the page show only the newest of 130,000 events and the number of the others, and --all and --json show all', async () => {
  const { site, url } = await openWithEndpoint()
  site.drop('jobs.xml', feedOf(3))
  const { id } = await site.until('jobs.xml', 'uploaded')
  addEvents(site, id)

  const shown = await site.run('show', String(id))
  const whole = await site.run('show', String(id), '--all')
  const json = await site.run('show', String(id), '--json')
  const feed = await site.run('show', 'jobs.xml')
  const page = await (await fetch(`${url}/version?id=${id}`)).text()

  expect(shown.stdout).toContain(`… and 129,950 earlier: feedsyncd show ${id} --all --config `)
  expect(shown.stdout.split('\n').length).toBeLessThan(100)
  expect(whole.code).toBe(0)
  expect(whole.stdout.split('\n').length).toBeGreaterThan(EVENTS)
  const { events } = JSON.parse(json.stdout) as { events: object[] }
  expect(events).toHaveLength(EVENTS)
  expect(Object.keys(events.at(-1) ?? {})).toEqual([
    ...['at', 'from', 'to', 'reason', 'reasonCode', 'line', 'column'],
  ])
  expect(feed.stdout.length).toBeLessThan(1000)
  expect(page).toContain('129,800 earlier: ')
  expect(page.length).toBeLessThan(1_000_000)
})
