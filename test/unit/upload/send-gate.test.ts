// Which versions may be sent now, and what the others wait for: places, origins and accounts.

import { describe, expect, it } from 'vitest'
import { failureOf, RULES } from '../../../src/domain/decision-table.ts'
import { MINUTE, SECOND } from '../../../src/lib/clock.ts'
import { Breaker } from '../../../src/upload/breaker.ts'
import { type Permit, SendGate } from '../../../src/upload/send-gate.ts'
import { harness, testClock } from '../../helpers/upload/harness.ts'

const SERVICE = 'https://service.test'

function gateOf(concurrency = 2) {
  const clock = testClock()
  const now = () => clock.ahead
  const gate = new SendGate({
    ...{ clock: { ...clock, now, monotonic: now }, serviceOrigin: SERVICE, maxRate: null },
    concurrency,
  })
  const next = (feed: string, account: string | null = null) =>
    gate.tryStart({ feed, account, isForced: false })
  const retry = (feed: string, account: string | null = null) =>
    gate.tryStart({ feed, account, isForced: true })
  const send = (origin: string, feed: string, result: { kind: string }) =>
    gate.withBreaker(origin, { account: null, feed, isForced: false }, async () => result)
  gate.accounts.accept(null, 0)
  const refused = failureOf(RULES.credentials, { code: 'http-403', reason: 'no', status: 403 })
  const fail = async (times: number, retryAfterMs: number | null = null, origin = SERVICE) => {
    const told = { code: 'http-503', reason: 'it is down', origin, retryAfterMs }
    const failure = failureOf(RULES.noForm, told)
    for (let n = 0; n < times; n++)
      await gate.withBreaker(
        origin,
        { account: null, feed: `f${n}`, isForced: false },
        async () => ({
          ...{ kind: 'failed', failure },
        }),
      )
  }
  const pass = (ms: number) => {
    clock.ahead += ms
  }
  return { gate, next, refused, retry, fail, pass, send }
}

const PLACE = { kind: 'wait', for: 'place' }
const TURN = { kind: 'wait', for: 'turn', accounts: 'all' }

describe('a place', () => {
  it('is given to at most upload.concurrency deliveries, and is free after a delivery ended', () => {
    const { next } = gateOf(2)
    const first = next('a') as Permit
    const answers = [next('b').kind, next('c')]

    first[Symbol.dispose]()

    expect(answers).toEqual(['permit', PLACE])
    expect(next('c').kind).toBe('permit')
  })

  it('is free as soon as the file is stored, if the unwritten records do not outnumber the places', () => {
    const { next } = gateOf(1)

    const permits = ['a', 'b'].map((feed) => {
      const permit = next(feed) as Permit
      permit.stored()
      return permit.kind
    })

    expect(permits).toEqual(['permit', 'permit'])
    expect(next('c')).toEqual(PLACE)
  })

  it('is given to one version of a feed at a time', () => {
    const { next } = gateOf(2)
    next('a')

    expect(next('a')).toEqual(PLACE)
  })
})

describe('an origin that is down', () => {
  it('makes versions wait until its next probe, with the reason', async () => {
    const { next, fail } = gateOf()
    await fail(5)

    expect(next('a')).toMatchObject({
      ...{ kind: 'wait', for: 'origin', until: 5 * SECOND },
      failure: { code: 'endpoint-down', reason: expect.stringContaining('it is down') },
    })
  })

  it('is not probed before its Retry-After', async () => {
    const { next, fail } = gateOf()
    await fail(5, 10 * MINUTE)

    expect(next('a')).toMatchObject({ for: 'origin', until: 10 * MINUTE })
  })

  it('is probed by one delivery, and by the next one if the first has sent nothing', async () => {
    const { next, fail, pass } = gateOf()
    await fail(5)
    pass(5 * SECOND)
    const probe = next('a') as Permit
    const beside = next('b')

    probe[Symbol.dispose]()

    expect([probe.kind, beside]).toEqual(['permit', TURN])
    expect(next('b').kind).toBe('permit')
  })

  it('is probed by one delivery also if it is storage, and that delivery has only its form so far', async () => {
    const { gate, next, fail, pass, send } = gateOf()
    gate.origins.setStorageOf(null, 'https://storage.test')
    await fail(5, null, 'https://storage.test')
    pass(5 * SECOND)

    next('a')
    await send(SERVICE, 'a', { kind: 'facts' })

    expect(next('b')).toEqual({ ...TURN, accounts: [null] })
  })

  it('is asked at once if a person retries; once it answers, waiting versions are due and sent', async () => {
    const { gate, retry, fail, send } = gateOf()
    await fail(5)
    const { released } = gate

    const permit = retry('a')
    await gate.withBreaker(SERVICE, { account: null, feed: 'a', isForced: true }, async () => ({
      kind: 'facts',
    }))

    expect(permit.kind).toBe('permit')
    expect(gate.released).toBe(released + 1)
    expect(await send(SERVICE, 'b', { kind: 'facts' })).toEqual({ kind: 'facts' })
  })
})

