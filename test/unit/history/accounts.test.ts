// What the history knows of an account: versions of other feeds that the service has or gets, and what a person said.

import { describe, expect, it } from 'vitest'
import type { State } from '../../../src/history/port.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

const BESIDE = { account: null, feed: 'mine', likeness: null }

describe('the rivals of a feed', () => {
  it('go first although they wait, if storage might have them', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'uploading', { feed: 'maybe' })
    history.startAttempt(id, 5, 'key')
    const end = { outcome: 'unknown', status: null, code: null, bytesSent: 1, key: 'key' } as const
    history.endAttempt(id, { endedAt: 6, ...end })
    history.move(id, 'queued', { at: 7 })

    expect(history.rivals(BESIDE)).toContainEqual(
      expect.objectContaining({ id, state: 'queued', goesFirst: true }),
    )
  })

  it.each<[State, boolean]>([
    ['queued', true],
    ['uploading', true],
    ['uploaded', true],
    ['held', false],
    ['rejected', false],
    ['discarded', false],
    ['superseded', false],
    ['failed', false],
    ['settling', false],
  ])('include a version of another feed that is %s: %s', (state, is) => {
    const { history } = temporaryHistory()
    versionIn(history, state, { feed: 'other' })

    expect(history.rivals(BESIDE).map(({ feed }) => feed)).toEqual(is ? ['other'] : [])
  })

  it.each([
    ['before', 'a'],
    ['after', 'z'],
  ])('are found if their name sorts %s the name of the feed', (_, feed) => {
    const { history } = temporaryHistory()
    versionIn(history, 'uploaded', { feed })
    for (let n = 0; n < 3; n++) versionIn(history, 'uploaded', { feed: 'mine' })

    expect(history.rivals(BESIDE).map((version) => version.feed)).toEqual([feed])
  })

  it('are the queued version with the lowest id, or the stored version once there is one', () => {
    const { history } = temporaryHistory()
    for (const feed of ['z', 'a', 'm']) versionIn(history, 'queued', { feed })
    const waiting = history.rivals(BESIDE).map(({ feed }) => feed)
    versionIn(history, 'uploaded', { feed: 'b' })

    expect(waiting).toEqual(['z'])
    expect(history.rivals(BESIDE).map(({ feed }) => feed)).toEqual(['b'])
  })

  it('include a failed version that storage might have, and a superseded version that a person approved', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'uploading', { feed: 'maybe' })
    history.startAttempt(id, 5, 'key')
    const end = { outcome: 'unknown', status: null, code: null, bytesSent: 1, key: 'key' } as const
    history.endAttempt(id, { endedAt: 6, ...end })
    history.move(id, 'failed', { at: 7 })
    const maybe = history.rivals(BESIDE).map(({ feed }) => feed)
    versionIn(history, 'superseded', { feed: 'approved', patch: { approved: true } })

    expect(maybe).toEqual(['maybe'])
    expect(history.rivals(BESIDE).map(({ feed }) => feed)).toEqual(['approved', 'maybe'])
  })

  it('are of the same account', () => {
    const { history } = temporaryHistory()
    versionIn(history, 'uploaded', { feed: 'another', patch: { account: '43' } })
    const ofAnother = history.rivals(BESIDE)
    versionIn(history, 'uploaded', { feed: 'same' })

    expect(ofAnother).toEqual([])
    expect(history.rivals(BESIDE).map(({ feed }) => feed)).toEqual(['same'])
  })

  it('are stored on the current service, or wait, even if they came for another service', () => {
    const { history } = temporaryHistory()
    const who = { account: '42', partner: null, partnerAccount: null }
    history.recordService({ ...who, baseUrl: 'https://a.example.com' })
    versionIn(history, 'uploaded', { feed: 'stored' })
    const here = history.rivals(BESIDE).map(({ feed }) => feed)
    history.recordService({ ...who, baseUrl: 'https://b.example.com' })
    const elsewhere = history.rivals(BESIDE)
    versionIn(history, 'queued', { feed: 'waits' })
    history.recordService({ ...who, baseUrl: 'https://c.example.com' })

    expect(here).toEqual(['stored'])
    expect(elsewhere).toEqual([])
    expect(history.rivals(BESIDE).map(({ feed }) => feed)).toEqual(['waits'])
  })

  it('are only feeds whose names look alike, if that is asked', () => {
    const { history } = temporaryHistory()
    for (const feed of ['nurses.xml', 'jobs (1).xml', 'cooks.xml'])
      versionIn(history, 'uploaded', { feed, path: feed })

    const alike = history.rivals({ ...BESIDE, feed: 'jobs.xml', likeness: 'jobs' })
    expect(alike.map(({ feed }) => feed)).toEqual(['jobs (1).xml'])
  })
})

it('who said that an account keeps all feeds is known for each account, until all accounts are forgotten', () => {
  const { history } = temporaryHistory()
  const word = { by: 'maria', since: 5 }
  history.setKeepsAll(null, word)
  history.setKeepsAll('42', word)
  const known = () => [null, '42', '43'].map((account) => history.whoSaidKeepsAll(account))
  const before = known()
  history.forgetAccounts()

  expect(before).toEqual([word, word, null])
  expect(known()).toEqual([null, null, null])
})
