// Daemons that are killed while they deliver. The crash matrix tests the moments between two writes;
// e2e/daemon/signals.test.ts tests signals.

import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, describe, expect, it } from 'vitest'
import type { FaultRule } from '../../../src/sandbox/faults/fault-types.ts'
import type { SeenRequest } from '../../../src/sandbox/records.ts'
import { eventually } from '../../helpers/eventually.ts'
import { waitForRequest } from '../../helpers/sandbox/waiting.ts'
import { feedOf, finished, lettersOf, Site } from '../../helpers/site.ts'

let site: Site
afterEach(async () => {
  const bugs = site.sandbox.requests().filter(({ code }) => code?.startsWith('sandbox-bug'))
  await site[Symbol.asyncDispose]()
  expect(bugs).toEqual([])
})

async function kill(daemon: ChildProcess): Promise<void> {
  daemon.kill('SIGKILL')
  await finished(daemon)
}

const outcomes = (id = 1) => site.show(id).attempts.map(({ outcome }) => outcome)
const played = (kind: FaultRule['kind']) => (request: SeenRequest) => request.faults.includes(kind)

describe('a daemon that is killed', () => {
  it('before it has a form delivers once after its restart, in the first attempt', async () => {
    site = await Site.open()
    site.sandbox.faults.add({ at: 'service', kind: 'slow', never: true, times: 1 })
    const first = await site.daemonProcess()
    site.drop('jobs.xml', feedOf(3))
    await waitForRequest(site.sandbox, played('slow'))

    await kill(first)
    await site.daemon()
    await site.until('jobs.xml', 'uploaded')

    expect(outcomes()).toEqual(['stored'])
    expect(site.sandbox.objects().map(({ writes }) => writes)).toEqual([1])
  })

  it.each([true, false])(
    'after the last byte (stored: %s) records an unknown outcome, and delivers the same bytes again',
    async (stored) => {
      site = await Site.open()
      site.sandbox.faults.add({
        ...{ at: 'storage', kind: 'lose-answer', stored, how: 'silence', times: 1 },
      })
      const first = await site.daemonProcess()
      site.drop('jobs.xml', feedOf(3))
      await waitForRequest(
        site.sandbox,
        (request) =>
          played('lose-answer')(request) && request.stored === stored && !!request.fileBytes,
      )

      await kill(first)
      await site.daemon()
      await site.until('jobs.xml', 'uploaded')

      // A file is sent twice only if the history has an unknown outcome.
      expect(outcomes()).toEqual(['unknown', 'stored'])
      const hashes = new Set(site.sandbox.objects().map(({ sha256 }) => sha256))
      expect(hashes.size).toBe(1)
      expect(site.sandbox.objects().length).toBeLessThanOrEqual(stored ? 2 : 1)
    },
  )

  it('while it checks an incomplete file checks the file again after its restart', async () => {
    site = await Site.open()
    site.drop('jobs.xml', feedOf(3).slice(0, 200))
    await site.run('run', '--once')
    const before = site.uploads()[0]?.state
    const db = new Database(join(site.root, 'state', 'feedsyncd.db'))
    db.exec("UPDATE versions SET state = 'checking'")
    db.close()

    await site.run('run', '--once')

    expect([before, site.uploads()[0]?.state]).toEqual(['incomplete', 'incomplete'])
  })

  it('with a form that soon expires asks for another form after its restart', async () => {
    site = await Site.open({}, { formLifetimeMs: 6000 })
    site.sandbox.faults.add({
      ...{ at: 'storage', kind: 'lose-answer', stored: false, how: 'silence', times: 1 },
    })
    const first = await site.daemonProcess()
    site.drop('jobs.xml', feedOf(3))
    await waitForRequest(site.sandbox, played('lose-answer'))

    await kill(first)
    await site.daemon()
    await site.until('jobs.xml', 'uploaded')

    const keys = site.show(1).attempts.map(({ key }) => key)
    expect(keys[1]).not.toBe(keys[0])
  })

  it('with a queue keeps it and sends each feed once, within upload.concurrency', async () => {
    site = await Site.open({ upload: { concurrency: 2 } })
    site.sandbox.faults.add({ at: 'service', kind: 'signature-mismatch' })
    const first = await site.daemonProcess()
    const names = Array.from({ length: 12 }, (_, n) => `${lettersOf(n)}.xml`)
    for (const name of names) site.drop(name, feedOf(2, name))
    for (const name of names) await site.until(name, 'queued')

    await kill(first)
    site.sandbox.faults.clear()
    await site.daemon()
    for (const name of names) await site.until(name, 'uploaded')

    const posts = site.sandbox.requests().filter(({ side }) => side === 'storage')
    const most = Math.max(
      ...posts.map(
        ({ startedAt }) =>
          posts.filter((o) => o.startedAt <= startedAt && (o.endedAt ?? 0) > startedAt).length,
      ),
    )
    expect(posts).toHaveLength(12)
    expect(most).toBeLessThanOrEqual(2)
  })

  it('while it obeys Retry-After continues to wait after its restart', async () => {
    site = await Site.open()
    site.sandbox.faults.add({ at: 'service', kind: 'answer', status: 503, retryAfter: '3000' })
    const first = await site.daemonProcess()
    site.drop('jobs.xml', feedOf(2))
    await waitForRequest(site.sandbox, ({ status }) => status === 503)
    const before = await eventually(() => {
      const [waiting] = site.uploads()
      if (!waiting?.nextAttemptAt) throw new Error('no next attempt is on record')
      return waiting
    })
    const asked = site.sandbox.requests().length

    await kill(first)
    await site.daemon()
    site.drop('other.xml', feedOf(3))
    await site.until('other.xml', 'queued')

    const after = await site.until('jobs.xml', 'queued')
    expect(asked).toBe(1)
    expect(after).toMatchObject({ attempts: 1, nextAttemptAt: before.nextAttemptAt })
  })
})
