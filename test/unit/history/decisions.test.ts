import { describe, expect, it } from 'vitest'
import { decide } from '../../../src/history/decisions.ts'
import { FeedsyncError } from '../../../src/lib/errors.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

const HASHED = { patch: { sha256: 'a'.repeat(64), spool: '1.xml' } }

describe('a decision', () => {
  it('to retry is refused for a version that would replace a newer one', () => {
    const { history } = temporaryHistory()
    const older = versionIn(history, 'failed', HASHED)
    const newer = versionIn(history, 'uploaded', HASHED)

    const refused = new FeedsyncError(
      `retry version ${older.id}: version ${newer.id} of its feed is newer, and uploaded`,
      { hint: `to send its bytes again, as a new version: feedsyncd restore ${older.id}` },
    )
    expect(() => decide(history, older.id, 'retry', { by: 'maria', now: 5000 })).toThrow(refused)
    expect(history.version(older.id)?.state).toBe('failed')
  })

  it('to retry changes nothing for a version that is being sent now', () => {
    const { history } = temporaryHistory()
    const sent = versionIn(history, 'uploading', HASHED)

    const decided = decide(history, sent.id, 'retry', { by: 'maria', now: 5000 })

    expect(decided).toEqual(sent)
    expect(history.events(sent.id).at(-1)?.to).toBe('uploading')
  })

  it('to release makes the version a baseline for later ones, and supersedes older waiting versions', () => {
    const { history } = temporaryHistory()
    const uploaded = versionIn(history, 'uploaded', HASHED)
    const waiting = versionIn(history, 'queued', HASHED)
    const held = versionIn(history, 'held', { patch: { ...HASHED.patch, guard: 'drop' } })
    expect(history.baselines('acme').map(({ id }) => id)).toEqual([uploaded.id, waiting.id])

    decide(history, held.id, 'release', { by: 'maria', now: 5000 })

    expect(history.version(held.id)).toMatchObject({
      ...{ state: 'queued', guard: null, approved: true },
    })
    expect(history.version(waiting.id)?.state).toBe('superseded')
    expect(history.baselines('acme').map(({ id }) => id)).toEqual([held.id])
  })

  it('to discard removes an earlier approval', () => {
    const { history } = temporaryHistory()
    const uploaded = versionIn(history, 'uploaded', HASHED)
    const held = versionIn(history, 'held', HASHED)

    decide(history, held.id, 'release', { by: 'maria', now: 5000 })
    decide(history, held.id, 'discard', { by: 'maria', now: 5001 })

    expect(history.baselines('acme').map(({ id }) => id)).toEqual([uploaded.id])
  })
})

describe('the baselines of a feed', () => {
  it('include the largest of the versions that storage may have', () => {
    const { history } = temporaryHistory()
    const uploaded = versionIn(history, 'uploaded', HASHED)
    const maybe = [10, 900, 20].map((postings) => {
      const version = versionIn(history, 'superseded', { patch: { ...HASHED.patch, postings } })
      const n = history.startAttempt(version.id, 2000)
      const end = { status: null, code: null, bytesSent: 1, key: null }
      history.endAttempt(version.id, n, 2001, { outcome: 'unknown', ...end })
      return version.id
    })

    expect(history.baselines('acme').map(({ id }) => id)).toEqual([uploaded.id, maybe[1]])
  })

  it('include no version that is held, rejected, discarded or only superseded', () => {
    const { history } = temporaryHistory()
    for (const state of ['held', 'rejected', 'discarded', 'superseded', 'gone'] as const) {
      versionIn(history, state, HASHED)
    }

    expect(history.baselines('acme')).toEqual([])
  })
})
