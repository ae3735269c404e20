import { expect, it, vi } from 'vitest'
import { Conditions } from '../../../src/domain/conditions.ts'
import type { Disposed, Listing } from '../../../src/inbox/port.ts'
import { HOUR, MINUTE, systemClock } from '../../../src/lib/clock.ts'
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

type Ends = DeparturesParts['dispositions'] & ReceiptsParts['dispositions']
type Needs = Omit<DeparturesParts & ReceiptsParts, 'dispositions'> & { dispositions: Partial<Ends> }

/** postDeliveryOf builds the last step with its departures and receipts. */
function postDeliveryOf({ dispositions, ...needs }: Needs) {
  const parts = { ...needs, dispositions: dispositions as Ends }
  const departures = new Departures(parts)
  const spool = {} as Spool
  const receipts = new Receipts(parts)
  const postDelivery = new PostDelivery({ ...parts, departures, keepVersions: 3, receipts, spool })
  return { departures, postDelivery }
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
  const inbox = { afterUpload: 'archive', afterReject: 'keep', rescanMs }
  const identity = { dev: '1', ino: '2', size: 3, mtimeNs: '4', ctimeNs: '5' }
  for (const path of ['good.xml', 'other.xml'])
    history.rememberPath({ path, identity, versionId: versionIn(history, 'uploaded', { path }).id })
  const ledger = new Ledger({ history, clock, log: silentLog, onMove: () => {} })
  const { postDelivery } = postDeliveryOf({
    ...{ clock, log: silentLog, history, conditions, knownPaths: ledger.known, rescanMs },
    inboxConfig: inbox as DeparturesParts['inboxConfig'],
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
    await postDelivery.cleanUp(version)
  }
  /** listed passes on a listing with one uploaded file, or null for a folder that could not be listed. */
  const listed = async (path: 'good.xml' | 'other.xml' | null) => {
    const found = { files: path === null ? [] : [{ path, identity }], unknown: path ? [] : [''] }
    postDelivery.listed(found as unknown as Listing)
    await eventually(() => expect(postDelivery.isMoving).toBe(false))
  }
  const pass = (ms: number) => {
    ahead += ms
    conditions.expire()
  }
  return { conditions, ends, history, listed, pass, postDelivery, rejected, told }
}

it('a successful move does not end the condition of a failing receipt', async () => {
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

it('an unlisted folder does not end the condition of a failing move', async () => {
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

it('a receipt stays pending while its missing directory cannot be listed', async () => {
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

it('while receipts cannot be written, each listing tries only one of them', async () => {
  const { ends, listed, rejected } = folder()
  ends.receipt = PROBLEM
  for (let n = 0; n < 10; n++) await rejected({ feed: `bad-${n}.xml` })

  await listed('good.xml')
  const tried = ends.receipts
  ends.receipt = DONE
  await listed('other.xml')

  expect([tried, ends.receipts]).toEqual([11, 21])
})

it('a file that was put back while the database was full makes no new version', async () => {
  const { history } = temporaryHistory()
  const clock = systemClock
  const path = 'acme.xml'
  const identity = { dev: '1', ino: '2', size: 3, mtimeNs: '4', ctimeNs: '5' }
  const returned = { ...identity, ctimeNs: '6' }
  const { id } = versionIn(history, 'uploaded')
  history.rememberPath({ path, identity, versionId: id })
  const ledger = new Ledger({ history, clock, log: silentLog, onMove: () => {} })
  let commits = 0
  const commit = vi.fn(async (work: () => unknown) => {
    // The first commit records the departure; the second one, with the result, fails.
    if (++commits === 2) throw new Error('the disk is full')
    return history.commit(work)
  })
  const rescanMs = 1000
  const inbox = { afterUpload: 'archive', afterReject: 'keep', rescanMs }
  const problem: Disposed = { kind: 'problem', code: 'ENOSPC', reason: 'full', hint: 'make room' }
  const { departures, postDelivery } = postDeliveryOf({
    ...{ clock, log: silentLog, knownPaths: ledger.known, rescanMs },
    conditions: new Conditions(clock),
    history: { ...history, commit } as unknown as DeparturesParts['history'],
    inboxConfig: inbox as DeparturesParts['inboxConfig'],
    dispositions: {
      dispose: async () => ({ ...problem, returned }),
      resume: async () => ({ kind: 'missing', returned }),
    },
  })
  const listed = async (files: Listing['files']) => {
    postDelivery.listed({ files, unknown: [] as string[] } as Listing)
    await eventually(() => expect(postDelivery.isMoving).toBe(false))
  }

  await listed([{ path, identity }])
  const inBetween = [
    ledger.known.isNews(path, returned),
    departures.hasMoved({ path, identity: returned }),
  ]
  await listed([])

  expect(inBetween).toEqual([true, true])
  expect(ledger.known.isNews(path, returned)).toBe(false)
  expect(history.departures()).toEqual([])
})

it('a file that a crash left after it was put back is not read again before its move is resumed', async () => {
  const { history } = temporaryHistory()
  const clock = systemClock
  const path = 'acme.xml'
  const identity = { dev: '1', ino: '2', size: 3, mtimeNs: '4', ctimeNs: '5' }
  const returned = { ...identity, ctimeNs: '6' }
  const { id, sha256 } = versionIn(history, 'uploaded')
  history.rememberPath({ path, identity, versionId: id })
  history.beginDeparture({ path, identity, disposition: 'archive', sha256, token: '0a1b2c3d4e5f' })
  const ledger = new Ledger({ history, clock, log: silentLog, onMove: () => {} })
  const { departures, postDelivery } = postDeliveryOf({
    ...{ clock, log: silentLog, history, knownPaths: ledger.known, rescanMs: 1000 },
    conditions: new Conditions(clock),
    inboxConfig: {
      afterUpload: 'keep',
      afterReject: 'keep',
      rescanMs: 1000,
    } as DeparturesParts['inboxConfig'],
    dispositions: { resume: async () => ({ kind: 'missing', returned }) },
  })
  postDelivery.recover()

  const isLeftAlone = [returned, { ...returned, size: 4 }].map((found) =>
    departures.hasMoved({ path, identity: found }),
  )
  postDelivery.listed({
    files: [{ path, identity: returned }],
    unknown: [] as string[],
  } as unknown as Listing)
  await eventually(() => expect(postDelivery.isMoving).toBe(false))

  expect(isLeftAlone).toEqual([true, false])
  expect(ledger.known.isNews(path, returned)).toBe(false)
})
