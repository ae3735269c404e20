import { describe, expect, it } from 'vitest'
import { commandLineAnywhere, commandLineHere } from '../../../src/cli/command-line.ts'
import { statusCheck } from '../../../src/cli/status-check.ts'
import { statusText, type View } from '../../../src/cli/status-view.ts'
import { MINUTE } from '../../../src/lib/clock.ts'
import type { StatusReport, UploadReport } from '../../../src/ops/report.ts'
import { reportOf } from '../../helpers/ops/samples.ts'

const NOW = Date.UTC(2026, 10, 20, 12)
const at = (minutesAgo: number) => new Date(NOW - minutesAgo * MINUTE).toISOString()

function report(over: Partial<StatusReport> = {}, daemon: object = {}): StatusReport {
  return {
    daemon: {
      ...{ running: true, pid: 7, startedAt: at(60), lastScanAt: at(0), mode: 'events' },
      ...{
        modeReason: null,
        conditions: [],
        unfinished: [],
        ignored: { count: 0, paths: [] },
        ...daemon,
      },
    } as StatusReport['daemon'],
    service: { baseUrl: 'https://api.example.com', state: 'ok', reason: null, clockSkewMs: 0 },
    ...{ uploads: [], owed: [], skipped: [], paused: null, pausedFeeds: [], ...over },
  }
}

function text(model: StatusReport, over: Partial<View> = {}): string {
  const commandLine = commandLineHere({}, 'my.yaml')
  const view = { commandLine, now: NOW, terminal: false, staleAfterMs: 5 * MINUTE }
  return statusText(model, { ...view, limit: 50, width: null, ...over })
}

const check = (model: StatusReport) => statusCheck(model, { now: NOW, staleAfterMs: 5 * MINUTE })

const held = (over: Partial<UploadReport> = {}) =>
  reportOf({ id: 9, feed: 'globex', state: 'held', reason: '40 -> 2 postings', ...over })

