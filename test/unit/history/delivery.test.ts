import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../../src/lib/clock.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

const stored = { outcome: 'stored', status: 204, code: null, bytesSent: 7, key: 'a/1.xml' } as const

describe('whose turn it is', () => {
  it('is the oldest waiting version of each feed, oldest first', () => {
    const { history } = temporaryHistory()
    const b = versionIn(history, 'queued', { feed: 'b' })
    const a = versionIn(history, 'queued', { feed: 'a' })
    versionIn(history, 'queued', { feed: 'b' })
    versionIn(history, 'held', { feed: 'c' })

    expect(history.due(2000)).toEqual([b, a])
    expect(history.due(2000, 1)).toEqual([b])
  })

  it('comes at the time of the next attempt, not before', () => {
    const { history } = temporaryHistory()
    const version = versionIn(history, 'queued', { patch: { nextAttemptAt: 5000 } })

    expect(history.due(4999)).toEqual([])
    expect(history.due(5000)).toEqual([version])
  })

  it('has come when the next attempt lies further ahead than any wait: a wrong clock stored it', () => {
    const { history } = temporaryHistory()
    const inTime = versionIn(history, 'queued', { feed: 'a', patch: { nextAttemptAt: HOUR } })
    const wrong = versionIn(history, 'queued', { feed: 'b', patch: { nextAttemptAt: 400 * DAY } })

    expect(history.due(1000)).toEqual([wrong])
    expect(history.due(HOUR)).toEqual([inTime, wrong])
  })

  it('is not overtaken by a younger version of the same feed', () => {
    const { history } = temporaryHistory()
    versionIn(history, 'queued', { patch: { nextAttemptAt: 5000 } })
    versionIn(history, 'queued')

    expect(history.due(4000)).toEqual([])
  })

  it('does not come while another version of the feed is uploading; other feeds go on', () => {
    const { history } = temporaryHistory()
    versionIn(history, 'queued', { feed: 'a' })
    versionIn(history, 'uploading', { feed: 'a' })
    const b = versionIn(history, 'queued', { feed: 'b' })

    expect(history.due(2000)).toEqual([b])
  })

  it('is known in advance: the earliest attempt or deadline that is still to come', () => {
    const { history } = temporaryHistory()
    versionIn(history, 'queued', { feed: 'a', patch: { nextAttemptAt: 5000 } })
    versionIn(history, 'queued', { feed: 'b', patch: { nextAttemptAt: 3000 } })
    versionIn(history, 'incomplete', { feed: 'c', patch: { deadlineAt: 4000 } })
    versionIn(history, 'queued', { feed: 'd' })

    expect([2999, 3000, 4000, 5000].map((now) => history.nextDueAt(now))).toEqual([
      3000,
      4000,
      5000,
      null,
    ])
  })

  it('does not come from deadlines of versions that are incomplete no more', () => {
    const { history } = temporaryHistory()
    versionIn(history, 'settling', { patch: { deadlineAt: 4000 } })

    expect(history.nextDueAt(0)).toBe(null)
  })
})

describe('the deadline of an incomplete file', () => {
  const incompleteUntil = (deadlineAt: number) => {
    const { history } = temporaryHistory()
    versionIn(history, 'incomplete', { patch: { deadlineAt } })
    return history
  }

  it('has passed when it lies further ahead than a file may wait', () => {
    expect(incompleteUntil(10 * MINUTE).expired(1000, 15 * MINUTE)).toEqual([])
    expect(incompleteUntil(400 * DAY).expired(1000, 15 * MINUTE)).toEqual(['acme.xml'])
  })

  it('moves with the wall clock, also while the file is read', () => {
    const history = incompleteUntil(5000)
    history.shiftDeadlines(400 * DAY)
    history.move(1, 'checking', null, 2000)
    history.shiftDeadlines(-100 * DAY)

    expect(history.version(1)?.deadlineAt).toBe(300 * DAY + 5000)
  })
})

describe('attempts', () => {
  it('are numbered and counted by version, running until they end', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'uploading')

    const first = history.startAttempt(id, 2000, null)
    history.endAttempt(id, first, 2500, {
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

  it('end once: the first outcome stands', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'uploading')
    const n = history.startAttempt(id, 2000, null)
    history.recover(2500)

    expect(() => history.endAttempt(id, n, 3000, stored)).toThrow('has no running attempt 1')
    expect(history.attempts(id)[0]).toMatchObject({ outcome: 'unknown', endedAt: 2500 })
  })
})

describe('recovery after a crash', () => {
  it('settles what was checked, queues what was sent, and calls running attempts unknown', () => {
    const { history } = temporaryHistory()
    const checking = versionIn(history, 'checking', { feed: 'a' })
    const uploading = versionIn(history, 'uploading', { feed: 'b' })
    const waiting = versionIn(history, 'queued', { feed: 'c', patch: { nextAttemptAt: 9000 } })
    history.startAttempt(uploading.id, 2000, 'a/1.xml')

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
