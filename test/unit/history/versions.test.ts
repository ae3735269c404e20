import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { STATES } from '../../../src/domain/states.ts'
import type { History, Version } from '../../../src/history/port.ts'
import { because, temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

const identity = { dev: '1', ino: '2', size: 3, mtimeNs: '4', ctimeNs: '5' }

const NO_REASON = { reason: null, reasonCode: null, line: null, column: null }
const said = (reason: string) => ({ reason, reasonCode: 'test', line: null, column: null })

describe('a version', () => {
  it('is read as it was written, in every field', () => {
    const { history } = temporaryHistory()
    const fields: Omit<Version, 'id' | 'attempts' | 'retries'> = {
      feed: 'acme',
      path: 'süd/jobs "1"\n.xml',
      account: '42',
      state: 'queued',
      reason: 'restored',
      reasonCode: 'restored',
      hint: 'none',
      line: 3,
      column: 14,
      guard: 'drop',
      approved: true,
      sha256: 'a'.repeat(64),
      md5: 'b'.repeat(32),
      bytes: 5 * 2 ** 30,
      encoding: 'UTF-16LE',
      root: 'source',
      records: '/source/job',
      postings: 0,
      withoutId: 4,
      placeholder: '{{ job.id }}',
      duplicates: 5,
      requisitionIds: 3,
      externalCampaignIds: { 'NUR-Q1': 40, constructor: 1, '': 2 },
      changes: { added: 1, removed: 2, changed: 3 },
      warnings: ['a BOM', 'an odd encoding'],
      modifiedAt: 5,
      date: '20261122000000',
      detectedAt: 1000,
      uploadedAt: 1500,
      nextAttemptAt: 2000,
      incompleteSince: 3000,
      fileUrl: 'https://storage.example.com/a.xml',
      etagVerified: false,
      spool: 'a.xml',
    }
    const { feed, path, account, state, detectedAt: at, ...rest } = fields
    const { reason: sentence, reasonCode, hint, line, column, ...patch } = rest
    const position = { line: line ?? 0, column: column ?? 0 }
    const reason = { code: reasonCode ?? '', reason: sentence ?? '', hint, position }

    const added = history.add({ feed, path, account, state, reason, at, patch })

    expect(added).toEqual({ ...fields, id: added.id, attempts: 0, retries: 0 })
    expect(history.version(added.id)).toEqual(added)
  })

  it('begins with null in every field that is not known yet, without approval, warnings, attempts and retries', () => {
    const { history } = temporaryHistory()

    const version = versionIn(history, 'settling')

    const { id, feed, path, state, approved, warnings, attempts, retries, detectedAt, ...unknown } =
      version
    expect(new Set(Object.values(unknown))).toEqual(new Set([null]))
    expect({ approved, warnings, attempts, retries }).toEqual({
      ...{ approved: false, warnings: [], attempts: 0, retries: 0 },
    })
  })

  it('records every step with its time, both states, the reason and its position, and shows the last reason', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'checking', { at: 10 })

    const ends = { ...because('ends inside <job>'), position: { line: 2, column: 5 } }
    history.move(id, 'incomplete', { reason: ends, at: 20, patch: { incompleteSince: 99 } })
    history.seen(id, because('touched'), 30)

    expect(history.events(id)).toEqual([
      { at: 10, from: null, to: 'settling', ...NO_REASON },
      { at: 11, from: 'settling', to: 'checking', ...NO_REASON },
      { at: 20, from: 'checking', to: 'incomplete', ...said(ends.reason), ...ends.position },
      { at: 30, from: null, to: 'seen', ...said('touched') },
    ])
    expect(history.version(id)).toMatchObject({ ...said(ends.reason), ...ends.position })
  })

  it('counts repeated arrivals of the same bytes in one event, until another event comes, and knows the last arrival', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'held', { at: 10 })

    for (const at of [30, 40, 50]) history.seen(id, because(`seen at ${at}`), at)
    history.move(id, 'queued', { reason: because('released'), at: 60 })
    history.seen(id, because('once more'), 70)

    expect(history.events(id, 3)).toEqual([
      { at: 50, from: null, to: 'seen', ...said('seen at 50'), count: 3, firstAt: 30 },
      { at: 60, from: 'held', to: 'queued', ...said('released') },
      { at: 70, from: null, to: 'seen', ...said('once more') },
    ])
    expect([history.eventCount(id), history.lastArrivalAt(id, 1000)]).toEqual([6, 70])
  })

  it('loses its reason, hint and next attempt when its state changes, unless the step brings others', () => {
    const { history } = temporaryHistory()
    const patch = { nextAttemptAt: 5000 }
    const reason = { ...because('busy', 'wait'), position: { line: 1, column: 1 } }
    const { id } = versionIn(history, 'queued', { patch, reason })

    const uploading = history.move(id, 'uploading', { at: 6000 })
    const queued = history.move(id, 'queued', {
      reason: because('503'),
      at: 7000,
      patch: { nextAttemptAt: 8000 },
    })

    expect(uploading).toMatchObject({ ...NO_REASON, hint: null, nextAttemptAt: null })
    expect(queued.nextAttemptAt).toBe(8000)
  })

  it('keeps the time since which it is incomplete while it is read again, and then loses it', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'incomplete', { patch: { incompleteSince: 5000 } })

    const settling = history.move(id, 'settling', { at: 2000 })
    const checking = history.move(id, 'checking', { at: 2001 })
    const queued = history.move(id, 'queued', { at: 2002 })

    expect([settling, checking, queued].map((v) => v.incompleteSince)).toEqual([5000, 5000, null])
  })

  it('stays unchanged, without an event, after a step that is not allowed', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'uploaded')
    const before = [history.version(id), history.events(id)]

    expect(() => history.move(id, 'queued', { at: 9000, patch: { fileUrl: 'x' } })).toThrow(
      'a version that is uploaded cannot become queued',
    )

    expect([history.version(id), history.events(id)]).toEqual(before)
  })

  it.each<[string, (history: History) => unknown]>([
    ['move', (history) => history.move(99, 'checking', { at: 1 })],
    ['update', (history) => history.update(99, { fileUrl: 'x' })],
    ['seen', (history) => history.seen(99, because('touched'), 1)],
    ['forget', (history) => history.forget(99)],
    ['startAttempt', (history) => history.startAttempt(99, 1, null)],
  ])('that does not exist is named in the error, and is not added (%s)', (_, call) => {
    const { history } = temporaryHistory()

    expect(() => call(history)).toThrow('there is no version 99')
    expect(history.version(99)).toBe(null)
  })
})