describe('status', () => {
  it('before the first feed shows only the daemon and says that no feed was seen', () => {
    expect(text(report())).toBe(
      'daemon running (pid 7); folder listed just now (events); service ok\n\nno feed has been seen yet',
    )
  })

  it('of a stopped instance says how to start its unit', () => {
    const commandLine = commandLineHere({}, '/etc/feedsyncd/a/feedsyncd.yaml')

    expect(text(report({}, { running: false }), { commandLine })).toContain(
      '\n  systemctl start feedsyncd@a',
    )
  })

  it('with a filter that matches nothing does not say that there are no feeds', () => {
    expect(text(report(), { filtered: true })).toContain('nothing matches')
  })

  it('without problems ends after the table', () => {
    const lines = text(report({ uploads: [reportOf(), reportOf({ feed: 'b' })] })).split('\n')

    expect(lines).toHaveLength(6)
    expect(lines[1]).toBe('2 uploaded')
  })

  it('shows each command for a decision on its own line, ready to be copied', () => {
    expect(text(report({ uploads: [held()] }))).toContain(
      '\nnext: globex (9): it is held\n' +
        '  feedsyncd release 9 --config my.yaml\n  feedsyncd discard 9 --config my.yaml',
    )
  })

  it('says what the service has of a held feed, that a file has left, and which files are one feed', () => {
    const onService = { id: 15, postings: 100, uploadedAt: '2026-11-20T10:57:00.000Z' }
    const left = reportOf({ id: 3, feed: 'left.xml', leftAt: '2026-11-20T10:57:00.000Z' })
    const dated = { count: 12, paths: ['jobs-20261122.xml', 'jobs-20261121.xml'] }
    const joined = reportOf({ id: 4, feed: 'jobs-{date}.xml', files: dated })

    const shown = text(report({ uploads: [held({ onService }), left, joined] })).split('\n')
    const before = { ...onService, uploadedAt: '2026-11-19T20:57:00.000Z', postings: 1 }
    const earlier = text(report({ uploads: [held({ onService: before })] }))

    expect(shown).toContain('    on the service: version 15, 100 postings, since 10:57 UTC')
    expect(earlier).toContain('on the service: version 15, 1 posting, since 2026-11-19 20:57 UTC\n')
    expect(shown).toContain('    its file has left the folder')
    expect(shown).toContain(
      '12 files are one feed, jobs-{date}.xml: jobs-20261122.xml, jobs-20261121.xml, and 10 more',
    )
  })

  it('puts problems first, and shows each full reason and each next action once', () => {
    const reason = `line 5, column 19: ${'a very long reason '.repeat(10)}`.trim()
    const broken = (feed: string, over: Partial<UploadReport> = {}) =>
      reportOf({ feed, state: 'rejected', reason, hint: 'correct it', uploadedAt: null, ...over })
    const uploads = [
      ...Array.from({ length: 253 }, (_, n) => reportOf({ id: 300 - n, feed: `f${n}.xml` })),
      broken('a.xml', { id: 4 }),
      broken('other.xml', { id: 3, reason: 'another reason' }),
      broken('b.xml', { id: 2 }),
      held(),
    ]

    const shown = text(report({ uploads }), { width: 80, terminal: true })

    expect(shown.slice(shown.indexOf('id  feed')).split('\n')).toEqual([
      expect.stringMatching(/^id {2}feed +state +postings +size +attempts +when$/),
      expect.stringMatching(/^ 4 {2}a\.xml +rejected +40 +2 KiB +1 +1m ago$/),
      expect.stringMatching(/^ 2 {2}b\.xml +rejected/),
      `    ${reason}`,
      expect.stringMatching(/^ 3 {2}other\.xml +rejected/),
      '    another reason',
      expect.stringMatching(/^ 9 {2}globex +held/),
      '    40 -> 2 postings',
      '253 uploaded (--all lists them)',
      '',
      'next: a.xml (4), b.xml (2), other.xml (3): correct it',
      'next: globex (9): it is held',
      '  feedsyncd release 9 --config my.yaml',
      '  feedsyncd discard 9 --config my.yaml',
    ])
  })

  it('names three of many feeds with the same next action, and its command once', () => {
    const uploads = Array.from({ length: 23 }, (_, n) =>
      reportOf({ id: n + 1, feed: `f${n}`, state: 'failed', reason: 'no form', hint: 'ask' }),
    )

    const lines = text(report({ uploads }), { terminal: true }).split('\n')

    expect(lines.slice(-5)).toEqual([
      '3 more failed (--all lists them)',
      '    no form',
      '',
      'next: f0 (1), f1 (2), f2 (3), and 20 more: ask',
      '  feedsyncd retry ID --config my.yaml',
    ])
  })

  it('lists up to 20 feeds that need nothing, and keeps the order of a list that was asked for', () => {
    const uploads = [...Array.from({ length: 20 }, () => reportOf()), held()]

    const names = (shown: string) => shown.match(/\b(acme|globex)\b/g)

    expect(names(text(report({ uploads })))?.slice(0, 2)).toEqual(['globex', 'acme'])
    expect(names(text(report({ uploads })))).toHaveLength(22)
    expect(names(text(report({ uploads }), { listed: true }))?.slice(0, 2)).toEqual([
      'acme',
      'acme',
    ])
  })

  it('shows the progress, the speed and the remaining time of an upload', () => {
    const progress = { bytesSent: 512 * 1024, bytesPerSecond: 256 * 1024, msLeft: 2000 }
    const upload = reportOf({ state: 'uploading', bytes: 1024 * 1024, progress })

    expect(text(report({ uploads: [upload] }))).toContain(
      '\n    50 %: 512 KiB of 1 MiB, 256 KiB/s, 2s left\n',
    )
  })

  it('names pending work even if the table is cut before its row', () => {
    const uploads = [...Array.from({ length: 60 }, () => reportOf()), held()]

    const shown = text(report({ uploads }), { limit: 2, listed: true })

    expect(shown).toContain('59 more: --limit N shows them')
    expect(shown).toContain('next: globex (9)')
  })

  it('puts actions for a person first, and feeds that need no action last', () => {
    const uploads = [
      reportOf({ feed: 'a', state: 'uploading' }),
      reportOf({ feed: 'b', state: 'queued', nextAttemptAt: at(-3) }),
      reportOf({ feed: 'c', state: 'rejected', hint: 'correct it' }),
    ]

    const next = text(report({ uploads }))
      .split('\n')
      .filter((line) => line.startsWith('next'))

    expect(next).toEqual([
      'next: c (1): correct it',
      'next: b (1): next automatic attempt in 3m',
      'next: a (1): nothing to do; it is being worked on',
    ])
  })

  it('with the daemon down says first how to start it', () => {
    const shown = text(report({ uploads: [held()] }, { running: false, pid: null }))

    expect(shown).toMatch(/^daemon not running; /)
    expect(shown.indexOf('  feedsyncd run --config my.yaml')).toBeLessThan(
      shown.indexOf('next: globex'),
    )
  })

  it('reports a folder that was not listed for long, in the text and to monitoring', () => {
    const stale = report({}, { lastScanAt: at(125) })

    expect(text(stale)).toContain('next: the folder was not listed for 2h 5m; its log says why')
    expect(check(stale)).toEqual({
      code: 2,
      line: 'CRITICAL - the folder was not listed for 2h 5m',
    })
  })

  it('suggests doctor if the service refuses the credentials', () => {
    const service = {
      ...report().service,
      state: 'credentials',
      reason: 'refused with 401',
    } as const

    expect(text(report({ service }))).toContain(
      'next: nothing can be sent (service credentials)\n  feedsyncd doctor --config my.yaml',
    )
  })
})

