import { describe, expect, it } from 'vitest'
import { expectations } from '../../../src/history/expected-feeds.ts'
import { READ_AGAIN } from '../../../src/history/reason-codes.ts'
import { because, temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = Date.UTC(2027, 0, 4, 6)

/** A feed `acme` that was uploaded at START and is expected every 26 hours. */
function nightly(expectEveryMs: number | null = 26 * HOUR) {
  const { history } = temporaryHistory()
  const version = versionIn(history, 'uploaded', { at: START, patch: { sha256: 'a'.repeat(64) } })
  const ruleFor = (path: string, named: string | null = null) => ({
    feed: named ?? path.replace('.xml', ''),
    expectEveryMs,
  })
  const at = (now: number) => {
    const newest = history.newest('acme') ?? version
    return expectations(history, ruleFor, now)(newest)
  }
  return { history, version, at }
}

describe('a feed that is expected at least so often', () => {
  it('is overdue once that time is over, and not a moment before', () => {
    const { at } = nightly()

    expect(at(START + 26 * HOUR)).toEqual({
      expectedBy: '2027-01-05T08:00:00.000Z',
      overdue: false,
    })
    expect(at(START + 26 * HOUR + 1).overdue).toBe(true)
  })

  it('is in time again by its next version, whatever becomes of it', () => {
    const { at, history } = nightly()

    versionIn(history, 'rejected', { at: START + 3 * DAY })

    expect(at(START + 4 * DAY).overdue).toBe(false)
    expect(at(START + 5 * DAY).overdue).toBe(true)
  })

  it('is not in time because the daemon reads again what it might not read before', () => {
    const { at, history } = nightly()
    const { id } = versionIn(history, 'rejected', { at: START + 3 * DAY })

    history.move(id, 'settling', { code: READ_AGAIN, text: 'at a start' }, START + 5 * DAY)

    expect(at(START + 6 * DAY).overdue).toBe(true)
  })

  it('is in time by the same bytes again: its writer did its work', () => {
    const { at, history, version } = nightly()

    history.seen(version.id, because('the same bytes'), START + 3 * DAY)

    expect(at(START + 4 * DAY).overdue).toBe(false)
  })

  it('is in time by the same bytes again also behind a newer version that was not read', () => {
    const { at, history, version } = nightly()
    versionIn(history, 'gone', { at: START + DAY })

    history.seen(version.id, because('the same bytes'), START + 3 * DAY)

    expect(at(START + 4 * DAY).overdue).toBe(false)
  })

  it('is in time by a file that came back', () => {
    const { at, history } = nightly()
    const { id } = versionIn(history, 'gone', { at: START + DAY })

    history.move(id, 'settling', null, START + 3 * DAY)

    expect(at(START + 4 * DAY).overdue).toBe(false)
  })

  it('is missed also when a person uploaded a file from elsewhere in between', () => {
    const { at, history } = nightly()

    versionIn(history, 'uploaded', { at: START + DAY, path: '/root/corrected.xml' })

    expect(at(START + 2 * DAY).overdue).toBe(false)
    expect(at(START + 3 * DAY).overdue).toBe(true)
  })
})

describe('a version that a clock 400 days ahead has dated', () => {
  it('is no arrival where an earlier one can be believed', () => {
    const { at, history, version } = nightly()

    history.seen(version.id, because('the same bytes'), START + 400 * DAY)

    expect(at(START + 25 * HOUR).overdue).toBe(false)
    expect(at(START + 27 * HOUR).overdue).toBe(true)
  })

  it('does not keep its feed from being missed', () => {
    const { at } = nightly()

    expect(at(START - 400 * DAY)).toEqual({
      expectedBy: '2027-01-05T08:00:00.000Z',
      overdue: true,
    })
  })
})

describe('nothing is expected', () => {
  it('without a rule', () => {
    expect(nightly(null).at(START + 9 * DAY)).toEqual({ expectedBy: null, overdue: false })
  })

  it('of a version that has a successor', () => {
    const { history, version } = nightly()
    versionIn(history, 'uploaded', { at: START + DAY })

    const expectation = expectations(
      history,
      () => ({ feed: 'acme', expectEveryMs: HOUR }),
      START + 9 * DAY,
    )

    expect(expectation(version)).toEqual({ expectedBy: null, overdue: false })
  })

  it('of a feed that a person named, which the rule of its path does not', () => {
    const { history, version } = nightly()

    const expectation = expectations(
      history,
      () => ({ feed: 'other', expectEveryMs: HOUR }),
      START + 9 * DAY,
    )

    expect(expectation(version).overdue).toBe(false)
  })
})
