import { describe, expect, it } from 'vitest'
import type { Inbox, Listing } from '../../src/inbox/port.ts'
import { watchedListing } from '../../src/inbox/watched-listing.ts'
import { Conditions } from '../../src/lib/conditions.ts'
import { HandClock } from './harness.ts'

class Timers extends HandClock {
  readonly #timers = new Set<() => void>()

  override after(_ms: number, run: () => void) {
    this.#timers.add(run)
    return { cancel: () => void this.#timers.delete(run) }
  }

  /** All timers that nobody has cancelled are due. */
  ring(): void {
    for (const run of this.#timers) run()
  }
}

describe('a listing that does not end', () => {
  it.each(['list', 'look'] as const)('is a condition until it does (%s)', async (call) => {
    const clock = new Timers()
    const conditions = new Conditions(clock)
    const listing = Promise.withResolvers<never>()
    const inbox = { [call]: () => listing.promise } as unknown as Inbox
    const watched = watchedListing(inbox, { clock, conditions, directory: '/feeds' })

    const listed = call === 'list' ? watched.list() : watched.look([])
    clock.ring()
    const meanwhile = conditions.current()
    listing.resolve({} as Listing as never)
    await listed
    clock.ring()

    expect(meanwhile).toMatchObject([
      { code: 'scan-stuck', message: expect.stringContaining('/feeds has not ended since 2027') },
    ])
    expect(conditions.current()).toEqual([])
  })
})
