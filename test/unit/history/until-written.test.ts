import { expect, it } from 'vitest'
import type { Version } from '../../../src/history/port.ts'
import { untilWritten } from '../../../src/history/until-written.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createLog } from '../../../src/lib/log.ts'
import { Ledger } from '../../../src/pipeline/ledger.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

/** hasty is a clock whose waits take no time. */
const hasty = { ...systemClock, sleep: () => Promise.resolve() }
const END = {
  ...({ endedAt: 2, outcome: 'stored', status: 201 } as const),
  ...{ code: null, bytesSent: 3, key: 'key' },
}

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
  const write = <T>(work: () => T, signal = new AbortController().signal) =>
    untilWritten({ clock: hasty, history, log }, work, signal)
  return { history, ledger, lines, moves, write }
}

/** failing returns work that fails this many times first, like a disk that is full for a while. */
function failing(times: number, work: () => void) {
  let left = times
  return () => {
    work()
    if (left-- > 0) throw new Error('the disk is full')
  }
}

it('the end of an attempt and the new state of its version are written together or not at all, and reported once', async () => {
  const { history, ledger, lines, moves, write } = await atWork()
  const { id } = versionIn(history, 'uploading')
  history.startAttempt(id, 1, 'key')
  const seen: unknown[] = []

  const last = failing(3, () => {
    seen.push(history.attempts(id)[0]?.outcome)
    ledger.write([
      { kind: 'attempt-end', id, end: END },
      { kind: 'move', id, to: 'uploaded', reason: null },
    ])
  })
  await write(last)

  expect(seen).toEqual(Array(4).fill(null))
  expect(history.version(id)?.state).toBe('uploaded')
  expect(history.attempts(id)).toMatchObject([{ outcome: 'stored' }])
  expect(moves.map(({ state }) => state)).toEqual(['uploaded'])
  expect(lines.filter((line) => line.includes('"event":"feed.state"'))).toHaveLength(1)
})

it('the same error is logged once, even after many tries', async () => {
  const { lines, write } = await atWork()

  await write(failing(50, () => {}))

  expect(lines.filter((line) => line.includes('cannot be written'))).toHaveLength(1)
})

it('a write gives up when its signal aborts', async () => {
  const { write } = await atWork()

  const written = write(
    failing(Number.POSITIVE_INFINITY, () => {}),
    AbortSignal.abort(),
  )

  await expect(written).rejects.toThrow('the disk is full')
})