describe('a transaction', () => {
  it('that throws undoes all of its changes, also of inner transactions, and the counts', () => {
    const { history } = temporaryHistory()
    const kept = versionIn(history, 'checking')

    const run = () =>
      history.atomically(() => {
        history.move(kept.id, 'queued', { at: 2000 })
        history.atomically(() => versionIn(history, 'settling', { feed: 'other' }))
        throw new Error('on purpose')
      })

    expect(run).toThrow('on purpose')
    expect(history.list({ all: true })).toEqual([kept])
    expect(history.count()).toMatchObject({ checking: 1, settling: 0, queued: 0 })
  })

  it('throws the error of its caller as it is, even an error of the file system', () => {
    const { history } = temporaryHistory()

    const run = () => history.atomically(() => readFileSync('/does/not/exist'))

    expect(run).toThrow(/^ENOENT/)
  })

  it('keeps its changes when an inner transaction throws, which undoes only its own changes', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'checking')
    const inner = () =>
      history.atomically(() => {
        versionIn(history, 'settling', { feed: 'other' })
        throw new Error('on purpose')
      })

    history.atomically(() => {
      history.move(id, 'queued', { at: 2000 })
      expect(inner).toThrow('on purpose')
    })

    expect(history.version(id)?.state).toBe('queued')
    expect(history.newest('other')).toBe(null)
  })
})

