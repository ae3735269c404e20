// What is known of a file that could not be put away, and whose way back could not be recorded at once.

import { expect, it, vi } from 'vitest'
import { Ledger } from '../../../src/history/ledger.ts'
import type { Disposed, Listing } from '../../../src/inbox/port.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { Conditions } from '../../../src/lib/conditions.ts'
import { silentLog } from '../../../src/lib/silent-log.ts'
import { PostDelivery, type PostDeliveryParts } from '../../../src/pipeline/post-delivery.ts'
import { eventually } from '../../helpers/eventually.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

it('a file that went back while the database could not be written is no news afterwards', async () => {
  const { history } = temporaryHistory()
  const clock = systemClock
  const path = 'acme.xml'
  const identity = { dev: '1', ino: '2', size: 3, mtimeNs: '4', ctimeNs: '5' }
  const returned = { ...identity, ctimeNs: '6' }
  const { id } = versionIn(history, 'uploaded')
  history.know({ path, identity, versionId: id })
  const ledger = new Ledger({ history, clock, log: silentLog, onMove: () => {} })
  let commits = 0
  const commit = vi.fn(async (work: () => unknown) => {
    // The departure is noted; how it ended is not.
    if (++commits === 2) throw new Error('the disk is full')
    return history.commit(work)
  })
  const inbox = { afterUpload: 'archive', afterReject: 'keep', rescanMs: 1000, receipts: false }
  const problem: Disposed = { kind: 'problem', code: 'ENOSPC', reason: 'full', hint: 'make room' }
  const parts: Partial<PostDeliveryParts> = {
    ...{ clock, log: silentLog, ledger },
    conditions: new Conditions(clock),
    history: { ...history, commit } as unknown as PostDeliveryParts['history'],
    dispositions: {
      dispose: async () => ({ ...problem, returned }),
      resume: async () => ({ kind: 'missing', returned }),
    } as unknown as PostDeliveryParts['dispositions'],
    settings: { current: { inbox } } as PostDeliveryParts['settings'],
  }
  const postDelivery = new PostDelivery(parts as PostDeliveryParts)
  const listed = async (files: Listing['files']) => {
    postDelivery.moveFinished({ files } as Listing)
    await eventually(() => expect(postDelivery.isMoving).toBe(false))
  }

  await listed([{ path, identity }])
  const inBetween = [
    ledger.known.isNews(path, returned),
    postDelivery.hasTaken({ path, identity: returned }),
  ]
  await listed([])

  expect(inBetween).toEqual([true, true])
  expect(ledger.known.isNews(path, returned)).toBe(false)
  expect(history.notes('leaving ')).toEqual([])
})
