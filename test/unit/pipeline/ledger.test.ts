import { expect, it } from 'vitest'
import { RETRIED } from '../../../src/domain/reason-codes.ts'
import type { Version } from '../../../src/history/port.ts'
import { DAY, systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'
import type { FileEvent } from '../../../src/pipeline/decide/file.ts'
import { Ledger } from '../../../src/pipeline/ledger.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

const path = 'acme.xml'
const identity = { dev: '1', ino: '2', size: 3, mtimeNs: '4', ctimeNs: '5' }
const origin = { path, identity, rule: { feed: 'acme', account: null, dated: true } }
const BROKEN = { code: 'not-well-formed', reason: 'it is broken' }

const versionOf = ([version]: Version[]) => version as Version

/** read returns the event of a file with these bytes that was read. */
const read = (sha256: string | null, verdict: 'ok' | 'broken' = 'ok'): FileEvent => ({
  ...{ kind: 'read', held: () => null },
  file: {
    ...{ verdict, sha256, final: false, patch: { sha256 } },
    reason: verdict === 'ok' ? null : BROKEN,
  },
})

function atWork(now = systemClock.now) {
  const { history } = temporaryHistory()
  const clock = { ...systemClock, now }
  const ledger = new Ledger({ history, clock, log: silentLog, onMove: () => {} })
  return { history, ledger }
}

it('a rolled back transaction leaves the path unknown', () => {
  const { history, ledger } = atWork()

  const failing = () =>
    history.atomically(() => {
      ledger.writeFile(origin, read(null, 'broken'))
      throw new Error('the disk is full')
    })

  expect(failing).toThrow('the disk is full')
  expect(ledger.known.isNews(path, identity)).toBe(true)
  expect(history.lastVersionAt(path)).toBe(null)
})

it('an accepted version supersedes the queued, held and failed versions of its feed, with both ids in the reason', () => {
  const { history, ledger } = atWork()
  const older = (['queued', 'held', 'failed'] as const).map((state) => versionIn(history, state).id)

  const { id } = versionOf(ledger.writeFile(origin, read('b')))

  for (const each of older)
    expect(history.version(each)).toMatchObject({
      ...{ state: 'superseded', reason: `version ${id} took the place of version ${each}` },
    })
})

it('a path whose reading failed is in motion from the retry of a person until it is read', () => {
  const { history, ledger } = atWork()
  const fault = { kind: 'fault', reason: BROKEN } as const
  const { id } = versionOf(ledger.writeFile(origin, fault))
  const motion = () => [ledger.isInMotion(path), ledger.pathsInMotion().has(path)]

  const failed = motion()
  history.move(id, 'settling', {
    reason: { code: RETRIED, reason: 'a person asked for it' },
    at: 10,
  })
  const retried = motion()
  ledger.writeFile(origin, read(null, 'broken'))

  expect([failed, retried, motion()]).toEqual([
    [false, false],
    [true, true],
    [false, false],
  ])
})

it('a version can be pruned once its own file was moved away, and a file at the path then counts as new', async () => {
  const { history, ledger } = atWork()
  const { id } = versionOf(ledger.writeFile(origin, read('a', 'broken')))
  versionIn(history, 'uploaded', { patch: { sha256: 'b' } })
  const later = Date.now() + 1000

  const whileThere = await history.prune(later)
  ledger.known.moved(path, { ...identity, ino: '9' }, 'archive')
  const another = await history.prune(later)
  ledger.known.moved(path, identity, 'archive')
  const moved = await history.prune(later)

  expect([whileThere, another, moved]).toEqual([0, 0, 1])
  expect(history.version(id)).toBe(null)
  expect(ledger.known.isNews(path, identity)).toBe(true)
})

it('an unchanged file that comes back within 30 days is not new, and after a longer time it is new and forgotten', () => {
  let day = 0
  const { history, ledger } = atWork(() => day * DAY)
  ledger.writeFile(origin, read(null, 'broken'))
  const listing = (isThere: boolean) => {
    const steps = ledger.known.stepsAfter(() => isThere)
    history.atomically(() => {
      for (const step of steps) step()
    })
    return [steps.length, ledger.known.isNews(path, identity)]
  }
  const on = (...days: [number, boolean][]) =>
    days.map(([at, isThere]) => {
      day = at
      return listing(isThere)
    })

  const away = on([0, true], [1, false], [30, false])
  const back = on([32, true], [33, true])
  const gone = on([40, false], [69, false], [71, false])

  expect(away.flat()).toEqual([0, false, 1, false, 0, false])
  expect(back.flat()).toEqual([1, false, 0, false])
  expect(gone.flat()).toEqual([1, false, 0, false, 1, true])
  expect(history.knownFiles()).toEqual([])
})

it('a file that returns to its first feed queues the failed version there, and supersedes the waiting version of the second feed', () => {
  const { history } = temporaryHistory()
  const patch = { sha256: 'a', spool: '1.xml' }
  const failed = versionIn(history, 'failed', { feed: 'one', path: 'stays.xml', patch })
  const other = versionIn(history, 'queued', { feed: 'two', path: 'moved.xml' })
  history.rememberPath({ path: 'stays.xml', identity, versionId: failed.id })
  history.rememberPath({ path: 'moved.xml', identity, versionId: other.id })
  const rule = { feed: 'one', account: null, dated: true }
  // The ledger reads the known files when it is made, so make it last.
  const ledger = new Ledger({ history, clock: systemClock, log: silentLog, onMove: () => {} })

  const moved = { path: 'moved.xml', identity: { ...identity, mtimeNs: '6' }, rule }
  ledger.writeFile(moved, read('a'))

  const states = [failed, other].map(({ id }) => history.version(id)?.state)
  expect(states).toEqual(['queued', 'superseded'])
})