describe('a feed', () => {
  it('points at its newest, its newest with known bytes, and its last uploaded version; an unknown feed at none', () => {
    const { history } = temporaryHistory()
    const uploaded = versionIn(history, 'uploaded', { patch: { sha256: 'a' } })
    const held = versionIn(history, 'held', { patch: { sha256: 'b' } })
    const settling = versionIn(history, 'settling')
    versionIn(history, 'uploaded', { feed: 'other' })

    expect(history.newest('acme')).toEqual(settling)
    expect(history.newestRead('acme')).toEqual(held)
    expect(history.lastUploaded('acme')).toEqual(uploaded)
    expect(history.newest('nobody')).toBe(null)
  })

  it('has the version with the newest date in its name as newest, unless that version is superseded or discarded', () => {
    const { history } = temporaryHistory()
    const feed = 'jobs-{date}.xml'
    const dated = (day: number, state: Parameters<typeof versionIn>[1]) =>
      versionIn(history, state, { feed, patch: { date: `202611${day}000000` } }).id
    const newest = () => history.newest(feed)?.id

    dated(22, 'uploaded')
    const broken = dated(24, 'rejected')
    dated(23, 'uploaded')
    expect(newest()).toBe(broken)
    const failed = dated(26, 'failed')
    const older = dated(25, 'queued')
    expect(newest()).toBe(failed)
    history.move(failed, 'superseded', { reason: because('it was overtaken'), at: 9 })
    expect(newest()).toBe(older)
    dated(28, 'discarded')
    expect(dated(27, 'queued')).toBe(newest())
  })

  it('has its newest uploaded version as last uploaded, even if an older one finished later', () => {
    const { history } = temporaryHistory()
    const older = versionIn(history, 'uploading')
    const newer = versionIn(history, 'uploading')

    history.move(newer.id, 'uploaded', { at: 5000 })
    history.move(older.id, 'uploaded', { at: 6000 })

    expect(history.lastUploaded('acme')).toMatchObject({ id: newer.id, uploadedAt: 5000 })
  })

  it('gives the files and requests of its newest version to the earlier one when the newest is removed with its events', () => {
    const { history } = temporaryHistory()
    const uploaded = versionIn(history, 'uploaded', { patch: { sha256: 'a' } })
    const same = versionIn(history, 'checking')
    history.rememberPath({ path: 'acme.xml', identity, versionId: same.id })
    const asked = history.addRequest({ path: 'a', source: '/a', feed: 'acme', at: 1 })
    history.answerRequest(asked.id, { versionId: same.id })

    history.forget(same.id)

    expect(history.newest('acme')).toEqual(uploaded)
    expect(history.known('acme.xml')?.versionId).toBe(uploaded.id)
    expect(history.request(asked.id)?.versionId).toBe(uploaded.id)
    expect([history.version(same.id), history.events(same.id)]).toEqual([null, []])
    expect(history.count().checking).toBe(0)
  })

  it('is forgotten, with its file, when its only version is removed', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'checking')
    history.rememberPath({ path: 'acme.xml', identity, versionId: id })

    history.forget(id)

    expect([history.list({}), history.knownFiles()]).toEqual([[], []])
  })

  it('gives the file and the request of a removed version to its heir in another feed, and each feed has its newest', () => {
    const { history } = temporaryHistory()
    const uploaded = versionIn(history, 'uploaded', { patch: { sha256: 'a' } })
    const { id } = versionIn(history, 'checking')
    history.rememberPath({ path: 'acme.xml', identity, versionId: id })
    const asked = history.addRequest({ path: 'acme.xml', source: '/acme.xml', feed: null, at: 1 })
    history.answerRequest(asked.id, { versionId: id })
    const heir = versionIn(history, 'settling', { feed: 'other' })

    history.forget(id, heir.id)

    expect(history.known('acme.xml')?.versionId).toBe(heir.id)
    expect(history.request(asked.id)?.versionId).toBe(heir.id)
    expect([history.newest('acme')?.id, history.newest('other')?.id]).toEqual([
      ...[uploaded.id, heir.id],
    ])
  })

  it('never removes a version whose bytes are known', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'checking', { patch: { sha256: 'a' } })

    expect(() => history.forget(id)).toThrow(`version ${id} has a known content`)
    expect(history.version(id)).not.toBe(null)
  })

  it('never uses an id twice, so that the notes of a person stay true', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'checking')
    history.forget(id)

    expect(versionIn(history, 'checking').id).toBeGreaterThan(id)
  })
})

describe('the list', () => {
  it('shows the newest version of each feed, newest first, by feed, states and number', () => {
    const { history } = temporaryHistory()
    versionIn(history, 'uploaded', { feed: 'a' })
    const b = versionIn(history, 'uploaded', { feed: 'b' })
    const a = versionIn(history, 'settling', { feed: 'a' })

    expect(history.list({})).toEqual([a, b])
    expect(history.list({ limit: 1 })).toEqual([a])
    expect(history.list({ feed: 'b' })).toEqual([b])
    expect(history.list({ states: ['uploaded', 'held'] })).toEqual([b])
    expect(history.list({ states: [] })).toEqual([])
  })

  it('shows the whole history on request, by feed, states, date and number', () => {
    const { history } = temporaryHistory()
    const first = versionIn(history, 'uploaded', { feed: 'a', at: 1000 })
    const second = versionIn(history, 'rejected', { feed: 'a', at: 3000 })
    const third = versionIn(history, 'held', { feed: 'b', at: 2000 })

    const ids = (filter: Parameters<typeof history.list>[0]) =>
      history.list({ all: true, ...filter }).map(({ id }) => id)

    expect(ids({})).toEqual([third.id, second.id, first.id])
    expect(ids({ limit: 2 })).toEqual([third.id, second.id])
    expect(ids({ feed: 'a' })).toEqual([second.id, first.id])
    expect(ids({ since: 2000 })).toEqual([third.id, second.id])
    expect(ids({ since: 2001, feed: 'a' })).toEqual([second.id])
    expect(ids({ states: ['held', 'uploaded'] })).toEqual([third.id, first.id])
    expect(ids({ states: ['uploaded'], since: 1001 })).toEqual([])
    expect(ids({ states: ['held'], since: 2000 })).toEqual([third.id])
    expect(ids({ feed: 'a', states: ['held', 'uploaded'] })).toEqual([first.id])
    expect(ids({ feed: 'a', states: [] })).toEqual([])
  })

  it('counts every state, even one without a version', () => {
    const { history } = temporaryHistory()
    const empty = history.count()

    for (const state of STATES) versionIn(history, state, { feed: state })
    versionIn(history, 'held', { feed: 'held' })

    expect(empty).toEqual(Object.fromEntries(STATES.map((state) => [state, 0])))
    expect(history.count()).toEqual({
      ...Object.fromEntries(STATES.map((state) => [state, 1])),
      held: 2,
    })
  })
})
