import { execFileSync } from 'node:child_process'
import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { planText } from '../../../src/campaigns/commands/plan-view.ts'
import type { Plan } from '../../../src/campaigns/plan.ts'
import { statusCheck } from '../../../src/cli/status-check.ts'
import { statusText } from '../../../src/cli/status-view.ts'
import { createLog } from '../../../src/lib/log.ts'
import { type AlertMessage, alertMessage, alertVariables } from '../../../src/ops/alerts/message.ts'
import { conditionReport } from '../../../src/ops/report.ts'
import { outJson } from '../../../src/terminal/context.ts'
import { conditionOf } from '../../helpers/condition.ts'
import { hostileNames } from '../../helpers/hostile-names.ts'
import { reportOf } from '../../helpers/ops/samples.ts'
import { statusWith } from '../../helpers/ops/status-report.ts'

/** Every hostile name alone, and every pair of them. */
const NAMES = hostileNames(2_000)
/** Characters that a terminal, a pager or a shell script obeys, or that people cannot see. */
const OBEYED = /(?!\n)[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\ufeff]/u

const uploads = NAMES.map((name, n) =>
  reportOf({
    ...{ id: n, feed: name, path: name, reason: name, hint: name, warnings: [name], fileUrl: name },
    state: n % 2 ? 'held' : 'rejected',
  }),
)
const report = statusWith({
  daemon: {
    ...({ startedAt: null, lastScanAt: null, mode: 'poll', modeReason: 'nfs' } as const),
    conditions: [conditionReport(conditionOf(NAMES[20] ?? ''))],
    unfinished: NAMES.slice(0, 10).map((path) => ({ path, modifiedAt: null })),
    ignored: { count: NAMES.length, paths: NAMES },
  },
  service: { state: 'down', reason: NAMES[21] ?? '' },
  ...{ uploads, owed: [] },
  paused: { by: NAMES[3] ?? '', since: null, until: null },
  pausedFeeds: NAMES.map((feed) => ({ feed, by: feed, since: null, until: null })),
  skipped: NAMES.map((path) => ({ path, reason: path, hint: path, since: null })),
})
const view = {
  ...{ now: 0, terminal: false, width: null, limit: NAMES.length },
  commandLine: (command: string) => `feedsyncd ${command}`,
}

const feedOf = (message: AlertMessage) => alertVariables(message).FEEDSYNCD_ALERT_FEED

describe('hostile names and reasons', () => {
  it('in status and its --check hold nothing that a terminal obeys, and in status are escaped, each on one line', () => {
    const shown = statusText(report, view)

    expect(shown).not.toMatch(OBEYED)
    expect(shown).toContain('a\\tb\\u0000c\\u0007\\u001b[31mred\\u001b[2J\\u009b2J')
    expect(shown.split('\n').length).toBeLessThan(2 * NAMES.length + 300)
    expect(statusCheck(report, 0).line).not.toMatch(OBEYED)
  })

  it('in a plan of the campaigns are escaped, take one line each and hold nothing that a terminal obeys', () => {
    const next = 'feedsyncd campaigns plan'
    const [key, campaignId, action] = ['A', null, 'create'] as const
    const plan: Plan = {
      digest: '12345678',
      items: NAMES.map((name) => ({
        ...{ key: name, campaignId, action, postings: null },
        changes: [
          { field: 'name', from: null, to: name, spend: 'up' },
          { field: 'targeting', from: null, to: { jobTitles: [name] }, spend: 'up' },
        ],
      })),
      entries: NAMES.map((name) => {
        return {
          key: name,
          campaignId: name,
          state: 'blocked',
          reason: name,
          next: name,
          coverage: null,
        }
      }),
      findings: NAMES.map((text) => {
        return { code: 'outside', key, campaignId, text, next, severity: 'warning' }
      }),
      listing: { complete: false, campaigns: 1, reason: NAMES[20] ?? '' },
      feeds: { count: 1, postings: 1, problems: NAMES },
      warning: null,
    }

    const shown = planText(plan, { commandLine: view.commandLine, keys: NAMES })

    expect(shown).not.toMatch(OBEYED)
    expect(shown).toContain('a\\tb\\u0000c\\u0007\\u001b[31mred\\u001b[2J\\u009b2J')
    expect(shown.split('\n').length).toBeLessThan(10 * NAMES.length)
  })

  it('in JSON answers stay the same names, and are escaped so that a terminal obeys nothing', () => {
    let said = ''

    outJson({ out: (text) => (said += text) }, report)

    expect(said).not.toMatch(OBEYED)
    expect(JSON.parse(said).uploads.map(({ feed }: { feed: string }) => feed)).toEqual(NAMES)
  })

  it.each(['json', 'text'] as const)(
    'in the log (%s) take one line each and hold nothing that a terminal obeys',
    async (format) => {
      let said = ''
      const destination = new Writable({
        write: (chunk, _encoding, done) => {
          said += chunk
          done()
        },
      })
      const log = await createLog({ level: 'info', format, destination })

      for (const name of NAMES)
        log.info({ event: 'feed.state', feed: name, reason: name }, `${name} rejected: ${name}`)

      expect(said).not.toMatch(OBEYED)
      expect(said.trimEnd().split('\n')).toHaveLength(NAMES.length)
    },
  )

  it('in alerts take one line each and can be passed to any program', () => {
    const messages = NAMES.map((name, n) =>
      alertMessage(
        [
          {
            ...{ key: name, mark: '1', event: 'held', recovered: false, feed: name, version: n },
            ...{ reason: name, hint: name, campaign: name, state: name, reasonCode: name },
            ...{ path: name, line: null, column: null, says: name, severity: 'warning' },
          },
        ],
        { at: 0, host: 'ats', page: null, sequence: 0, commandLine: view.commandLine },
      ),
    )

    for (const message of messages) {
      for (const value of Object.values(alertVariables(message)))
        expect(value).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    }
    // A real process receives the same names: a NUL or half a surrogate pair would change them.
    const feeds = messages.slice(20, 28).map((message, n) => [`FEED_${n}`, feedOf(message)])
    const script = 'console.log(JSON.stringify(Object.entries(process.env)))'
    const heard = execFileSync(process.execPath, ['-e', script], { env: Object.fromEntries(feeds) })
    expect(JSON.parse(String(heard))).toEqual(expect.arrayContaining(feeds))
  })
})
