import { describe, expect, it } from 'vitest'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

const stored = { outcome: 'stored', status: 204, code: null, bytesSent: 7, key: 'a/1.xml' } as const

describe('attempts', () => {
  it('have numbers within their version and run until they end', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'uploading')

    const first = history.startAttempt(id, 2000)
    history.endAttempt(id, first, 2500, {
      outcome: 'failed',
      status: 503,
      code: 'SlowDown',
      bytesSent: 3,
      key: 'a/0.xml',
    })
    history.setAttemptKey(id, history.startAttempt(id, 3000), 'a/1.xml')

    expect(history.version(id)?.attempts).toBe(2)
    expect(history.attempts(id)).toEqual([
      {
        n: 1,
        startedAt: 2000,
        endedAt: 2500,
        outcome: 'failed',
        status: 503,
        code: 'SlowDown',
        bytesSent: 3,
        key: 'a/0.xml',
      },
      {
        n: 2,
        startedAt: 3000,
        endedAt: null,
        outcome: null,
        status: null,
        code: null,
        bytesSent: 0,
        key: 'a/1.xml',
      },
    ])
  })

  it('end only once, so the first outcome stays', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'uploading')
    const n = history.startAttempt(id, 2000)
    history.recover(2500)

    expect(() => history.endAttempt(id, n, 3000, stored)).toThrow('has no running attempt 1')
    expect(history.attempts(id)[0]).toMatchObject({ outcome: 'unknown', endedAt: 2500 })
  })
})

describe('recovery after a crash', () => {
  it('moves checking to settling and uploading to queued, and ends running attempts as unknown', () => {
    const { history } = temporaryHistory()
    const checking = versionIn(history, 'checking', { feed: 'a' })
    const uploading = versionIn(history, 'uploading', { feed: 'b' })
    const waiting = versionIn(history, 'queued', { feed: 'c', patch: { nextAttemptAt: 9000 } })
    history.setAttemptKey(uploading.id, history.startAttempt(uploading.id, 2000), 'a/1.xml')

    const repaired = history.recover(5000)

    expect(repaired).toEqual({ checking: 1, uploading: 1 })
    expect(history.version(checking.id)).toMatchObject({ state: 'settling' })
    expect(history.version(uploading.id)).toMatchObject({ state: 'queued', attempts: 1 })
    expect(history.version(waiting.id)).toEqual(waiting)
    expect(history.attempts(uploading.id)).toMatchObject([
      { outcome: 'unknown', endedAt: 5000, key: 'a/1.xml' },
    ])
    expect(history.events(uploading.id).at(-1)).toMatchObject({
      at: 5000,
      from: 'uploading',
      to: 'queued',
      reason: 'feedsyncd stopped before this was done',
      reasonCode: 'stopped',
    })
  })

  it('finds nothing to do the second time', () => {
    const { history } = temporaryHistory()
    versionIn(history, 'uploading')
    history.recover(5000)

    expect(history.recover(6000)).toEqual({ checking: 0, uploading: 0 })
  })
})
