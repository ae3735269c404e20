import { expect, it } from 'vitest'
import { observed } from '../../src/ops/metrics/observed-history.ts'
import { temporaryHistory, versionIn } from '../history/helpers.ts'

const FAILED = { outcome: 'failed', status: 503, code: null, bytesSent: 0, key: null } as const

function bench() {
  const { history } = temporaryHistory()
  const heard: unknown[] = []
  const watched = observed(history, {
    retried: (previous) => heard.push(['retried', previous?.status]),
    attemptEnded: (attempt) => heard.push(attempt),
  })
  const { id } = versionIn(history, 'uploading')
  return { history, watched, heard, id }
}

it('tells of attempts, how long they took, and what a repeated one was answered before', () => {
  const { watched, heard, id } = bench()

  const first = watched.startAttempt(id, 5000, null)
  watched.endAttempt(id, first, 5250, FAILED)
  watched.startAttempt(id, 6000, null)

  expect(heard).toEqual([{ outcome: 'failed', status: 503, ms: 250 }, ['retried', 503]])
})

it('tells nothing of what is rolled back, and the rest only once the outermost transaction is through', () => {
  const { watched, heard, id } = bench()
  const first = watched.startAttempt(id, 5000, null)

  const rolledBack = () =>
    watched.atomically(() => {
      watched.atomically(() => watched.endAttempt(id, first, 5250, FAILED))
      throw new Error('no room')
    })
  expect(rolledBack).toThrow('no room')
  const meanwhile = watched.atomically(() => {
    watched.endAttempt(id, first, 5250, FAILED)
    return heard.length
  })

  expect(meanwhile).toBe(0)
  expect(heard).toHaveLength(1)
})
