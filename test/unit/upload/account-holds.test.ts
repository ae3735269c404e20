// Which accounts are on hold while the key changes: answers come late, and are about the key that they were asked with.

import { expect, it } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { failureOf, RULES } from '../../../src/lib/decision-table.ts'
import { AccountHolds } from '../../../src/upload/account-holds.ts'

const REFUSED = failureOf(RULES.credentials, {
  ...{ code: 'http-401', reason: 'the service refused the credentials with 401', status: 401 },
})

/** Accounts that were accepted, on a clock that stands still unless it is set. */
function accepted(...accounts: string[]) {
  const time = { now: 0 }
  const holds = new AccountHolds({ ...systemClock, now: () => time.now, monotonic: () => time.now })
  for (const account of accounts) holds.accept(account, 0)
  const at = (ms: number) => {
    time.now = ms
  }
  return { holds, at }
}

it('puts no account on hold for a refusal of the key before, and none with another key', () => {
  const { at, holds } = accepted('a', 'b', 'c')
  at(10)
  for (const account of ['a', 'b', 'c']) holds.refuse(account, REFUSED, 5)
  at(20)
  holds.refuse('a', REFUSED, 15)
  expect(holds.isOfKey).toBe(true)

  at(30)
  holds.newKey()
  at(40)
  const late = [holds.refuse('b', REFUSED, 16), holds.refuse('c', REFUSED, 17)]

  expect(late).toEqual(['again', 'again'])
  expect(holds.first).toBeNull()
  // Asked with the new key, nothing is doubted.
  at(60)
  expect(holds.refuse('b', REFUSED, 50)).toBe('on-hold')
})

it('trusts no key for what was accepted with the one before', () => {
  const { at, holds } = accepted('a')
  at(30)
  holds.newKey()

  holds.accept('a', 20)
  const before = holds.isTrusted
  holds.accept('a', 40)

  expect([before, holds.isTrusted]).toEqual([false, true])
})
