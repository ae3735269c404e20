import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../../src/lib/clock.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

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
