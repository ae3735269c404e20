import { describe, expect, it } from 'vitest'
import { statusCheck } from '../../../src/cli/status-check.ts'
import { statusText, type View } from '../../../src/cli/status-view.ts'
import { commandFor } from '../../../src/domain/command.ts'
import type { StatusReport } from '../../../src/ops/report.ts'
import type { UploadReport } from '../../../src/ops/upload-report.ts'
import { commandLineAnywhere, commandLineHere } from '../../../src/terminal/command-line.ts'
import { reportOf } from '../../helpers/ops/samples.ts'
import { at, NOW, statusWith } from '../../helpers/ops/status-report.ts'

const commandLine = commandLineHere({}, 'my.yaml')

const report = (over: Parameters<typeof statusWith>[0] = {}) => statusWith(over, commandLine)

function text(model: StatusReport, over: Partial<View> = {}): string {
  const view = { commandLine, now: NOW, terminal: false, limit: 50, width: null }
  return statusText(model, { ...view, ...over })
}

const check = (model: StatusReport) => statusCheck(model, NOW)

const held = (over: Partial<UploadReport> = {}) =>
  reportOf({ id: 9, feed: 'globex', state: 'held', reason: '40 -> 2 postings', ...over })

const HELD_BLOCK = `warning: globex held: 40 -> 2 postings (1m ago)
    feedsyncd show 9 --config my.yaml
    feedsyncd release 9 --config my.yaml
    feedsyncd discard 9 --config my.yaml
`

