import { describe, expect, it, onTestFinished } from 'vitest'
import type { AlertTarget } from '../../../../src/domain/alerts.ts'
import { ALERT_EVENTS, type AlertEvent } from '../../../../src/domain/alerts.ts'
import { type Condition, Conditions } from '../../../../src/domain/conditions.ts'
import type { History, Version } from '../../../../src/history/port.ts'
import { openHistory } from '../../../../src/history/sqlite-history.ts'
import { type Clock, MINUTE, SECOND, systemClock } from '../../../../src/lib/clock.ts'
import { silentLog } from '../../../../src/lib/log.ts'
import { Secret } from '../../../../src/lib/secrets.ts'
import { AlertDesk } from '../../../../src/ops/alerts/desk.ts'
import type { AlertMessage } from '../../../../src/ops/alerts/message.ts'
import type { AlertResult } from '../../../../src/ops/alerts/senders.ts'
import type { CampaignRun } from '../../../../src/ops/campaigns/run.ts'
import { judgedVersions } from '../../../../src/ops/judged.ts'
import type { DaemonState } from '../../../../src/ops/port.ts'
import type { Problem } from '../../../../src/ops/problem.ts'
import { problems } from '../../../../src/ops/problems.ts'
import { conditionReport } from '../../../../src/ops/report.ts'
import { because, temporaryHistory, versionIn } from '../../../helpers/history/temporary.ts'
import { campaignRun, campaignSeen } from '../../../helpers/ops/campaign-run.ts'
import { at, NOW, statusWith } from '../../../helpers/ops/status-report.ts'

const ALL: AlertEvent[] = [...ALERT_EVENTS]
const PROGRAM: AlertTarget = { on: ALL, action: { kind: 'exec', command: ['/bin/page'] } }

function conditionOf(code: Condition['code'], facts: Partial<Condition> = {}): Condition {
  const words = { message: `the cause of ${code}`, hint: 'look at it', mark: null }
  return { code, since: 1000, ...words, ...facts }
}

const refusedWith = (mark: string) =>
  conditionOf('credentials', { message: 'refused with 401', hint: 'see the key', mark })

/** An alert desk over a history. It keeps the sent messages. `pass` moves the clock and lets the desk check once. */
class Bench {
  readonly sent: AlertMessage[] = []
  /** The kind of receiver of each sent message. */
  readonly receivers: string[] = []
  readonly facts = {
    late: [] as { version: Version; expectedBy: string }[],
    conditions: [] as Condition[],
    service: 'ok' as DaemonState['service'],
    trusted: false,
    campaigns: null as CampaignRun | null,
  }
  answer: AlertResult | Promise<AlertResult> = { kind: 'sent' }
  readonly conditions = new Conditions(systemClock)
  tries = 0
  readonly #desk: AlertDesk
  readonly #signal = new AbortController().signal
  #ahead = 0

  constructor(history: History, targets: AlertTarget[] = [PROGRAM]) {
    const clock: Clock = { ...systemClock, monotonic: () => this.#ahead }
    this.#desk = new AlertDesk({
      ...{ clock, history, targets, log: silentLog, conditions: this.conditions },
      origin: { commandLine: (command) => `feedsyncd ${command}`, host: 'ats', page: null },
      facts: {
        problems: () => this.#problems(history),
        service: () => this.facts.service,
        trusted: () => this.facts.trusted,
      },
      send: async ({ action }, message) => {
        this.tries += 1
        const answer = await this.answer
        if (answer.kind === 'sent') {
          this.sent.push(message)
          this.receivers.push(action.kind)
        }
        return answer
      },
    })
  }

  /** #problems judges as the daemon does. */
  #problems(history: History): Problem[] {
    const { campaigns, conditions, late, service } = this.facts
    const { problems: _, ...report } = statusWith({
      daemon: { conditions: conditions.map(conditionReport) },
      service: { state: service, reason: 'no answer', since: at(20) },
      campaigns,
    })
    const isLate = (version: Version) => late.find((one) => one.version.id === version.id)
    const versions = judgedVersions(history, null, {
      others: late.map(({ version }) => version),
      expect: (version) => ({
        expectedBy: isLate(version)?.expectedBy ?? null,
        overdue: isLate(version) !== undefined,
      }),
    })
    const commandLine = (command: string) => `feedsyncd ${command}`
    return problems({ ...report, versions }, { now: NOW, commandLine })
  }

  /** pass returns the texts of the messages that were sent. */
  async pass(ms: number): Promise<string[]> {
    const before = this.sent.length
    this.#ahead += ms
    this.#desk.moved()
    this.#desk.sendDue(this.#signal)
    await this.#desk.finish({ flush: false, signal: this.#signal })
    return this.sent.slice(before).map(({ text }) => text.replace('feedsyncd on ats: ', ''))
  }

  async flush(): Promise<void> {
    await this.#desk.finish({ flush: true, signal: this.#signal })
  }
}

