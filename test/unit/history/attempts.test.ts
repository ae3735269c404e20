import { describe, expect, it } from 'vitest'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

const stored = { outcome: 'stored', status: 204, code: null, bytesSent: 7, key: 'a/1.xml' } as const

describe('attempts', () => {
  it('are numbered and counted within their version, and run until they end', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'uploading')

    history.startAttempt(id, 2000, 'a/0.xml')
    history.endAttempt(id, {
      endedAt: 2500,
      outcome: 'failed',
      status: 503,
      code: 'SlowDown',
      bytesSent: 3,
      key: 'a/0.xml',
    })
    history.startAttempt(id, 3000, 'a/1.xml')

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

  it('end only once: the second end is an error, and the first outcome stays', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'uploading')
    history.startAttempt(id, 2000, 'a/1.xml')
    history.endAttempt(id, { endedAt: 2500, ...stored, outcome: 'unknown' })

    expect(() => history.endAttempt(id, { endedAt: 3000, ...stored })).toThrow(
      'has no running attempt',
    )
    expect(history.attempts(id)[0]).toMatchObject({ outcome: 'unknown', endedAt: 2500 })
  })
})
