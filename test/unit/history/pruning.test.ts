import { describe, expect, it } from 'vitest'
import type { State } from '../../../src/history/port.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

const identity = { dev: '1', ino: '2', size: 3, mtimeNs: '1700000000123456789', ctimeNs: '5' }

describe('pruning', () => {
  it('forgets versions that ended before a date, with their events, attempts and counts', async () => {
    const { history } = temporaryHistory()
    const old = versionIn(history, 'uploading', { at: 1000 })
    history.startAttempt(old.id, 1100, 'a/1.xml')
    history.move(old.id, 'queued', { at: 1200 })
    history.move(old.id, 'superseded', { at: 1300 })
    const newest = versionIn(history, 'uploaded', { at: 1400, patch: { sha256: 'a' } })

    expect(await history.prune(1300)).toBe(0)
    expect(await history.prune(5000)).toBe(1)
    expect(history.list({ all: true })).toEqual([newest])
    expect([history.events(old.id), history.attempts(old.id)]).toEqual([[], []])
    expect(history.count()).toMatchObject({ superseded: 0, uploaded: 1 })
  })

  it('keeps the newest, the newest with known bytes and the last uploaded version of each feed, and no other', async () => {
    const { history } = temporaryHistory()
    const uploaded = versionIn(history, 'uploaded', { patch: { sha256: 'a' } })
    const taken = versionIn(history, 'discarded', { patch: { sha256: 'b' } })
    const dropped = versionIn(history, 'gone')
    const newest = versionIn(history, 'rejected')

    await history.prune(9000)

    expect(history.version(dropped.id)).toBe(null)
    expect(history.list({ all: true })).toEqual([newest, taken, uploaded])
  })

  it('keeps the version of a file until the file is forgotten', async () => {
    const { history } = temporaryHistory()
    const old = versionIn(history, 'superseded')
    history.rememberPath({ path: 'old.xml', identity, versionId: old.id })
    versionIn(history, 'uploaded', { patch: { sha256: 'a' } })

    expect(await history.prune(9000)).toBe(0)
    history.forgetPath('old.xml')
    expect(await history.prune(9000)).toBe(1)
  })

  it('keeps a version as long as its copy is in the spool', async () => {
    const { history } = temporaryHistory()
    const old = versionIn(history, 'superseded', { patch: { spool: '1.xml' } })
    versionIn(history, 'uploaded', { patch: { sha256: 'a' } })

    expect(await history.prune(9000)).toBe(0)
    history.update(old.id, { spool: null })
    expect(await history.prune(9000)).toBe(1)
  })

  it.each<State>(['settling', 'incomplete', 'checking', 'held', 'queued', 'uploading', 'failed'])(
    'never forgets a version that still needs a step (%s)',
    async (state) => {
      const { history } = temporaryHistory()
      const owed = versionIn(history, state)
      versionIn(history, 'uploaded', { patch: { sha256: 'a' } })

      expect(await history.prune(Number.MAX_SAFE_INTEGER)).toBe(0)
      expect(history.version(owed.id)).toEqual(owed)
    },
  )

  it('goes on after versions that it keeps, over any number of batches', async () => {
    const { history } = temporaryHistory()
    history.atomically(() => {
      for (let n = 0; n < 1300; n++) {
        const feed = n % 2 === 0 ? 'a' : `kept-${n}`
        const { id } = versionIn(history, 'rejected', { feed, path: 'a.xml' })
        if (n === 0) history.rememberPath({ path: 'a.xml', identity, versionId: id })
      }
    })

    expect(await history.prune(5000)).toBe(648)
    expect(history.list({}).length).toBe(651)
  })

  it('forgets old refused requests, and keeps open ones', async () => {
    const { history } = temporaryHistory()
    const ask = () => history.addRequest({ path: 'a', source: '/a', feed: null, at: 1000 }).id
    const [refused, open] = [ask(), ask()]
    history.answerRequest(refused, { reason: 'is a folder' })

    await history.prune(2000)

    expect([history.request(refused), history.request(open)?.id]).toEqual([null, open])
  })
})
