import { describe, expect, it } from 'vitest'
import { DAY, MINUTE } from '../../../src/lib/clock.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

const identity = { dev: '1', ino: '2', size: 3, mtimeNs: '1700000000123456789', ctimeNs: '5' }

describe('known files', () => {
  it('keep the last identity of a path, with every nanosecond, and are listed by path', () => {
    const { history } = temporaryHistory()
    const first = versionIn(history, 'uploaded')
    const second = versionIn(history, 'uploaded')

    history.rememberPath({ path: 'b.xml', identity, versionId: first.id })
    history.rememberPath({ path: 'a.xml', identity, versionId: first.id })
    history.rememberPath({
      path: 'b.xml',
      identity: { ...identity, size: 9 },
      versionId: second.id,
    })

    const a = { path: 'a.xml', identity, versionId: first.id, missingSince: null }
    const b = { ...a, path: 'b.xml', identity: { ...identity, size: 9 }, versionId: second.id }
    expect(history.known('b.xml')).toEqual(b)
    expect(history.knownFiles()).toEqual([a, b])
  })

  it('are forgotten by their path, and a path that was never known is ignored', () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'gone')
    history.rememberPath({ path: 'a.xml', identity, versionId: id })

    history.forgetPath('a.xml')
    history.forgetPath('never-known.xml')

    expect(history.known('a.xml')).toBe(null)
  })

  it('cannot point at a version that does not exist', () => {
    const { history } = temporaryHistory()

    expect(() => history.rememberPath({ path: 'a.xml', identity, versionId: 99 })).toThrow(
      'FOREIGN KEY',
    )
  })
})

describe('requests of the upload command', () => {
  it('stay open until a version or a problem answers them, and keep the answer', () => {
    const { history } = temporaryHistory()
    const { id: versionId } = versionIn(history, 'settling')
    const ask = (path: string) =>
      history.addRequest({ path, source: `/in/${path}`, feed: null, at: 1000 })
    const [first, second, third] = [ask('a.xml'), ask('b.xml'), ask('c.xml')]

    history.answerRequest(first.id, { versionId })
    history.answerRequest(second.id, { reason: 'is not a regular file' })

    expect(history.openRequests()).toEqual([third])
    expect(history.request(first.id)).toEqual({ ...first, versionId })
    expect(history.request(second.id)).toEqual({ ...second, reason: 'is not a regular file' })
  })

  it('that do not exist cannot be read or answered', () => {
    const { history } = temporaryHistory()
    const { id: versionId } = versionIn(history, 'settling')

    expect(history.request(99)).toBe(null)
    expect(() => history.answerRequest(99, { versionId })).toThrow('there is no request 99')
  })
})

describe('spool files', () => {
  it('are needed while a version names them', () => {
    const { history } = temporaryHistory()
    const first = versionIn(history, 'uploaded', { patch: { spool: '1.xml' } })
    const restored = versionIn(history, 'queued', { patch: { spool: '1.xml' } })

    history.update(first.id, { spool: null })
    const shared = history.spoolNames()
    history.update(restored.id, { spool: null })

    expect(shared).toEqual(['1.xml'])
    expect(history.spoolNames()).toEqual([])
  })
})

it('the turnover of a feed is remembered for the longer of two days and 50 uploads', () => {
  const { history } = temporaryHistory()
  const quarter = 15 * MINUTE
  const upload = (feed: string, n: number, ms: number) => {
    const at = 1000 + n * ms
    const changes = { added: n === 0 ? 10 : 0, removed: n === 0 ? 10 : 0, changed: 0 }
    versionIn(history, 'uploaded', { feed, at, patch: { postings: 10, changes, uploadedAt: at } })
  }
  const renewed = (feed: string, uploads: number, ms: number) => {
    for (let n = 0; n < uploads; n++) upload(feed, n, ms)
    return history.turnovers(feed).includes(1)
  }

  expect(renewed('each quarter, a day', 97, quarter)).toBe(true)
  expect(renewed('each quarter, three days', 3 * 96, quarter)).toBe(false)
  expect(renewed('each day, 50', 50, DAY)).toBe(true)
  expect(renewed('each day, 51', 51, DAY)).toBe(false)
})
