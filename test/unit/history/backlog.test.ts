import { expect, it } from 'vitest'
import { createBacklog } from '../../../src/history/backlog.ts'
import { Ledger } from '../../../src/history/ledger.ts'
import type { Version } from '../../../src/history/port.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { failureOf, RULES } from '../../../src/lib/decision-table.ts'
import { createLog } from '../../../src/lib/log.ts'
import { recordDelivery, recordError } from '../../../src/pipeline/record-outcome.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

/** hasty is a clock whose waits take no time. */
const hasty = { ...systemClock, sleep: () => Promise.resolve() }

async function atWork() {
  const { history } = temporaryHistory()
  const lines: string[] = []
  const moves: Version[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const log = await createLog({ level: 'info', format: 'json', destination })
  const ledger = new Ledger({
    history,
    clock: hasty,
    log,
    onMove: (version) => moves.push(version),
  })
  return { history, ledger, lines, moves, backlog: createBacklog(history, hasty, log) }
}

/** failing returns work that fails this many times first, like a disk that is full for a while. */
function failing(times: number, work: () => void) {
  let left = times
  return () => {
    work()
    if (left-- > 0) throw new Error('the disk is full')
  }
}

it('does a deferred write and the writes that depend on it together or not at all', async () => {
  const { backlog, history, ledger, lines, moves } = await atWork()
  const { id } = versionIn(history, 'uploading')
  const n = history.startAttempt(id, 1)
  const end = { outcome: 'stored', status: 201, code: null, bytesSent: 3, key: 'key' } as const
  const seen: unknown[] = []

  backlog.defer(() => history.endAttempt(id, n, 2, end))
  const last = failing(3, () => {
    seen.push(history.attempts(id)[0]?.outcome)
    ledger.move(id, 'uploaded', null)
  })
  const before = history.attempts(id)[0]?.outcome
  await backlog.finish(last, new AbortController().signal)

  expect(before).toBeNull()
  expect(seen).toEqual(Array(4).fill('stored'))
  expect(history.version(id)?.state).toBe('uploaded')
  expect(history.attempts(id)).toMatchObject([{ outcome: 'stored' }])
  expect(moves.map(({ state }) => state)).toEqual(['uploaded'])
  expect(lines.filter((line) => line.includes('"event":"feed.state"'))).toHaveLength(1)
})

it('logs the same error once, even after many tries', async () => {
  const { backlog, lines } = await atWork()

  await backlog.finish(
    failing(50, () => {}),
    new AbortController().signal,
  )

  expect(lines.filter((line) => line.includes('cannot be written'))).toHaveLength(1)
})

it('gives up when its signal aborts', async () => {
  const { backlog } = await atWork()

  const finished = backlog.finish(
    failing(Number.POSITIVE_INFINITY, () => {}),
    AbortSignal.abort(),
  )

  await expect(finished).rejects.toThrow('the disk is full')
})

it.each(['superseded', 'discarded', 'held'] as const)(
  'keeps the state of a version that was %s before its delivery failed',
  async (state) => {
    const { backlog, history, ledger, lines } = await atWork()
    const { id } = versionIn(history, state)
    const failure = failureOf(RULES.spoolChanged, { code: 'spool-changed', reason: 'it changed' })
    // An aborted signal turns an endless series of tries into an error.
    const signal = AbortSignal.abort()

    const ends = [
      await backlog.finish(() => recordError(ledger, id, new Error('a fault')), signal),
      await backlog.finish(() => recordDelivery(ledger, id, { kind: 'refused', failure }), signal),
    ]

    expect(ends.map((version) => version.state)).toEqual([state, state])
    expect(history.version(id)?.state).toBe(state)
    expect(lines).toEqual([])
  },
)
