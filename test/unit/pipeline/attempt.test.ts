import { expect, it } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { AttemptRunner } from '../../../src/pipeline/attempt.ts'
import { Comparisons } from '../../../src/pipeline/baselines.ts'
import { Ledger } from '../../../src/pipeline/ledger.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

it('a version whose comparison is stopped with the daemon still waits, and no attempt of it is on record', async () => {
  const { history } = temporaryHistory()
  versionIn(history, 'uploaded', { patch: { postings: 100, root: 's', spool: '1.xml' } })
  const queued = versionIn(history, 'queued', { patch: { postings: 1, root: 's', spool: '2.xml' } })
  const stop = new AbortController()
  const checker = {
    compare: async () => null,
    difference: (_job: unknown, signal: AbortSignal) => {
      stop.abort()
      return Promise.reject(signal.reason)
    },
  }
  const spool = { path: (name: string) => name, indexOf: (path: string) => path }
  const limits = { maxDropPercent: 50, minPostings: 1, secondFeed: 'pass' }
  const judging = {
    history,
    limits,
    ownAccount: '123',
    feedOf: (path: string) => path,
    lastUnderOtherRules: 0,
  }
  const parts = { clock: systemClock, history, judging, log: silentLog, spool }
  const ruleFor = () => ({ mapping: { encoding: null, records: null, fields: {} } })
  const comparisons = new Comparisons({ ...parts, checkerFor: () => checker, ruleFor } as never)
  const sender = {
    prepare: async () => ({ kind: 'form', form: { key: 'k' } }),
    forget: () => {},
  }
  const runner = new AttemptRunner({
    ...{ ...parts, comparisons, sender, observer: null },
    ledger: new Ledger({ ...parts, onMove: () => {} }),
    postDelivery: { cleanUp: async () => {} },
    random: () => 0,
  } as never)

  const { version } = await runner.run(queued, stop.signal)

  expect([version.state, history.version(queued.id)?.state]).toEqual(['queued', 'queued'])
  expect(history.attempts(queued.id)).toEqual([])
})
