import { describe, expect, it } from 'vitest'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

const HASHED = { patch: { sha256: 'a'.repeat(64) } }

describe('the baselines of a feed', () => {
  it('are the last upload, and the largest of the later versions that storage might have', () => {
    const { history } = temporaryHistory()
    const uploaded = versionIn(history, 'uploaded', HASHED)
    const maybe = [10, 900, 20].map((postings) => {
      const version = versionIn(history, 'superseded', { patch: { ...HASHED.patch, postings } })
      history.startAttempt(version.id, 2000, 'a/1.xml')
      const end = { status: null, code: null, bytesSent: 1, key: null }
      history.endAttempt(version.id, { endedAt: 2001, outcome: 'unknown', ...end })
      return version.id
    })

    expect(history.baselines('acme').map(({ id }) => id)).toEqual([uploaded.id, maybe[1]])
  })

  it('include the last upload, and no later version that is held, rejected, discarded, superseded or gone', () => {
    const { history } = temporaryHistory()
    const uploaded = versionIn(history, 'uploaded', HASHED)
    for (const state of ['held', 'rejected', 'discarded', 'superseded', 'gone'] as const) {
      versionIn(history, state, HASHED)
    }

    expect(history.baselines('acme')).toEqual([uploaded])
  })
})
