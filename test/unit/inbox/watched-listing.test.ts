import { describe, expect, it } from 'vitest'
import { Conditions } from '../../../src/lib/conditions.ts'
import { HandClock, openInbox, temporaryFolder } from '../../helpers/inbox/harness.ts'

class Timers extends HandClock {
  readonly #timers = new Set<() => void>()

  override after(_ms: number, run: () => void) {
    this.#timers.add(run)
    return { [Symbol.dispose]: () => void this.#timers.delete(run) }
  }

  /** All timers that nobody has cancelled are due. */
  ring(): void {
    for (const run of this.#timers) run()
  }
}

describe('a look at the folder that does not end', () => {
  it.each(['list', 'look'] as const)('is a condition until it does (%s)', async (call) => {
    const clock = new Timers()
    const conditions = new Conditions(clock)
    const directory = temporaryFolder()
    const answer = Promise.withResolvers<number>()
    const networkFileSystem = () => answer.promise
    const inbox = openInbox(directory, { clock, conditions, networkFileSystem })

    const looked = call === 'list' ? inbox.list() : inbox.look(['a.xml'])
    clock.ring()
    const meanwhile = conditions.current()
    answer.resolve(0xef53)
    await looked
    clock.ring()

    expect(meanwhile).toMatchObject([
      {
        code: 'scan-stuck',
        message: expect.stringContaining(`${directory} has not ended since 2027`),
      },
    ])
    expect(conditions.current()).toEqual([])
  })
})
