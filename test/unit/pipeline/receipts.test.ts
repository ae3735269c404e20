// The order of the receipts of one path.

import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Conditions } from '../../../src/domain/conditions.ts'
import type { Disposed, Receipt } from '../../../src/inbox/port.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'
import {
  markReceiptsPending,
  Receipts,
  type ReceiptsParts,
} from '../../../src/pipeline/receipts.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

/** slowMount returns receipts whose writes end when the test says so. */
function slowMount() {
  const { history } = temporaryHistory()
  const begun: { receipt: Receipt; end: () => void }[] = []
  const parts: ReceiptsParts = {
    ...{ clock: systemClock, log: silentLog, history },
    rescanMs: 1000,
    conditions: new Conditions(systemClock),
    dispositions: {
      discardDraft: async () => {},
      writeReceipt: (receipt) =>
        new Promise<Disposed>((resolve) => {
          begun.push({ receipt, end: () => resolve({ kind: 'done', to: null }) })
        }),
    },
  }
  const written = async (n: number) => {
    while (begun.length < n) await setImmediate()
    const { end, receipt } = begun[n - 1] ?? expect.fail()
    end()
    return receipt.state
  }
  return { begun, history, receipts: new Receipts(parts), written }
}

it('a slow receipt never overwrites a later receipt of the same version', async () => {
  const { begun, history, receipts, written } = slowMount()
  const held = versionIn(history, 'held')
  markReceiptsPending(history, held)
  const first = receipts.writePending(held.id)
  while (begun.length < 1) await setImmediate()
  for (const state of ['queued', 'uploading', 'uploaded'] as const)
    markReceiptsPending(history, history.move(held.id, state, { at: 2000 }))
  const second = receipts.writePending(held.id)
  for (let turn = 0; turn < 100; turn++) await setImmediate()
  const atOnce = begun.length

  const states = [await written(1)]
  await first
  const pending = history.pendingReceipts()
  states.push(await written(2))

  await second
  expect(receipts.isComplete).toBe(true)
  expect(atOnce).toBe(1)
  expect(states).toEqual(['held', 'uploaded'])
  expect(pending).toMatchObject([{ id: held.id, path: held.path }])
  expect(history.pendingReceipts()).toEqual([])
})

it('an older version gets no receipt once a newer version of its feed and path was rejected', async () => {
  const { begun, history, receipts } = slowMount()
  const older = versionIn(history, 'uploaded')
  markReceiptsPending(history, older)
  versionIn(history, 'gone')
  versionIn(history, 'rejected', { feed: 'other' })
  const isNewest = () => !history.hasNewerAt(older, ['rejected', 'held'])
  const before = isNewest()
  versionIn(history, 'rejected')

  await receipts.writePending()

  expect([before, isNewest(), receipts.isComplete]).toEqual([true, false, true])
  expect(begun).toEqual([])
  expect(history.pendingReceipts()).toEqual([])
})
