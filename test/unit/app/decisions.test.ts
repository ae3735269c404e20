import { describe, expect, it } from 'vitest'
import { carryOut } from '../../../src/app/decisions.ts'
import type { Config } from '../../../src/config/config.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

const HASHED = { patch: { sha256: 'a'.repeat(64), spool: '1.xml' } }

const MARIA = { by: 'maria', config: { inbox: { receipts: false } } as Config }

describe('a decision', () => {
  it('to retry queues the version, and supersedes older versions that wait', () => {
    const { history } = temporaryHistory()
    const older = versionIn(history, 'held', HASHED)
    const newer = versionIn(history, 'failed', HASHED)

    carryOut(history, { deed: 'retry', id: newer.id }, { ...MARIA, now: 5000 })

    expect([older, newer].map(({ id }) => history.version(id)?.state)).toEqual([
      'superseded',
      'queued',
    ])
  })

  it('to retry changes nothing for a version that is being sent now', () => {
    const { history } = temporaryHistory()
    const sent = versionIn(history, 'uploading', HASHED)

    const decided = carryOut(history, { deed: 'retry', id: sent.id }, { ...MARIA, now: 5000 })

    expect(decided).toEqual(sent)
    expect(history.events(sent.id).at(-1)?.to).toBe('uploading')
  })

  it('to release queues and approves the version, which supersedes older waiting ones and becomes the only baseline', () => {
    const { history } = temporaryHistory()
    const uploaded = versionIn(history, 'uploaded', HASHED)
    const waiting = versionIn(history, 'queued', HASHED)
    const held = versionIn(history, 'held', { patch: { ...HASHED.patch, guard: 'drop' } })
    expect(history.baselines('acme').map(({ id }) => id)).toEqual([uploaded.id, waiting.id])

    carryOut(history, { deed: 'release', id: held.id }, { ...MARIA, now: 5000 })

    expect(history.version(held.id)).toMatchObject({
      ...{ state: 'queued', guard: null, approved: true },
    })
    expect(history.version(waiting.id)?.state).toBe('superseded')
    expect(history.baselines('acme').map(({ id }) => id)).toEqual([held.id])
  })

  it('to discard removes an earlier approval, so that the upload before is the baseline again', () => {
    const { history } = temporaryHistory()
    const uploaded = versionIn(history, 'uploaded', HASHED)
    const held = versionIn(history, 'held', HASHED)

    carryOut(history, { deed: 'release', id: held.id }, { ...MARIA, now: 5000 })
    carryOut(history, { deed: 'discard', id: held.id }, { ...MARIA, now: 5001 })

    expect(history.version(held.id)).toMatchObject({ state: 'discarded', approved: false })
    expect(history.baselines('acme').map(({ id }) => id)).toEqual([uploaded.id])
  })
})
