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

  it('is known in advance: the earliest attempt that is still to come', () => {
    const { history } = temporaryHistory()
    versionIn(history, 'queued', { feed: 'a', patch: { nextAttemptAt: 5000 } })
    versionIn(history, 'queued', { feed: 'b', patch: { nextAttemptAt: 3000 } })
    versionIn(history, 'queued', { feed: 'd' })

    expect([2999, 3000, 5000].map((now) => history.nextDueAt(now))).toEqual([3000, 5000, null])
  })
})

it('a file is incomplete for too long after its time, and when a clock ahead has stored since when', () => {
  const { history } = temporaryHistory()
  versionIn(history, 'incomplete', { patch: { incompleteSince: DAY } })
  const expired = (now: number) => history.expired(now, 15 * MINUTE).length === 1

  expect([DAY, DAY + 15 * MINUTE - 1, DAY + 15 * MINUTE].map(expired)).toEqual([false, false, true])
  expect([DAY - MINUTE, DAY - HOUR].map(expired)).toEqual([false, true])
})
