// Accounts that the service refuses, with the outgoing half of the daemon in one process and time that jumps: which
// feeds wait, which do not, and how often the service is asked.

import { describe, expect, it } from 'vitest'
import { DAY, MINUTE } from '../../../src/lib/clock.ts'
import { lettersOf } from '../../helpers/feed.ts'
import { feedRule } from '../../helpers/feed-rule.ts'
import { Outlet, SECRET } from '../../helpers/outlet.ts'
import { waitForObjects, waitForRequest } from '../../helpers/sandbox/waiting.ts'

const FEEDS = [feedRule('{1}/{2}.xml', { name: '{1}-{2}', partnerAccount: '{1}' })]

/** outletOf opens a partner's outlet with waiting feeds of these accounts, in this order. */
async function outletOf(
  waiting: readonly string[],
  known: readonly string[],
  concurrency = 1,
): Promise<Outlet> {
  const caller = { partner: 'acme', partnerAccounts: [...known], secret: SECRET }
  const outlet = await Outlet.open({ feeds: FEEDS, concurrency, sandbox: { callers: [caller] } })
  for (const [n, account] of waiting.entries()) await outlet.take(`${account}/${lettersOf(n)}.xml`)
  return outlet
}

const accountsAsked = (outlet: Outlet) =>
  outlet.requests('service').map(({ account, status }) => `${account} ${status}`)

const states = (outlet: Outlet, count: number) =>
  Array.from({ length: count }, (_, n) => outlet.version(n + 1).state)

describe('an account that the service refuses', () => {
  it('delays no other account, even if it comes first and none was accepted yet, and is reported', async () => {
    await using outlet = await outletOf(['wrong', 'a', 'wrong', 'b', 'wrong'], ['a', 'b'])

    await outlet.run(MINUTE)

    expect(states(outlet, 5)).toEqual(['queued', 'uploaded', 'queued', 'uploaded', 'queued'])
    expect(accountsAsked(outlet)).toEqual(['wrong 403', 'a 200', 'b 200'])
    expect(outlet.serviceState).toBe('degraded')
    // The refusal is reported again as soon as the daemon knows that the service refuses only this account.
    expect(outlet.reported).toHaveLength(2)
    for (const told of outlet.reported) expect(told).toContain('"wrong"')
  })

  it('delays no feed while the first upload of another account takes long', async () => {
    await using outlet = await outletOf(['wrong', 'a', 'b', 'c'], ['a', 'b', 'c'], 4)
    const gate = outlet.sandbox.faults.add({
      ...{ at: 'storage', kind: 'gate', point: 'answer', times: 1 },
    })

    const ran = outlet.run(MINUTE)
    // One of the three uploads waits for its answer.
    await waitForObjects(outlet.sandbox, 3)
    gate.remove()
    await ran

    expect(states(outlet, 4)).toEqual(['queued', 'uploaded', 'uploaded', 'uploaded'])
  })

  it('shows the refusal and the next try at each of its feeds', async () => {
    await using outlet = await outletOf(['wrong', 'a', 'wrong'], ['a'])

    await outlet.run(MINUTE)

    for (const id of [1, 3]) {
      const { reason, reasonCode, hint, nextAttemptAt } = outlet.version(id)
      expect(reasonCode).toBe('account-on-hold')
      expect(reason).toContain('refused the partner account "wrong" with 403')
      expect(hint).toContain('folder or file name')
      expect((nextAttemptAt ?? 0) - outlet.clock.now()).toBeGreaterThan(3 * MINUTE)
    }
    expect(outlet.version(3).attempts).toBe(0)
  })

  it('is asked for once each 5 minutes for all its waiting feeds, and reported once', async () => {
    await using outlet = await outletOf(['a', ...Array(8).fill('wrong')], ['a'])

    await outlet.run(18 * MINUTE)

    expect(accountsAsked(outlet)).toEqual(['a 200', ...Array(4).fill('wrong 403')])
    expect(outlet.reported).toHaveLength(1)
  })

  it('has all its feeds delivered automatically as soon as the service accepts it', async () => {
    await using outlet = await outletOf(['a', 'b', 'b', 'b'], ['a', 'b'])
    outlet.fault({ at: 'service', kind: 'answer', status: 403, account: 'b', times: 2 })

    await outlet.run(15 * MINUTE)

    expect(states(outlet, 4)).toEqual(Array(4).fill('uploaded'))
    expect(accountsAsked(outlet)).toEqual([
      ...['a 200', 'b 403', 'b 403', 'b 200', 'b 200', 'b 200'],
    ])
    expect(outlet.serviceState).toBe('ok')
  })

  it('is asked at once if a person retries one of its feeds, and the other feeds follow', async () => {
    await using outlet = await outletOf(['a', 'b', 'b'], ['a', 'b'])
    outlet.fault({ at: 'service', kind: 'answer', status: 403, account: 'b', times: 1 })
    await outlet.run(MINUTE)
    const before = states(outlet, 3)

    outlet.carryOut('retry', 3)
    await outlet.run(MINUTE)

    expect(before).toEqual(['uploaded', 'queued', 'queued'])
    expect(states(outlet, 3)).toEqual(Array(3).fill('uploaded'))
    expect(accountsAsked(outlet).slice(1)).toEqual(['b 403', 'b 200', 'b 200'])
  })

  it('ends its warning some time after its last feed was discarded', async () => {
    await using outlet = await outletOf(['a', 'wrong'], ['a'])
    await outlet.run(MINUTE)
    const before = outlet.conditions.has('account-refused')

    outlet.carryOut('discard', 2)
    outlet.clock.pass(40 * MINUTE)
    await outlet.take('a/z.xml')
    await outlet.run(MINUTE)

    expect(states(outlet, 3)).toEqual(['uploaded', 'discarded', 'uploaded'])
    expect([before, outlet.conditions.has('account-refused')]).toEqual([true, false])
  })

  it('with 401 delays no other account either', async () => {
    await using outlet = await outletOf(['a', 'b', 'c', 'c'], ['a', 'b', 'c'])
    outlet.fault({ at: 'service', kind: 'answer', status: 401, account: 'c' })

    await outlet.run(MINUTE)

    expect(states(outlet, 4)).toEqual(['uploaded', 'uploaded', 'queued', 'queued'])
    expect(accountsAsked(outlet).toSorted()).toEqual(['a 200', 'b 200', 'c 401'])
  })
})

