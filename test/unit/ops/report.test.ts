import { expect, it } from 'vitest'
import { DAY } from '../../../src/lib/clock.ts'
import { judgedVersions } from '../../../src/ops/judged.ts'
import { problems } from '../../../src/ops/problems.ts'
import { statusReport } from '../../../src/ops/report.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'
import { daemonState } from '../../helpers/ops/daemon-state.ts'

const ASKING = { baseUrl: 'https://service.test', filter: {} }

it('status says that a queued feed waits for the probe of a running daemon, unless its own attempt comes later', () => {
  const { history } = temporaryHistory()
  const nextProbeAt = 60_000
  const down = { service: 'down', serviceReason: 'it answered 503', nextProbeAt } as const
  const state = daemonState(down)
  versionIn(history, 'queued', { feed: 'due' })
  const later = versionIn(history, 'queued', { feed: 'later' })
  history.update(later.id, { nextAttemptAt: 120_000 }, { code: 'http-429', reason: 'it is busy' })

  const shown = (running: boolean) =>
    statusReport(history, { running, state }, ASKING).uploads.map(
      ({ reason, reasonCode, nextAttemptAt }) => [reason, reasonCode, nextAttemptAt],
    )

  const busy = ['it is busy', 'http-429', '1970-01-01T00:02:00.000Z']
  const waits = ['it answered 503', 'endpoint-down', '1970-01-01T00:01:00.000Z']
  expect(shown(true)).toEqual([busy, waits])
  expect(shown(false)).toEqual([busy, [null, null, null]])
})

it('a problem that needs a person begins when the version got into its state, not when its file came', () => {
  const { history } = temporaryHistory()
  const came = versionIn(history, 'checking', { feed: 'broken', at: 1000 })
  history.move(came.id, 'rejected', { at: DAY })
  const state = daemonState()
  const report = statusReport(history, { running: true, state }, ASKING)

  const versions = judgedVersions(history, state, { others: [] })
  const found = problems(
    { ...report, campaigns: null, versions },
    { now: 2 * DAY, commandLine: String },
  )

  expect(found.find(({ code }) => code === 'rejected')?.since).toBe('1970-01-02T00:00:00.000Z')
})