describe('status --check', () => {
  it('prints one line if there is no problem', () => {
    const { code, line } = check(report({ uploads: [reportOf()] }))

    expect([code, line]).toEqual([0, 'OK - 1 feed, folder listed just now'])
  })

  it('puts critical problems first, fits into 200 characters, and counts the problems that do not fit', () => {
    const uploads = [
      held(),
      ...Array.from({ length: 1000 }, (_, n) =>
        reportOf({ feed: `f${n}`, state: 'failed', reason: 'no such account' }),
      ),
    ]

    const { code, line } = check(report({ uploads }))

    expect(code).toBe(2)
    expect(line).toMatch(/^CRITICAL - f0 failed: no such account; f1 failed: .*; and 995 more$/)
    expect(line.length).toBeLessThanOrEqual(200)
  })

  it('keeps both ends of a long reason and counts the other problems', () => {
    const reason = `${'very '.repeat(100)}long`
    const uploads = ['a', 'b'].map((feed) => reportOf({ feed, state: 'failed', reason }))

    const { line } = check(report({ uploads }))

    expect(line).toMatch(/^CRITICAL - a failed: very .+\.\.\..+ long; and 1 more$/)
    expect(line).toHaveLength(200)
  })

  it('is critical for a feed without room in the spool, and ok for a new feed', () => {
    const fresh = reportOf({ state: 'settling', reason: null })
    const reason = 'not enough disk space for the copy: 9 GiB'
    const large = { ...fresh, reason, reasonCode: 'no-room', hint: 'make room' }

    const [well, full] = [fresh, large].map((upload) => check(report({ uploads: [upload] })))

    expect(well).toMatchObject({ code: 0 })
    expect(full).toMatchObject({ code: 2, line: expect.stringContaining('for the copy: 9 GiB') })
    expect(text(report({ uploads: [large] }))).toMatch(/\nnext: .*: make room$/)
  })
})

describe('a command that is shown', () => {
  it('names the configuration file if the shell would find another one', () => {
    expect([
      commandLineHere({}, undefined)('retry 1'),
      commandLineHere({}, "it's here.yaml")('status'),
      commandLineAnywhere({}, '/etc/feedsyncd/feedsyncd.yaml')('status'),
      commandLineAnywhere({}, '/srv/f.yaml')('status'),
      commandLineHere({ npm_lifecycle_event: 'feedsyncd' }, 'var/f.yaml')('status'),
    ]).toEqual([
      'feedsyncd retry 1',
      "feedsyncd status --config 'it'\\''s here.yaml'",
      'feedsyncd status',
      'feedsyncd status --config /srv/f.yaml',
      'npm run -s feedsyncd -- status --config var/f.yaml',
    ])
  })
})
