// How long `run --once` waits. The writer here writes each time the daemon reads the clock, so it is never slower than
// the daemon, even on a slow machine.

import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

/** writerOf returns a clock that lets a file grow each time it is read, and that can be set ahead. */
function writerOf(path: string) {
  const writer = { ahead: 0, isWriting: true }
  writeFileSync(path, '<source>')
  const clock: Clock = {
    ...systemClock,
    monotonic: () => {
      if (writer.isWriting) appendFileSync(path, '<job/>')
      return systemClock.monotonic() + writer.ahead
    },
  }
  return { writer, clock }
}

describe('run --once', () => {
  it('waits for a file that is being written, and does not delay other files', async () => {
    await using site = await Site.open()
    const path = join(site.inbox, 'growing.xml')
    const { writer, clock } = writerOf(path)
    site.drop('quiet.xml', feedOf(3))

    site.clock = clock
    const ended = site.run('run', '--once')
    await site.until('quiet.xml', 'uploaded')
    // Longer than any time limit that counts from the start.
    writer.ahead += 60_000
    const meanwhile = site.uploads({ feed: 'growing.xml' })
    appendFileSync(path, '</source>')
    writer.isWriting = false
    await ended

    expect(meanwhile).toMatchObject([{ state: 'settling' }])
    expect(site.uploads({ feed: 'growing.xml' })).toMatchObject([{ state: 'uploaded' }])
    expect(site.events('growing.xml').map(({ to }) => to)).not.toContain('incomplete')
  })

  it('stops waiting after inbox.incompleteAfter for a file that is still being written', async () => {
    await using site = await Site.open({ inbox: { incompleteAfter: '1h' } })
    const { writer, clock } = writerOf(join(site.inbox, 'growing.xml'))
    site.drop('quiet.xml', feedOf(3))

    site.clock = clock
    const ended = site.run('run', '--once')
    await site.until('quiet.xml', 'uploaded')
    writer.ahead += 3_600_000
    await ended

    expect(site.uploads({ feed: 'growing.xml' })).toMatchObject([{ state: 'settling' }])
  })

  it('leaves no timer behind that keeps its process alive', async () => {
    await using site = await Site.open()
    site.drop('jobs.xml', feedOf(3))
    let begun = 0
    let sleeping = 0
    const clock: Clock = {
      ...systemClock,
      sleep: (ms, signal) => {
        // A shared commit waits for a few ms only.
        if (ms < 100) return systemClock.sleep(ms, signal)
        begun++
        sleeping++
        return systemClock.sleep(ms, signal).finally(() => sleeping--)
      },
    }

    site.clock = clock
    await site.run('run', '--once')
    await setImmediate()

    expect(begun).toBeGreaterThan(0)
    expect(sleeping).toBe(0)
  })
})