describe('a key that the service refuses', () => {
  it('costs one request for each account, is shown, and every feed says why it waits', async () => {
    const accounts = ['a', 'b', 'a', 'b', 'a', 'b']
    await using outlet = await outletOf(accounts, accounts)
    outlet.fault({ at: 'service', kind: 'signature-mismatch' })

    await outlet.run(4 * MINUTE)

    expect(accountsAsked(outlet)).toEqual(['a 401', 'b 401'])
    expect(states(outlet, 6)).toEqual(Array(6).fill('queued'))
    expect(outlet.serviceState).toBe('credentials')
    for (const id of [1, 2, 3, 6]) expect(outlet.version(id).reason).toContain('401')
  })

  it('that worked before puts all accounts on hold, one after the other', async () => {
    await using outlet = await outletOf(['a', 'b', 'a', 'b', 'a'], ['a', 'b'])
    outlet.fault({ at: 'service', kind: 'signature-mismatch', after: 2 })

    await outlet.run(MINUTE)

    expect(accountsAsked(outlet)).toEqual(['a 200', 'b 200', 'a 401', 'b 401'])
    expect(outlet.serviceState).toBe('credentials')
  })

  it('does not count as accepted because of an upload with an earlier form', async () => {
    const accounts = Array.from({ length: 16 }, (_, n) => 'abcd'[n % 4] as string)
    await using outlet = await outletOf(accounts, accounts, 4)
    outlet.fault({ at: 'service', kind: 'signature-mismatch', after: 2 })
    const gate = outlet.sandbox.faults.add({ at: 'storage', kind: 'gate', point: 'end' })
    const refused = () => outlet.requests('service').filter(({ status }) => status === 401)

    const ran = outlet.run(MINUTE)
    await gate.held(2)
    await waitForRequest(outlet.sandbox, () => refused().length >= 2)
    gate.remove()
    await ran

    // Two stored uploads and the running ones: a stored upload proves nothing about later refusals.
    expect(accountsAsked(outlet).length).toBeLessThanOrEqual(10)
    expect(outlet.history.list({ states: ['uploaded'] })).toHaveLength(2)
    expect(outlet.serviceState).toBe('credentials')
  })

  it('is tried again after 5 minutes with one request for each account, and then all feeds follow', async () => {
    const accounts = ['a', 'b', 'a', 'b', 'a', 'b']
    await using outlet = await outletOf(accounts, accounts)
    outlet.fault({ at: 'service', kind: 'signature-mismatch', times: 2 })

    await outlet.run(10 * MINUTE)

    expect(states(outlet, 6)).toEqual(Array(6).fill('uploaded'))
    expect(outlet.requests('service')).toHaveLength(8)
    expect(outlet.gaps('service')[1]).toBeGreaterThanOrEqual(4 * MINUTE)
    expect(outlet.serviceState).toBe('ok')
  })

  it.each([60 * MINUTE, -400 * DAY])(
    'delays no feed longer if the wall clock is set by %i ms meanwhile',
    async (step) => {
      await using outlet = await outletOf(['a', 'b', 'c'], ['a', 'b', 'c'])
      outlet.fault({ at: 'service', kind: 'signature-mismatch', times: 2 })
      await outlet.run(MINUTE)

      outlet.clock.moveWallClock(step)
      await outlet.run(5 * MINUTE)

      expect(states(outlet, 3)).toEqual(Array(3).fill('uploaded'))
    },
  )
})
