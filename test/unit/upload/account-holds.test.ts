// Which accounts are on hold, and what an answer says that comes after its account was refused or the key changed.

import { expect, it } from 'vitest'
import { failureOf, RULES } from '../../../src/domain/decision-table.ts'
import { MINUTE, SECOND, systemClock } from '../../../src/lib/clock.ts'
import { AccountHolds } from '../../../src/upload/account-holds.ts'

const REFUSED = failureOf(RULES.credentials, {
  ...{ code: 'http-401', reason: 'the service refused the credentials with 401', status: 401 },
})

/** accepted returns holds in which the service accepted these accounts, on a clock that only `at` sets. */
function accepted(...accounts: string[]) {
  const time = { now: 0 }
  const holds = new AccountHolds({ ...systemClock, now: () => time.now, monotonic: () => time.now })
  for (const account of accounts) holds.accept(account, 0)
  const at = (ms: number) => {
    time.now = ms
  }
  return { holds, at }
}

it('a refused account waits for 5 minutes and delays no other account', () => {
  const { at, holds } = accepted('a', 'b')
  at(10)
  holds.refuse('a', REFUSED, 5)
  const before = [holds.holdOf('a')?.until, holds.holdOf('b')]
  at(10 + 5 * MINUTE)

  expect(before).toEqual([10 + 5 * MINUTE, null])
  expect(holds.holdOf('a')).toBeNull()
})

it('the key itself is suspected when all accounts are refused, and not before', () => {
  const { at, holds } = accepted('a')
  at(10)
  holds.refuse('b', REFUSED, 5)
  const whileOneIsAccepted = holds.isKeySuspect
  holds.refuse('a', REFUSED, 5)

  expect([whileOneIsAccepted, holds.isKeySuspect]).toEqual([false, true])
})

it('a late answer to a request with the old key neither refuses nor accepts an account with the new key', () => {
  const { at, holds } = accepted('a', 'b')
  at(30)
  holds.startWithNewKey()
  at(40)
  holds.refuse('a', REFUSED, 20)
  holds.accept('b', 20)

  expect([holds.firstRefusal, holds.isVerified('b')]).toEqual([null, false])
})

it('only a refusal of a request after the hold began makes the hold longer', () => {
  const { at, holds } = accepted('a')
  at(SECOND)
  holds.refuse('a', REFUSED, 10)
  at(2 * SECOND)
  holds.refuse('a', REFUSED, 20)
  const late = holds.holdOf('a')?.until
  at(3 * SECOND)
  holds.refuse('a', REFUSED, 2500)

  expect(late).toBe(SECOND + 5 * MINUTE)
  expect(holds.holdOf('a')?.until).toBe(3 * SECOND + 5 * MINUTE)
})

it('a form ends the hold of its account, as one release, unless its request is older than the refusal', () => {
  const { at, holds } = accepted('a')
  at(SECOND)
  holds.refuse('a', REFUSED, SECOND)
  holds.accept('a', 10)
  const before = holds.holdOf('a') !== null
  const { released } = holds
  holds.accept('a', SECOND)

  expect([before, holds.holdOf('a'), holds.released - released]).toEqual([true, null, 1])
})