describe('storage of one account that is down', () => {
  const [OURS, THEIRS] = ['https://ours.test', 'https://theirs.test']

  async function theirsDown() {
    const made = gateOf(4)
    made.gate.origins.setStorageOf('b', OURS)
    await made.send(OURS, 'b0', { kind: 'stored' })
    made.gate.origins.setStorageOf('a', THEIRS)
    await made.fail(5, null, THEIRS)
    return made
  }

  it('makes its account wait, and delays no other account, not even a new one', async () => {
    const { next } = await theirsDown()

    expect(next('b1', 'b').kind).toBe('permit')
    expect(next('c1', 'c').kind).toBe('permit')
    expect(next('a1', 'a')).toMatchObject({ for: 'origin', until: 5 * SECOND })
  })

  it('makes the service degraded as long as a version waits for it', async () => {
    const { gate, pass } = await theirsDown()

    const first = gate.origins.health()
    pass(16 * MINUTE)

    expect(first).toEqual({ state: 'degraded', reason: 'it is down', nextProbeAt: null })
    expect(gate.origins.health()).toMatchObject({ state: 'ok' })
  })

  it('is probed while a delivery to another storage runs', async () => {
    const { gate, next, fail, pass, send } = gateOf(4)
    gate.origins.setStorageOf('a', THEIRS)
    await fail(5, null, THEIRS)
    pass(5 * SECOND)
    const first = next('b1', 'b')
    await send(SERVICE, 'b1', { kind: 'facts' })
    gate.origins.setStorageOf('b', OURS)
    const stored = Promise.withResolvers<{ kind: string }>()
    const sending = gate.withBreaker(
      OURS,
      { account: 'b', feed: 'b1', isForced: false },
      () => stored.promise,
    )

    const probe = next('a1', 'a')
    stored.resolve({ kind: 'stored' })
    await sending

    expect([first.kind, probe.kind]).toEqual(['permit', 'permit'])
  })
})

describe('an account', () => {
  it('sends one version at a time until the service accepts it', async () => {
    const { gate, next, send } = gateOf(4)
    const first = next('1', 'a').kind
    const beside = next('2', 'a')

    gate.accounts.accept('a', 0)
    await send(SERVICE, '1', { kind: 'facts' })

    expect([first, beside]).toEqual(['permit', { ...TURN, accounts: ['a'] }])
    expect(next('2', 'a').kind).toBe('permit')
  })

  it('on hold makes only its own feeds wait, for 5 minutes and with the reason', () => {
    const { gate, next, refused } = gateOf()
    gate.accounts.accept('a', 0)
    gate.accounts.refuse('b', refused, 0)

    expect(next('1', 'b')).toMatchObject({ for: 'account', until: 5 * MINUTE, failure: refused })
    expect(next('2', 'a').kind).toBe('permit')
  })

  it('on hold is asked at once if a person retries', () => {
    const { gate, retry, refused } = gateOf(4)
    gate.accounts.refuse('b', refused, 0)

    expect(retry('1', 'b').kind).toBe('permit')
  })

  it('is tried by one version after its hold, and delays no other account', () => {
    const { gate, next, refused, pass } = gateOf(4)
    gate.accounts.accept('a', 0)
    gate.accounts.refuse('b', refused, 0)
    pass(5 * MINUTE)

    expect(next('1', 'b').kind).toBe('permit')
    expect(next('2', 'b')).toEqual({ ...TURN, accounts: ['b'] })
    expect(next('3', 'a').kind).toBe('permit')
  })
})

describe('refusals of several feeds in a row', () => {
  it('count against the origin from the third feed on, and anew once they are forgotten', () => {
    const breaker = new Breaker(testClock())

    const found = ['a', 'a', 'b', 'b', 'c', 'a'].map((feed) => breaker.countRejected(feed))
    breaker.forgetRejected()

    expect(found).toEqual([false, false, false, false, true, true])
    expect(breaker.countRejected('c')).toBe(false)
  })

  it.each([
    { at: 'storage', kind: 's3-error', code: 'SignatureDoesNotMatch' },
    { at: 'storage', kind: 's3-error', code: 'InvalidArgument' },
    { at: 'service', kind: 'answer', status: 404 },
  ] as const)(
    'fail two feeds and let the others wait, with that reason; a stored feed starts the count anew: %o',
    async (fault) => {
      const h = await harness()
      const handle = h.sandbox.faults.add(fault)
      const kinds: string[] = []
      const send = async () => {
        const sent = await h.send('<jobs/>')
        kinds.push(sent.kind === 'failed' ? sent.failure.class : sent.kind)
        return sent
      }

      for (let n = 0; n < 4; n++) await send()
      const last = await send()
      handle.remove()
      h.clock.ahead += 15 * MINUTE
      await send()
      h.sandbox.faults.add(fault)
      for (let n = 0; n < 3; n++) await send()

      const refused = ['broken', 'broken', 'transient']
      expect(kinds).toEqual([...refused, 'transient', 'transient', 'stored', ...refused])
      expect(last).toMatchObject({
        failure: { reason: expect.stringContaining('several feeds in a row') },
      })
    },
  )
})