describe('status', () => {
  it('before the first feed shows only the daemon and says that no feed was seen', () => {
    expect(text(report())).toBe(
      'daemon running (pid 7); folder listed just now (events); service ok\n\nno feed has been seen yet',
    )
  })

  it('with a filter that matches nothing says so, and not that no feed was seen', () => {
    const shown = text(report(), { filtered: true })

    expect(shown).toContain('nothing matches')
    expect(shown).not.toContain('no feed has been seen')
  })

  it('without problems has six lines for two feeds, of which the second counts the feeds', () => {
    const lines = text(report({ uploads: [reportOf(), reportOf({ feed: 'b' })] })).split('\n')

    expect(lines).toHaveLength(6)
    expect(lines[1]).toBe('2 uploaded')
  })

  it('begins with what is wrong, and shows each command on its own line, ready to be copied', () => {
    expect(text(report({ uploads: [held()] })).startsWith(HELD_BLOCK)).toBe(true)
  })

  it('says below a held feed what the service has of it, with the date if it is from another day', () => {
    const today = { id: 15, postings: 1000, uploadedAt: '2026-11-20T10:57:00.000Z' }
    const before = { ...today, uploadedAt: '2026-11-19T20:57:00.000Z', postings: 1 }

    const shown = text(report({ uploads: [held({ onService: today })] })).split('\n')
    const earlier = text(report({ uploads: [held({ onService: before })] }))

    expect(shown).toContain('    on the service: version 15, 1,000 postings, since 10:57 UTC')
    expect(earlier).toMatch(/on the service: version 15, 1 posting, since 2026-11-19 20:57 UTC$/)
  })

  it('says below a feed that its file has left the folder', () => {
    const left = reportOf({ id: 3, feed: 'left.xml', leftAt: '2026-11-20T10:57:00.000Z' })

    const shown = text(report({ uploads: [left] })).split('\n')

    expect(shown.at(-1)).toBe('    its file has left the folder')
  })

  it('names the first files of a feed whose names differ in a date, and counts the others', () => {
    const dated = { count: 12, paths: ['jobs-20261122.xml', 'jobs-20261121.xml'] }
    const joined = reportOf({ id: 4, feed: 'jobs-{date}.xml', files: dated })

    const shown = text(report({ uploads: [joined] })).split('\n')

    expect(shown).toContain(
      '12 files are one feed, jobs-{date}.xml: jobs-20261122.xml, jobs-20261121.xml, and 10 more',
    )
  })

  it('says what the service has of a feed whose newest version was discarded', () => {
    const onService = { id: 15, postings: 1000, uploadedAt: '2026-11-20T10:57:00.000Z' }
    const discarded = reportOf({ id: 16, state: 'discarded', onService })

    expect(text(report({ uploads: [discarded] }))).toMatch(
      / discarded .*\n {4}on the service: version 15, 1,000 postings, since 10:57 UTC$/,
    )
  })

  it('says when a file that still changes is read', () => {
    const settling = reportOf({ id: 16, feed: 'a.xml', state: 'settling' })

    expect(text(report({ uploads: [settling] }))).toMatch(
      /^info: a.xml settling\n {2}it is read as soon as it has not changed for the quiet period\n/,
    )
  })

  it('tells equal problems once, with all ids in one command, and feeds with problems first', () => {
    const reason = `line 5, column 19: ${'a very long reason '.repeat(10)}`.trim()
    const broken = (feed: string, over: Partial<UploadReport> = {}) =>
      reportOf({ feed, state: 'rejected', reason, hint: 'correct it', uploadedAt: null, ...over })
    const uploads = [
      ...Array.from({ length: 253 }, (_, n) => reportOf({ id: 300 - n, feed: `f${n}.xml` })),
      broken('a.xml', { id: 4 }),
      held({ id: 7, feed: 'initech' }),
      broken('other.xml', { id: 3, reason: 'another reason' }),
      broken('b.xml', { id: 2 }),
      held(),
    ]

    const shown = text(report({ uploads }), { width: 80, terminal: true })

    expect(shown.split('\n').map((line) => line.replace(/ (rejected|held) .*/, ' $1'))).toEqual([
      `warning: 2 feeds rejected: ${reason}`.replace(/ (rejected) .*/, ' $1'),
      '  a.xml, b.xml',
      '  correct it',
      'warning: 2 feeds held: 40 -> 2 postings',
      '  initech, globex',
      '    feedsyncd show 7 --config my.yaml',
      '    feedsyncd release 7 9 --config my.yaml',
      '    feedsyncd discard 7 9 --config my.yaml',
      'warning: other.xml rejected: another reason (1m ago)',
      '  correct it',
      '',
      'daemon running (pid 7); folder listed just now (events); service ok',
      '253 uploaded, 3 rejected, 2 held',
      '',
      expect.stringMatching(/^id {2}feed +state +postings +size +attempts +when$/),
      ' 4  a.xml      rejected',
      ' 3  other.xml  rejected',
      ' 2  b.xml      rejected',
      ' 7  initech    held',
      ' 9  globex     held',
      '253 uploaded (--all lists them)',
    ])
  })

  it('names three of many feeds with the same problem, all their ids in one command, and counts the rows left out', () => {
    const uploads = Array.from({ length: 23 }, (_, n) =>
      reportOf({ id: n + 1, feed: `f${n}`, state: 'failed', reason: 'no form', hint: 'ask' }),
    )

    const lines = text(report({ uploads }), { terminal: true }).split('\n')

    const ids = uploads.map(({ id }) => id).join(' ')
    expect(lines.slice(0, 4)).toEqual([
      'warning: 23 feeds failed: no form',
      '  f0, f1, f2, and 20 more',
      '  ask',
      `    feedsyncd retry ${ids} --config my.yaml`,
    ])
    expect(lines.at(-1)).toBe('3 more failed (--all lists them)')
  })

  const namesIn = (shown: string) => shown.match(/(?<=^ *\d+ +)(acme|globex)\b/gm)

  it('on a terminal lists up to 20 feeds that need nothing, and only counts more of them', () => {
    const uploads = Array.from({ length: 20 }, () => reportOf())

    const twenty = text(report({ uploads }), { terminal: true })
    const more = text(report({ uploads: [...uploads, reportOf()] }), { terminal: true })

    expect(namesIn(twenty)).toHaveLength(20)
    expect([namesIn(more), more.split('\n').at(-1)]).toEqual([
      null,
      '21 uploaded (--all lists them)',
    ])
  })

  it('puts feeds with problems first, except in a list that was asked for', () => {
    const model = report({ uploads: [reportOf(), reportOf(), held()] })

    expect(namesIn(text(model))).toEqual(['globex', 'acme', 'acme'])
    expect(namesIn(text(model, { listed: true }))).toEqual(['acme', 'acme', 'globex'])
  })

  it('shows the progress, the speed and the remaining time of an upload', () => {
    const progress = { bytesSent: 512 * 1024, bytesPerSecond: 256 * 1024, msLeft: 2000 }
    const upload = reportOf({ state: 'uploading', bytes: 1024 * 1024, progress })

    expect(text(report({ uploads: [upload] }))).toContain(
      '\n    50 %: 512 KiB of 1 MiB, 256 KiB/s, 2s left',
    )
  })

  it('shows the reason of a version without a problem under its own row', () => {
    const uploads = ['a', 'b'].map((feed) =>
      reportOf({ feed, state: 'discarded', reason: `discarded by ${feed}` }),
    )

    const lines = text(report({ uploads }), { listed: true }).split('\n').slice(-4)

    expect(lines.map((line) => line.trim().split(/ {2,}/)[1] ?? line)).toEqual([
      ...['a', '    discarded by a', 'b', '    discarded by b'],
    ])
  })

  it('names unfinished work even if the table is cut before its row, and counts the rows that are cut', () => {
    const uploads = [...Array.from({ length: 60 }, () => reportOf()), held()]

    const shown = text(report({ uploads }), { limit: 2, listed: true })

    expect(shown).toContain('59 more: --limit N shows them')
    expect(shown).toContain('warning: globex held')
  })

  it('puts problems that end by themselves last', () => {
    const uploads = [
      reportOf({ feed: 'a', state: 'uploading' }),
      reportOf({ feed: 'b', state: 'queued', nextAttemptAt: at(-3) }),
      reportOf({ feed: 'c', state: 'rejected', hint: 'correct it' }),
    ]

    expect(text(report({ uploads })).split('\n').slice(0, 5)).toEqual([
      'warning: c rejected (1m ago)',
      '  correct it',
      'info: a uploading',
      'info: b queued',
      '  next automatic attempt in 3m',
    ])
  })

  it('counts the files that are ignored by name, names some, and gives the command that says why for the first one', () => {
    const daemon = { ignored: { count: 12, paths: ['a.csv', 'b.csv'] } }

    expect(text(report({ daemon }))).toMatch(
      /\n12 files are ignored by name: a\.csv, b\.csv, and 10 more\n {4}feedsyncd show path:a\.csv --config my\.yaml$/,
    )
  })
})

