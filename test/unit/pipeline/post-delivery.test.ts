import { expect, it } from 'vitest'
import { Conditions } from '../../../src/domain/conditions.ts'
import type { History } from '../../../src/history/port.ts'
import type { Disposed, Listing, Sighting } from '../../../src/inbox/port.ts'
import { type Clock, HOUR, MINUTE, systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { Departures, type DeparturesParts } from '../../../src/pipeline/departures.ts'
import { Ledger } from '../../../src/pipeline/ledger.ts'
import { PostDelivery } from '../../../src/pipeline/post-delivery.ts'
import {
  markReceiptsPending,
  Receipts,
  type ReceiptsParts,
} from '../../../src/pipeline/receipts.ts'
import type { Spool } from '../../../src/spool/port.ts'
import { eventually } from '../../helpers/eventually.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

const PROBLEM: Disposed = { kind: 'problem', code: 'EROFS', reason: 'read-only', hint: 'mount it' }
const DONE: Disposed = { kind: 'done', to: null }

const IDENTITY = { dev: '1', ino: '2', size: 3, mtimeNs: '4', ctimeNs: '5' }
/** The same file after it was put back. */
const RETURNED = { ...IDENTITY, ctimeNs: '6' }

type Ends = DeparturesParts['dispositions'] & ReceiptsParts['dispositions']

interface Needs {
  history: History
  commit?: History['commit']
  clock?: Clock
  conditions?: Conditions
  rescanMs?: number
  afterUpload?: 'archive' | 'keep'
  dispositions: Partial<Ends>
}

/** postDeliveryOf builds the last step with its departures and receipts. */
function postDeliveryOf({
  afterUpload = 'archive',
  clock = systemClock,
  conditions = new Conditions(clock),
  dispositions,
  history,
  commit = history.commit,
  rescanMs = 1000,
}: Needs) {
  const { known } = new Ledger({ history, clock, log: silentLog, onMove: () => {} })
  const parts = {
    ...{ clock, conditions, log: silentLog, knownPaths: known, rescanMs },
    history: { ...history, commit },
    inboxConfig: { afterUpload, afterReject: 'keep', rescanMs } as DeparturesParts['inboxConfig'],
    dispositions: dispositions as Ends,
  }
  const departures = new Departures(parts)
  const spool = {} as Spool
  const receipts = new Receipts(parts)
  const postDelivery = new PostDelivery({ ...parts, departures, keepVersions: 3, receipts, spool })
  /** listed passes on a listing, and waits until the moves that it begins have ended. */
  const listed = async (files: Sighting[], unknown: string[] = []) => {
    postDelivery.listed({ files, unknown } as Listing)
    await eventually(() => expect(postDelivery.isMoving).toBe(false))
  }
  return { departures, known, listed, postDelivery }
}

/** folder returns a PostDelivery whose moves and receipts end as `ends` says. */
function folder({ rescanMs = 1000 } = {}) {
  const { history } = temporaryHistory()
  let ahead = 0
  const clock = { ...systemClock, monotonic: () => ahead }
  const conditions = new Conditions(clock)
  const told: string[] = []
  conditions.onChange(({ kind }) => told.push(kind))
  const ends = { move: DONE, receipt: DONE, receipts: 0 }
  for (const path of ['good.xml', 'other.xml'])
    history.rememberPath({
      path,
      identity: IDENTITY,
      versionId: versionIn(history, 'uploaded', { path }).id,
    })
  const step = postDeliveryOf({
    ...{ clock, conditions, history, rescanMs },
    dispositions: {
      dispose: async () => ends.move,
      writeReceipt: async () => {
        ends.receipts++
        return ends.receipt
      },
    },
  })
  /** rejected ends a version as the pipeline does. */
  const rejected = async (of: { feed?: string; path?: string }) => {
    const version = versionIn(history, 'rejected', of)
    markReceiptsPending(history, version)
    await step.postDelivery.cleanUp(version)
  }
  /** listed passes on a listing with one uploaded file, or null for a folder that could not be listed. */
  const listed = (path: 'good.xml' | 'other.xml' | null) =>
    path === null ? step.listed([], ['']) : step.listed([{ path, identity: IDENTITY }])
  const pass = (ms: number) => {
    ahead += ms
    conditions.expire()
  }
  return { conditions, ends, listed, pass, rejected, told }
}

it('a successful move does not end the condition of a failing receipt, and a written receipt does', async () => {
  const { conditions, ends, listed, rejected, told } = folder()
  ends.receipt = PROBLEM
  await rejected({ feed: 'bad.xml' })

  await listed('good.xml')
  const meanwhile = [...told]
  ends.receipt = DONE
  await listed('other.xml')

  expect(meanwhile).toEqual(['set'])
  expect(conditions.current()).toEqual([])
})

it('a written receipt does not end the condition of a failing move', async () => {
  const { conditions, ends, listed, rejected, told } = folder()
  ends.receipt = PROBLEM
  await rejected({ feed: 'bad.xml' })
  Object.assign(ends, { receipt: DONE, move: PROBLEM })

  await listed('good.xml')
  await listed('other.xml')

  expect(told).toEqual(['set'])
  expect(conditions.has('dispositions-failing')).toBe(true)
})

it('a folder that could not be listed does not end the condition of a failing move', async () => {
  const { conditions, ends, listed, pass, told } = folder()
  ends.move = PROBLEM
  await listed('good.xml')
  pass(1000)

  await listed(null)

  expect(told).toEqual(['set'])
  expect(conditions.has('dispositions-failing')).toBe(true)
})

it('the condition of a failing move lasts until the next listing', async () => {
  const { conditions, ends, listed, pass } = folder({ rescanMs: HOUR })
  ends.move = PROBLEM
  await listed('good.xml')

  pass(55 * MINUTE)

  expect(conditions.has('dispositions-failing')).toBe(true)
})

it('a receipt is not tried while its missing directory cannot be listed, then once more, and then no more', async () => {
  const { ends, listed, rejected } = folder()
  ends.receipt = { ...PROBLEM, code: 'ENOENT' }
  await rejected({ path: 'monday/bad.xml' })

  await listed(null)
  const whileAway = ends.receipts
  await listed('good.xml')
  const looked = ends.receipts
  await listed('other.xml')

  expect([whileAway, looked, ends.receipts]).toEqual([1, 2, 2])
})

it('while receipts cannot be written, a listing tries only one of them, and once they can, all', async () => {
  const { ends, listed, rejected } = folder()
  ends.receipt = PROBLEM
  for (let n = 0; n < 10; n++) await rejected({ feed: `bad-${n}.xml` })

  await listed('good.xml')
  const tried = ends.receipts
  ends.receipt = DONE
  await listed('other.xml')

  expect([tried, ends.receipts]).toEqual([11, 21])
})

/** uploadedFile returns a history with one uploaded version, whose file is still in the folder. */
function uploadedFile() {
  const { history } = temporaryHistory()
  const { id, path, sha256 } = versionIn(history, 'uploaded')
  history.rememberPath({ path, identity: IDENTITY, versionId: id })
  return { history, path, sha256 }
}

it('a file that was put back while the database was full counts as moved, and after the next listing as known', async () => {
  const { history, path } = uploadedFile()
  let commits = 0
  const commit: History['commit'] = async (work) => {
    // The first commit records the departure. The second commit, with the result, fails.
    if (++commits === 2) throw new Error('the disk is full')
    return history.commit(work)
  }
  const problem: Disposed = { kind: 'problem', code: 'ENOSPC', reason: 'full', hint: 'make room' }
  const { departures, known, listed } = postDeliveryOf({
    ...{ history, commit },
    dispositions: {
      dispose: async () => ({ ...problem, returned: RETURNED }),
      resume: async () => ({ kind: 'missing', returned: RETURNED }),
    },
  })

  await listed([{ path, identity: IDENTITY }])
  const inBetween = [
    known.isNews(path, RETURNED),
    departures.hasMoved({ path, identity: RETURNED }),
  ]
  await listed([])

  expect(inBetween).toEqual([true, true])
  expect(known.isNews(path, RETURNED)).toBe(false)
  expect(history.departures()).toEqual([])
})

it('a file that was put back before a crash counts as moved unless it changed, and after the next listing as known', async () => {
  const { history, path, sha256 } = uploadedFile()
  const file = { path, identity: IDENTITY, disposition: 'archive', sha256 } as const
  history.beginDeparture({ ...file, token: '0a1b2c3d4e5f' })
  const { departures, known, listed, postDelivery } = postDeliveryOf({
    ...{ history, afterUpload: 'keep' },
    dispositions: { resume: async () => ({ kind: 'missing', returned: RETURNED }) },
  })
  postDelivery.recover()

  const isLeftAlone = [RETURNED, { ...RETURNED, size: 4 }].map((identity) =>
    departures.hasMoved({ path, identity }),
  )
  await listed([{ path, identity: RETURNED }])

  expect(isLeftAlone).toEqual([true, false])
  expect(known.isNews(path, RETURNED)).toBe(false)
})
