// Searches all stories of one feed and finds none in which a promise is broken. Then rules are switched off one after
// the other, and the search finds each fault, with the shortest story that breaks a promise.

import { expect, it } from 'vitest'
import { DECISIONS, type Decisions, searchStories } from '../../../helpers/pipeline/stories.ts'

const MOST = { versions: 3 }
/** Two days of one feed, and its file without a date. */
const DATED = { versions: 2, paths: ['f.xml', 'f-20261122.xml', 'f-20261123.xml'] }

it('no story of three versions breaks a promise', () => {
  const began = performance.now()
  const { broken, situations } = searchStories(MOST)
  console.info(`${situations} situations in ${Math.round(performance.now() - began)} ms`)

  expect(broken).toBeNull()
  expect(situations).toBeGreaterThan(400)
})

it('no story of two versions with dates in their names breaks a promise', () => {
  const { broken, situations } = searchStories(DATED)

  expect(broken).toBeNull()
  expect(situations).toBeGreaterThan(1000)
})

/** Two feeds of one account. */
const TWO = { versions: 2, paths: ['f.xml', 'g.xml'] }

it('no story of two feeds of one account breaks a promise', () => {
  const { broken, situations } = searchStories(TWO)

  expect(broken).toBeNull()
  expect(situations).toBeGreaterThan(1000)
})

it.each<[string, Partial<Decisions>]>([
  ['nothing is held beside another feed', { secondFeed: () => null }],
  [
    'two feeds that wait are not judged again before they are sent',
    {
      decideSending: (facts, event) =>
        DECISIONS.decideSending(
          facts.held?.guard === 'second-feed' ? { ...facts, held: null } : facts,
          event,
        ),
      secondFeed: (own, facts) =>
        DECISIONS.secondFeed(own, {
          ...facts,
          rivals: () => facts.rivals().filter(({ state }) => state !== 'queued'),
        }),
    },
  ],
  [
    'what storage might have does not count',
    {
      secondFeed: (own, facts) =>
        DECISIONS.secondFeed(own, {
          ...facts,
          rivals: () =>
            facts
              .rivals()
              .filter(({ state }) => ['queued', 'uploading', 'uploaded'].includes(state)),
        }),
    },
  ],
])('the search finds the fault when %s', (_, without) => {
  const { broken } = searchStories(TWO, { ...DECISIONS, ...without })

  expect(broken?.promise).toBe('no second feed of an account is sent without a word')
})

it('the search finds the fault when a date counts for nothing', () => {
  const { broken } = searchStories(DATED, {
    ...DECISIONS,
    decideFile: (facts, origin, event) =>
      DECISIONS.decideFile({ ...facts, newestDated: () => null }, origin, event),
  })

  expect(broken?.promise).toBe('no older day is sent after a later one')
})

/** The rules, each with the decisions in which it is switched off, and the promise that breaks. */
const OFF: [rule: string, without: Partial<Decisions>, promise: RegExp][] = [
  [
    'when the form has come, a newer version that waits is sent in place of this version',
    {
      decideSending: (facts, event) =>
        DECISIONS.decideSending({ ...facts, newer: { ...facts.newer, queued: null } }, event),
    },
    /after or beside a newer one/,
  ],
  [
    'a version that was not stored gives its place to a newer version that waits',
    {
      decideSending: (facts, event) =>
        DECISIONS.decideSending(
          event.kind === 'prepared' ? facts : { ...facts, newer: { queued: null, held: null } },
          event,
        ),
    },
    /after or beside a newer one/,
  ],
  [
    'the guards judge once more, when the form has come',
    {
      decideSending: (facts, event) => DECISIONS.decideSending({ ...facts, held: null }, event),
    },
    /that a guard holds is not sent/,
  ],
  [
    'a version that was discarded while its form was asked for stays discarded',
    {
      decideSending: (facts, event) =>
        DECISIONS.decideSending(
          facts.version.state === 'discarded'
            ? { ...facts, version: { ...facts.version, state: 'queued' } }
            : facts,
          event,
        ),
    },
    /out of discarded/,
  ],
  [
    'a release without a copy is refused',
    {
      decideDeed: (facts, deed, by) =>
        DECISIONS.decideDeed(
          { ...facts, version: { ...facts.version, spool: 'lost.xml' } },
          deed,
          by,
        ),
    },
    /only with its copy/,
  ],
  [
    'a start queues what a kill left uploading',
    {
      decideStart: (version, event) =>
        event.kind === 'crashed' ? [] : DECISIONS.decideStart(version, event),
    },
    /nothing can happen to it/,
  ],
  [
    'a new version takes the place of the older ones that wait',
    {
      decideFile: (facts, origin, event) =>
        DECISIONS.decideFile({ ...facts, waiting: () => [] }, origin, event),
    },
    /after or beside a newer one|nothing can happen/,
  ],
]

it.each(OFF)('the search finds the fault when this rule is off: %s', (_, without, promise) => {
  const { broken } = searchStories(MOST, { ...DECISIONS, ...without })

  expect(broken?.promise).toMatch(promise)
  expect(broken?.steps.length).toBeGreaterThan(0)
})