describe('a daemon that does not run', () => {
  const down = (over: object, line = commandLineHere({}, undefined)) =>
    statusWith({ daemon: { running: false, ...over } }, line).problems.find(
      ({ code }) => code === 'daemon-down',
    )
  const unit = (result: string | null, exitStatus: number | null) => ({
    unit: { name: 'feedsyncd@a', result, exitStatus },
  })

  it('is started by its unit, by the command of the trial, or by the command that runs it', () => {
    expect(down(unit(null, null))?.next).toEqual([{ command: 'systemctl start feedsyncd@a' }])
    expect(down(unit('success', 0))?.next).toEqual([{ command: 'systemctl start feedsyncd@a' }])
    expect(down({ startWith: 'npm start' })?.next).toEqual([{ command: 'npm start' }])
    expect(down({}, commandLine)?.next).toEqual([{ command: 'feedsyncd run --config my.yaml' }])
  })

  it.each([
    [243, /systemd could not read the key file/],
    [78, /configuration or its history cannot be used/],
    [1, /its unit ended with exit-code \(exit 1\)/],
  ])(
    'and whose unit failed with %i says why, and is looked at instead of started in the same way again',
    (exitStatus, says) => {
      const found = down(unit('exit-code', exitStatus))

      expect(found?.says).toMatch(says)
      expect(JSON.stringify(found?.next)).not.toMatch(/systemctl start|feedsyncd run/)
      expect(found?.next).toContainEqual({ command: 'systemctl status feedsyncd@a --no-pager' })
    },
  )

  it.each(['config-broken', 'database-damaged', 'state-full', 'state-read-only'] as const)(
    'is not started while %s prevents it',
    (code) => {
      const words = { message: 'it is so', hint: null, since: at(1), mark: null }
      const found = down({ conditions: [{ code, ...words }] })

      expect(found?.next).toEqual([
        { says: 'correct the other critical problems, then start the daemon' },
      ])
    },
  )

  it('is not started without its database: the only next step is a sentence that says to put it back first', () => {
    const found = down({ historyIsMissing: true })

    expect(JSON.stringify(found?.next)).toMatch(/put the database back first/)
    expect(found?.next.every((step) => 'says' in step)).toBe(true)
  })
})

describe('status --check', () => {
  it('exits 0 with one line of facts if there is no problem', () => {
    const { code, line } = check(report({ uploads: [reportOf()] }))

    expect([code, line]).toEqual([0, 'OK - 1 feed, folder listed just now'])
  })

  it('exits 2 for a critical problem, puts it first, fits into 200 characters, and counts what does not fit', () => {
    const uploads = [
      held(),
      ...Array.from({ length: 1000 }, (_, n) =>
        reportOf({ feed: `f${n}`, state: 'failed', reason: 'no such account' }),
      ),
    ]
    const condition = { code: 'state-full', message: 'the disk is full', hint: null } as const
    const conditions = [{ ...condition, since: at(1), mark: null }]

    const { code, line } = check(report({ uploads, daemon: { conditions } }))

    expect(code).toBe(2)
    expect(line).toMatch(
      /^CRITICAL - the disk is full; globex held: .*; f0 failed: .*; and 99\d more$/,
    )
    expect(line.length).toBeLessThanOrEqual(200)
  })

  it('keeps both ends of a long reason within 200 characters, and counts the other problems', () => {
    const reason = `${'very '.repeat(100)}long`
    const uploads = ['a', 'b'].map((feed) => reportOf({ feed, state: 'failed', reason }))

    const { line } = check(report({ uploads }))

    expect(line).toMatch(/^WARNING - a failed: very .+\.\.\..+ long; and 1 more$/)
    expect(line).toHaveLength(200)
  })
})

describe('a command that is shown', () => {
  it('names the configuration file if the shell would find another one, and npm if npm runs the program', () => {
    expect([
      commandLineHere({}, undefined)(commandFor('retry <id...>', [1])),
      commandLineHere({}, "it's here.yaml")(commandFor('status')),
      commandLineAnywhere({}, '/etc/feedsyncd/feedsyncd.yaml')(commandFor('status')),
      commandLineAnywhere({}, '/srv/f.yaml')(commandFor('status')),
      commandLineHere({ npm_lifecycle_event: 'feedsyncd' }, 'var/f.yaml')(commandFor('status')),
    ]).toEqual([
      'feedsyncd retry 1',
      "feedsyncd status --config 'it'\\''s here.yaml'",
      'feedsyncd status',
      'feedsyncd status --config /srv/f.yaml',
      'npm run -s feedsyncd -- status --config var/f.yaml',
    ])
  })
})
