import { describe, expect, it } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../../src/lib/clock.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

describe('the due versions', () => {
  it('are the oldest waiting version of each feed, oldest first, and no more than were asked for', () => {
    const { history } = temporaryHistory()
    const b = versionIn(history, 'queued', { feed: 'b' })
    const a = versionIn(history, 'queued', { feed: 'a' })
    versionIn(history, 'queued', { feed: 'b' })
    versionIn(history, 'held', { feed: 'c' })

    expect(history.due(2000)).toEqual([b, a])
    expect(history.due(2000, 1)).toEqual([b])
  })

  it('include a version from the time of its next attempt on', () => {
    const { history } = temporaryHistory()
    const version = versionIn(history, 'queued', { patch: { nextAttemptAt: 5000 } })

    expect(history.due(4999)).toEqual([])
    expect(history.due(5000)).toEqual([version])
  })

  it('include a version whose next attempt a wrong clock set further ahead than any wait', () => {
    const { history } = temporaryHistory()
    const inTime = versionIn(history, 'queued', { feed: 'a', patch: { nextAttemptAt: HOUR } })
    const wrong = versionIn(history, 'queued', { feed: 'b', patch: { nextAttemptAt: 400 * DAY } })

    expect(history.due(1000)).toEqual([wrong])
    expect(history.due(HOUR)).toEqual([inTime, wrong])
  })

  it('include no version that would overtake an older version of its feed, which is due first', () => {
    const { history } = temporaryHistory()
    const older = versionIn(history, 'queued', { patch: { nextAttemptAt: 5000 } })
    versionIn(history, 'queued')

    expect(history.due(4000)).toEqual([])
    expect(history.due(5000)).toEqual([older])
  })

  it('include no feed that is uploading, but all other feeds', () => {
    const { history } = temporaryHistory()
    versionIn(history, 'queued', { feed: 'a' })
    versionIn(history, 'uploading', { feed: 'a' })
    const b = versionIn(history, 'queued', { feed: 'b' })

    expect(history.due(2000)).toEqual([b])
  })

  it('are next due at the earliest attempt in the future; null without one', () => {
    const { history } = temporaryHistory()
    versionIn(history, 'queued', { feed: 'a', patch: { nextAttemptAt: 5000 } })
    versionIn(history, 'queued', { feed: 'b', patch: { nextAttemptAt: 3000 } })
    versionIn(history, 'queued', { feed: 'd' })

    expect([2999, 3000, 5000].map((now) => history.nextDueAt(now))).toEqual([3000, 5000, null])
  })
})

it('a file is incomplete for too long after its deadline, or when a wrong clock dated it in the future', () => {
  const { history } = temporaryHistory()
  versionIn(history, 'incomplete', { patch: { incompleteSince: DAY } })
  const expired = (now: number) => history.expired(now, 15 * MINUTE).length === 1

  expect([DAY, DAY + 15 * MINUTE - 1, DAY + 15 * MINUTE].map(expired)).toEqual([false, false, true])
  expect([DAY - MINUTE, DAY - HOUR].map(expired)).toEqual([false, true])
})
