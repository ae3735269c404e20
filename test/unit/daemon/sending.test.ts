// How many versions are sent at the same time, and when the next one starts.

import { expect, it } from 'vitest'
import { feedFor } from '../../../src/config/feeds.ts'
import { SendConditions } from '../../../src/daemon/send-conditions.ts'
import { SendQueue } from '../../../src/daemon/send-queue.ts'
import { Sending, type SendingParts } from '../../../src/daemon/sending.ts'
import { Conditions } from '../../../src/domain/conditions.ts'
import type { Version } from '../../../src/history/port.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { SendGate } from '../../../src/upload/send-gate.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

function threeWaiting(concurrency: number) {
  const { history } = temporaryHistory()
  const feeds = ['a', 'b', 'c']
  const ids = feeds.map((feed) => versionIn(history, 'queued', { feed }).id)
  const started: number[] = []
  const stored = new Map<number, () => void>()
  const gate = new SendGate({
    ...{ clock: systemClock, serviceOrigin: 'https://service.test', maxRate: null },
    concurrency,
  })
  gate.accounts.accept(null, systemClock.monotonic())
  const conditions = new Conditions(systemClock)
  const sending = new Sending({
    gate,
    log: silentLog,
    sendConditions: new SendConditions({ conditions, gate, reloadKey: () => false }),
    sendQueue: new SendQueue({ clock: systemClock, gate, history }),
    ruleFor: (path) => feedFor(path, []),
    ledger: { readdress: (queued: Version) => queued } as unknown as SendingParts['ledger'],
    attempts: {
      // The test decides when a version is stored. Its record is never written.
      run: ({ id }: { id: number }, _: AbortSignal, tell: () => void) => {
        started.push(id)
        stored.set(id, tell)
        return Promise.withResolvers().promise
      },
    } as unknown as SendingParts['attempts'],
  })
  const { signal } = new AbortController()
  const news = { ended: () => {}, freed: () => sending.start(signal, news) }
  sending.start(signal, news)
  return { ids, started, store: (id: number | undefined) => stored.get(id ?? 0)?.() }
}

it('sends the next version as soon as one is stored, before the stored one is recorded', () => {
  const { ids, started, store } = threeWaiting(1)
  expect(started).toEqual(ids.slice(0, 1))

  store(ids[0])

  expect(started).toEqual(ids.slice(0, 2))
})

it('sends no third version while the records of two wait to be written, with one upload at a time', () => {
  const { ids, started, store } = threeWaiting(1)

  store(ids[0])
  store(ids[1])

  expect(started).toEqual(ids.slice(0, 2))
})