describe('alerts', () => {
  it.each([
    ['rejected', 'acme rejected: line 3, column 1: it is broken; correct the export'],
    [
      'held',
      'acme held: line 3, column 1: it is broken; correct the export; then feedsyncd show 1, or feedsyncd release 1, or feedsyncd discard 1',
    ],
    [
      'failed',
      'acme failed: line 3, column 1: it is broken; correct the export; then feedsyncd retry 1',
    ],
  ] as const)('report once that a feed is %s, and what to do', async (state, text) => {
    const { history } = temporaryHistory()
    versionIn(history, state, {
      reason: because('line 3, column 1: it is broken', 'correct the export'),
    })
    const bench = new Bench(history)

    const told = [await bench.pass(SECOND), await bench.pass(MINUTE), await bench.pass(60 * MINUTE)]

    expect(told).toEqual([[text], [], []])
  })

  it('report the recovery once, when a corrected version is uploaded, not while it is on its way', async () => {
    const { history } = temporaryHistory()
    versionIn(history, 'rejected')
    const bench = new Bench(history)
    await bench.pass(SECOND)

    const next = versionIn(history, 'queued', { at: 2000 })
    const underWay = await bench.pass(MINUTE)
    history.move(next.id, 'uploading', { at: 3000 })
    history.move(next.id, 'uploaded', { at: 3001 })
    const arrived = [await bench.pass(MINUTE), await bench.pass(MINUTE)]

    expect(underWay).toEqual([])
    expect(arrived).toEqual([['acme recovered (rejected before, uploaded now)'], []])
  })

  it('report the next version if it is rejected too', async () => {
    const { history } = temporaryHistory()
    versionIn(history, 'rejected')
    const bench = new Bench(history)
    await bench.pass(SECOND)

    versionIn(history, 'rejected', { at: 2000, reason: because('another fault') })

    expect(await bench.pass(MINUTE)).toEqual([
      'acme rejected: another fault; correct the export and drop the file again',
    ])
  })

  it('repeat nothing after a restart, and report what happened meanwhile', async () => {
    const { history, file } = temporaryHistory()
    versionIn(history, 'held')
    await new Bench(history).pass(SECOND)
    versionIn(history, 'failed', { feed: 'globex' })
    const reopened = openHistory({ file })
    onTestFinished(() => reopened[Symbol.dispose]())

    const told = await new Bench(reopened).pass(SECOND)

    expect(told).toEqual(['globex failed; feedsyncd retry 2'])
  })

  it('never flood: one message counts all changes and holds 100 of them, and the next waits for half a minute', async () => {
    const { history } = temporaryHistory()
    for (let n = 0; n < 300; n++) versionIn(history, n % 3 ? 'rejected' : 'held', { feed: `f${n}` })
    const bench = new Bench(history)

    const first = await bench.pass(SECOND)
    versionIn(history, 'failed', { feed: 'g1' })
    versionIn(history, 'failed', { feed: 'g2' })
    const early = await bench.pass(29 * SECOND)
    const later = await bench.pass(SECOND)

    expect(first).toEqual([
      expect.stringMatching(
        /^200 rejected, 100 held\n- f299 rejected; .*\n- f298 rejected; [\s\S]*\n- and 280 more: feedsyncd status$/,
      ),
    ])
    expect(bench.sent[0]?.count).toBe(300)
    expect(bench.sent[0]?.changes).toHaveLength(100)
    expect(early).toEqual([])
    expect(later).toEqual([
      '2 failed\n- g2 failed; feedsyncd retry 302\n- g1 failed; feedsyncd retry 301',
    ])
  })

  it('have the kind of their changes as event, or `several` if the changes are of different kinds', async () => {
    const { history } = temporaryHistory()
    const bench = new Bench(history)
    for (const feed of ['g1', 'g2']) versionIn(history, 'failed', { feed })
    await bench.pass(MINUTE)
    versionIn(history, 'held', { feed: 'h1' })
    versionIn(history, 'failed', { feed: 'h2' })
    await bench.pass(MINUTE)

    expect(bench.sent.map(({ event }) => event)).toEqual(['failed', 'several'])
  })

  it('that cannot be sent are tried again at growing intervals, without changes that are over by then', async () => {
    const { history } = temporaryHistory()
    const { id } = versionIn(history, 'held')
    const bench = new Bench(history)
    bench.answer = { kind: 'failed', reason: 'the receiver is down' }

    await bench.pass(SECOND)
    await bench.pass(SECOND)
    const afterTwoSeconds = bench.tries
    await bench.pass(5 * SECOND)
    await bench.pass(5 * SECOND)
    const afterTwelve = bench.tries
    history.move(id, 'discarded', { at: 5000 })
    bench.answer = { kind: 'sent' }

    expect([afterTwoSeconds, afterTwelve]).toEqual([1, 2])
    expect(await bench.pass(MINUTE)).toEqual([])
  })

  it('have another id when the same problem comes again later', async () => {
    const { history } = temporaryHistory()
    const bench = new Bench(history)
    const ids: (string | undefined)[] = []
    for (const trusted of [false, true, false]) {
      bench.facts.conditions = trusted ? [] : [refusedWith('refused')]
      bench.facts.trusted = trusted
      await bench.pass(MINUTE)
      ids.push(bench.sent.at(-1)?.id)
    }

    expect(bench.sent.map(({ event }) => event)).toEqual([
      'credentials',
      'recovered',
      'credentials',
    ])
    expect(new Set(ids).size).toBe(3)
  })

  it('report refused credentials again only when the service refuses another account', async () => {
    const { history } = temporaryHistory()
    const bench = new Bench(history)
    for (const mark of ['["a"]', '["a"]', '["a","b"]', '["a","b"]']) {
      bench.facts.conditions = [refusedWith(mark)]
      await bench.pass(15 * MINUTE)
    }

    expect(bench.sent.map(({ event }) => event)).toEqual(['credentials', 'credentials'])
  })

  it('report a recovery of the credentials only when they worked, not after a retry or a restart', async () => {
    const { history } = temporaryHistory()
    const bench = new Bench(history)
    bench.facts.conditions = [refusedWith('refused')]
    await bench.pass(SECOND)

    bench.facts.conditions = []
    const tried = await bench.pass(15 * MINUTE)
    const restarted = new Bench(history)
    const afterRestart = await restarted.pass(SECOND)
    restarted.facts.trusted = true
    const proven = await restarted.pass(MINUTE)

    expect([tried, afterRestart]).toEqual([[], []])
    expect(proven).toEqual(['the service accepts the credentials again'])
  })

  it('report a condition once, even over restarts, and its end a minute after a start, even if no daemon ran then', async () => {
    const { history } = temporaryHistory()
    const told: string[][] = []
    for (const since of [1000, 2000, 3000]) {
      const bench = new Bench(history)
      bench.facts.conditions = [conditionOf('inbox-missing', { since })]
      told.push(await bench.pass(SECOND))
    }
    const repaired = new Bench(history)
    const atItsStart = await repaired.pass(SECOND)
    const later = await repaired.pass(MINUTE)

    expect(told).toEqual([['the cause of inbox-missing; look at it'], [], []])
    // The daemon meets a lasting cause again within its first rounds, so at the start it cannot be over yet.
    expect(atItsStart).toEqual([])
    expect(later).toEqual(['feedsyncd works again'])
  })

  it('report at the end of a single pass that a condition of the previous pass is over', async () => {
    const { history } = temporaryHistory()
    const before = new Bench(history)
    before.facts.conditions = [conditionOf('inbox-missing')]
    await before.flush()
    const after = new Bench(history)

    await after.flush()

    expect(after.sent).toMatchObject([
      { event: 'recovered', changes: [{ event: 'daemon', reasonCode: 'inbox-missing' }] },
    ])
  })

  it('name the condition that is over, and say that feedsyncd works again only when no condition is left', async () => {
    const { history } = temporaryHistory()
    const bench = new Bench(history)
    const missing = conditionOf('inbox-missing')
    bench.facts.conditions = [missing, conditionOf('key-unreadable')]
    await bench.pass(SECOND)

    bench.facts.conditions = [missing]
    const one = await bench.pass(MINUTE)
    bench.facts.conditions = []
    const all = await bench.pass(MINUTE)

    expect(one).toEqual([
      'key-unreadable is over; feedsyncd still has a problem: the cause of inbox-missing',
    ])
    expect(all).toEqual(['feedsyncd works again'])
    expect(bench.sent.slice(-2)).toMatchObject([
      { event: 'recovered', changes: [{ reasonCode: 'key-unreadable' }] },
      { event: 'recovered', changes: [{ reasonCode: 'inbox-missing', reason: null }] },
    ])
  })

  it('report once that the service is down for long, and once that it works again, not after a restart', async () => {
    const { history } = temporaryHistory()
    for (const feed of ['a', 'b']) versionIn(history, 'queued', { feed })
    const bench = new Bench(history)
    const told: string[][] = []
    for (const service of ['ok', 'down', 'down', 'unknown', 'ok', 'ok'] as const) {
      bench.facts.service = service
      told.push(await bench.pass(MINUTE))
    }

    expect(told).toEqual([
      [],
      ['the service is down since 11:40 UTC: no answer; 2 feeds wait; feedsyncd doctor'],
      [],
      // A restart proves nothing.
      [],
      ['the service works again'],
      [],
    ])
    expect(bench.sent.map(({ event }) => event)).toEqual(['service', 'recovered'])
  })

  it('report a restart by the watchdog once, and its next one', async () => {
    const { history } = temporaryHistory()
    const bench = new Bench(history)
    const told: string[][] = []
    for (const mark of ['1', '1', null, '2']) {
      bench.facts.conditions = mark === null ? [] : [conditionOf('watchdog-restart', { mark })]
      told.push(await bench.pass(5 * MINUTE))
    }

    const restart = ['the cause of watchdog-restart; look at it']
    expect(told).toEqual([restart, [], [], restart])
  })

  it('report that a feed is overdue, and that its next version came', async () => {
    const { history } = temporaryHistory()
    const version = versionIn(history, 'uploaded')
    const bench = new Bench(history)
    bench.facts.late = [{ version, expectedBy: '2026-01-02T00:00:00.000Z' }]

    const late = await bench.pass(SECOND)
    bench.facts.late = []
    const came = await bench.pass(MINUTE)

    expect(late).toEqual([
      'acme overdue: its next version was expected by 2026-01-02 00:00 UTC; ' +
        'check whether its export still runs, and where it writes to',
    ])
    expect(came).toEqual(['acme recovered (overdue before, uploaded now)'])
  })

  it('report a campaign that waits once for each next step, and once when it no longer waits', async () => {
    const { history } = temporaryHistory()
    const bench = new Bench(history)
    const told: string[][] = []
    for (const [reason, next] of [
      ['it is gone', 'feedsyncd campaigns forget NUR'],
      ['it was archived', 'feedsyncd campaigns forget NUR'],
      ['it is another one', 'correct campaignId'],
      [null, null],
      [null, null],
    ] as const) {
      const entry = campaignSeen({
        key: 'NUR',
        state: reason ? 'blocked' : 'in line',
        reason,
        next,
      })
      bench.facts.campaigns = campaignRun({ entries: [entry] })
      told.push(await bench.pass(MINUTE))
    }

    expect(told).toEqual([
      ['campaign NUR blocked: it is gone; feedsyncd campaigns forget NUR'],
      [],
      ['campaign NUR blocked: it is another one; correct campaignId'],
      ['campaign NUR recovered (waiting before)'],
      [],
    ])
    expect(bench.sent[0]?.changes).toMatchObject([
      { event: 'campaign-waiting', campaign: 'NUR', feed: null, reasonCode: 'campaign-blocked' },
    ])
  })

  it('report once that campaigns stopped and once that they are managed again, even over a restart', async () => {
    const { history } = temporaryHistory()
    const problem = 'campaigns.yaml:1:1 it is empty'
    const stopped = campaignRun({ state: 'unusable', problem, hint: 'correct the file' })
    const told: string[][] = []
    for (const run of [stopped, stopped, campaignRun()]) {
      const bench = new Bench(history)
      bench.facts.campaigns = run
      told.push(await bench.pass(SECOND))
    }

    expect(told).toEqual([
      ['no campaign is written: campaigns.yaml:1:1 it is empty; correct the file'],
      [],
      ['campaigns are managed again'],
    ])
  })

  it('reach each receiver with only the events that it asked for', async () => {
    const { history } = temporaryHistory()
    versionIn(history, 'held')
    versionIn(history, 'failed', { feed: 'globex' })
    const url = new Secret('https://hooks.example.com/x')
    const hook = {
      kind: 'webhook',
      url,
      origin: 'https://hooks.example.com',
      secretFile: null,
    } as const
    const bench = new Bench(history, [
      { on: ['held'], action: hook },
      { on: ['failed'], action: PROGRAM.action },
    ])

    await bench.pass(SECOND)

    const events = bench.sent.map(({ event }) => event)
    expect(events.map((event, n) => [bench.receivers[n], event])).toEqual([
      ['webhook', 'held'],
      ['exec', 'failed'],
    ])
  })

  it('never report a change that was rolled back', async () => {
    const { history } = temporaryHistory()
    const bench = new Bench(history)
    const rolledBack = () =>
      history.atomically(() => {
        versionIn(history, 'failed')
        throw new Error('no room')
      })

    expect(rolledBack).toThrow('no room')

    expect(await bench.pass(SECOND)).toEqual([])
  })

  it('wait while the database has an error, and are sent afterwards', async () => {
    const { history } = temporaryHistory()
    versionIn(history, 'held')
    let isLocked = true
    const bench = new Bench({
      ...history,
      dataVersion: () => {
        if (isLocked) throw new Error('database is locked')
        return history.dataVersion()
      },
    })

    const meanwhile = await bench.pass(SECOND)
    isLocked = false

    expect(meanwhile).toEqual([])
    expect(await bench.pass(SECOND)).toHaveLength(1)
  })

  it('show a hanging program as a condition until an alert reaches it', async () => {
    const { history } = temporaryHistory()
    versionIn(history, 'held')
    const bench = new Bench(history)
    bench.answer = { kind: 'failed', reason: 'it ran for more than 30 s', stuck: true }

    await bench.pass(SECOND)
    const stuck = bench.conditions.current()
    bench.answer = { kind: 'sent' }
    await bench.pass(MINUTE)

    expect(stuck).toMatchObject([{ code: 'hook-stuck' }])
    expect(bench.conditions.current()).toEqual([])
  })

  it('are shown as failing after three failures at a receiver', async () => {
    const { history } = temporaryHistory()
    versionIn(history, 'held')
    const bench = new Bench(history)
    bench.answer = { kind: 'failed', reason: 'it answered 500' }

    await bench.pass(SECOND)
    const once = bench.conditions.current()
    await bench.pass(MINUTE)
    await bench.pass(MINUTE)

    expect(once).toEqual([])
    expect(bench.conditions.current()).toMatchObject([
      { code: 'alerts-failing', message: expect.stringContaining('it answered 500') },
    ])
  })

  it('are tried again after an unknown error of the sender', async () => {
    const { history } = temporaryHistory()
    versionIn(history, 'held')
    const bench = new Bench(history)
    bench.answer = Promise.reject(new Error('a fault'))

    const unsent = await bench.pass(SECOND)
    bench.answer = { kind: 'sent' }

    expect(unsent).toEqual([])
    expect(await bench.pass(MINUTE)).toHaveLength(1)
  })

  it('forget what a receiver knew when it is no longer configured', async () => {
    const { history } = temporaryHistory()
    versionIn(history, 'held')
    await new Bench(history).pass(SECOND)

    new Bench(history, [])
    const again = await new Bench(history).pass(SECOND)

    expect(again).toHaveLength(1)
  })
})
