import { expect, it } from 'vitest'
import { expectations, expectFeeds } from '../../../src/history/expected-feeds.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

const HOUR = 3_600_000
const START = Date.UTC(2027, 0, 4, 6)
const acme = { match: 'acme/*.xml', name: 'acme', expectEveryMs: 26 * HOUR }
const nightly = { match: 'nightly.xml', name: null, expectEveryMs: 26 * HOUR }
const each = { match: '{1}/*.xml', name: '{1}', expectEveryMs: 26 * HOUR }
const any = { match: '**/*.xml', name: null, expectEveryMs: 26 * HOUR }

const ruleFor = (path: string) => {
  const feed = path.startsWith('acme/') ? 'acme' : path
  return { feed, expectEveryMs: 26 * HOUR }
}

it('are known from the first start, and overdue when nothing came in time', () => {
  const { history } = temporaryHistory()

  expectFeeds(history, [acme, nightly], ruleFor, START)
  const late = (now: number) =>
    history
      .list({})
      .filter((version) => expectations(history, ruleFor, now)(version).overdue)
      .map(({ feed }) => feed)

  expect(history.newest('acme')?.state).toBe('gone')
  expect(history.newest('acme')?.reason).toMatch(
    /^no file of it has been seen yet; one is expected/,
  )
  expect(late(START + 26 * HOUR)).toEqual([])
  expect(late(START + 27 * HOUR).sort()).toEqual(['acme', 'nightly.xml'])
})

it('stay as they are at the next start, so that a restart makes nothing less late', () => {
  const { history } = temporaryHistory()

  expectFeeds(history, [acme], ruleFor, START)
  expectFeeds(history, [acme], ruleFor, START + 25 * HOUR)

  expect(history.list({ all: true })).toHaveLength(1)
  expect(history.newest('acme')?.detectedAt).toBe(START)
})

it('are not invented where the rule does not name them', () => {
  const { history } = temporaryHistory()

  expectFeeds(history, [each, any], ruleFor, START)

  expect(history.list({ all: true })).toEqual([])
})

it('are left alone where a file was seen already', () => {
  const { history } = temporaryHistory()
  const seen = versionIn(history, 'uploaded', { feed: 'acme', patch: { sha256: 'a' } })

  expectFeeds(history, [acme], ruleFor, START)

  expect(history.list({ all: true })).toEqual([seen])
})

it('are forgotten when no rule expects them any more and nothing ever came', () => {
  const { history } = temporaryHistory()

  expectFeeds(history, [acme, nightly], ruleFor, START)
  expectFeeds(history, [nightly], ruleFor, START + HOUR)

  expect(history.list({}).map(({ feed }) => feed)).toEqual(['nightly.xml'])
})
