import { describe, expect, it } from 'vitest'
import { type ExpectingRule, expectFeeds } from '../../../src/daemon/expect-feeds.ts'
import { expectations } from '../../../src/history/expected-feeds.ts'
import type { History } from '../../../src/history/port.ts'
import { DAY, HOUR, systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { Ledger } from '../../../src/pipeline/ledger.ts'
import { because, temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

const START = Date.UTC(2027, 0, 4, 6)
const acme = { match: 'acme/*.xml', name: 'acme', expectEveryMs: 26 * HOUR }
const nightly = { match: 'nightly.xml', name: null, expectEveryMs: 26 * HOUR }
const each = { match: '{1}/*.xml', name: '{1}', expectEveryMs: 26 * HOUR }
const any = { match: '**/*.xml', name: null, expectEveryMs: 26 * HOUR }

const ruleFor = (path: string) => {
  const feed = path.startsWith('acme/') ? 'acme' : path
  return { feed, expectEveryMs: 26 * HOUR }
}

function expectAt(now: number, history: History, rules: readonly ExpectingRule[]): void {
  const clock = { ...systemClock, now: () => now }
  const ledger = new Ledger({ history, clock, log: silentLog, onMove: () => {} })
  expectFeeds({ history, ledger }, rules, ruleFor)
}

describe('feeds that the rules expect', () => {
  it('are gone from the first start on, with a reason, and become overdue when no file comes', () => {
    const { history } = temporaryHistory()

    expectAt(START, history, [acme, nightly])
    const late = (now: number) =>
      history
        .list({})
        .filter((version) => expectations(history, ruleFor, now)(version).overdue)
        .map(({ feed }) => feed)

    expect(history.newest('acme')?.state).toBe('gone')
    expect(history.newest('acme')?.reason).toMatch(
      /^no file of this feed has come yet; one is expected/,
    )
    expect(late(START + 26 * HOUR)).toEqual([])
    expect(late(START + 27 * HOUR).sort()).toEqual(['acme', 'nightly.xml'])
  })

  it('are added once, and keep their time over a restart', () => {
    const { history } = temporaryHistory()

    expectAt(START, history, [acme])
    expectAt(START + 25 * HOUR, history, [acme])

    expect(history.list({ all: true })).toHaveLength(1)
    expect(history.newest('acme')?.detectedAt).toBe(START)
  })

  it('are not added for a rule without a fixed feed name', () => {
    const { history } = temporaryHistory()

    expectAt(START, history, [each, any])

    expect(history.list({ all: true })).toEqual([])
  })

  it('are not added again when a file has come already', () => {
    const { history } = temporaryHistory()
    const seen = versionIn(history, 'uploaded', { feed: 'acme', patch: { sha256: 'a' } })

    expectAt(START, history, [acme])

    expect(history.list({ all: true })).toEqual([seen])
  })

  it('are forgotten when no rule expects them and no file ever came', () => {
    const { history } = temporaryHistory()

    expectAt(START, history, [acme, nightly])
    expectAt(START + HOUR, history, [nightly])

    expect(history.list({}).map(({ feed }) => feed)).toEqual(['nightly.xml'])
  })
})

/** acmeUploaded makes a feed `acme` that was uploaded at START and is expected every 26 hours. */
function acmeUploaded(expectEveryMs: number | null = 26 * HOUR) {
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

describe('an expected feed', () => {
  it('is overdue after its time has passed, and not before', () => {
    const { at } = acmeUploaded()

    expect(at(START + 26 * HOUR)).toEqual({
      expectedBy: '2027-01-05T08:00:00.000Z',
      overdue: false,
    })
    expect(at(START + 26 * HOUR + 1).overdue).toBe(true)
  })

  it('is in time again with its next version, even a rejected one, until its time has passed again', () => {
    const { at, history } = acmeUploaded()

    versionIn(history, 'rejected', { at: START + 3 * DAY })

    expect(at(START + 4 * DAY).overdue).toBe(false)
    expect(at(START + 5 * DAY).overdue).toBe(true)
  })

  it('is in time again with the same bytes, because its writer did its work', () => {
    const { at, history, version } = acmeUploaded()

    history.seen(version.id, because('the same bytes'), START + 3 * DAY)

    expect(at(START + 4 * DAY).overdue).toBe(false)
  })

  it('is in time again with the same bytes, even if a newer version was never read', () => {
    const { at, history, version } = acmeUploaded()
    versionIn(history, 'gone', { at: START + DAY })

    history.seen(version.id, because('the same bytes'), START + 3 * DAY)

    expect(at(START + 4 * DAY).overdue).toBe(false)
  })

  it('is in time again with a file that came back', () => {
    const { at, history } = acmeUploaded()
    const { id } = versionIn(history, 'gone', { at: START + DAY })

    history.move(id, 'settling', { at: START + 3 * DAY })

    expect(at(START + 4 * DAY).overdue).toBe(false)
  })

  it('is in time again with a file that a person uploaded from elsewhere, until its time has passed again', () => {
    const { at, history } = acmeUploaded()

    versionIn(history, 'uploaded', { at: START + DAY, path: '/root/corrected.xml' })

    expect(at(START + 2 * DAY).overdue).toBe(false)
    expect(at(START + 3 * DAY).overdue).toBe(true)
  })
})

describe('a version dated by a clock that was 400 days ahead', () => {
  it('does not count as an arrival when there is an earlier one', () => {
    const { at, history, version } = acmeUploaded()

    history.seen(version.id, because('the same bytes'), START + 400 * DAY)

    expect(at(START + 25 * HOUR).overdue).toBe(false)
    expect(at(START + 27 * HOUR).overdue).toBe(true)
  })

  it('does not prevent its feed from being overdue as soon as the clock is right', () => {
    const { at } = acmeUploaded()

    expect(at(START - 400 * DAY)).toEqual({
      expectedBy: '2027-01-05T08:00:00.000Z',
      overdue: true,
    })
  })
})

describe('no version is expected', () => {
  it('without a rule', () => {
    expect(acmeUploaded(null).at(START + 9 * DAY)).toEqual({ expectedBy: null, overdue: false })
  })

  it('after a version that is not the newest', () => {
    const { history, version } = acmeUploaded()
    versionIn(history, 'uploaded', { at: START + DAY })

    const expectation = expectations(
      history,
      () => ({ feed: 'acme', expectEveryMs: HOUR }),
      START + 9 * DAY,
    )

    expect(expectation(version)).toEqual({ expectedBy: null, overdue: false })
  })

  it('of a feed that a person named and no rule names', () => {
    const { history, version } = acmeUploaded()

    const expectation = expectations(
      history,
      () => ({ feed: 'other', expectEveryMs: HOUR }),
      START + 9 * DAY,
    )

    expect(expectation(version)).toEqual({ expectedBy: null, overdue: false })
  })
})
