import { describe, expect, it } from 'vitest'
import { statusCheck } from '../../../src/cli/status-check.ts'
import type { StatusReport } from '../../../src/history/report.ts'
import { HOUR, MINUTE } from '../../../src/lib/clock.ts'
import { campaignConditions } from '../../../src/ops/campaign-conditions.ts'
import type { CampaignRun, WaitingCampaign } from '../../../src/ops/port.ts'

const NOW = Date.UTC(2026, 10, 22, 6)
const ago = (ms: number) => new Date(NOW - ms).toISOString()

function run(over: Partial<CampaignRun> = {}): CampaignRun {
  return {
    ...{ at: ago(MINUTE), since: ago(MINUTE), cause: 'interval', mode: 'apply', state: 'done' },
    ...{ problem: null, hint: null, planId: 7, pending: 0, planned: [], done: [], waiting: [] },
    ...{ vanished: [], ...over },
  } as CampaignRun
}

const waits = (action: string, over: Partial<WaitingCampaign> = {}): Partial<CampaignRun> => ({
  waiting: [
    { key: 'NUR-Q1', action, code: 'guard', reason: 'a guard', needs: 'correct it', ...over },
  ],
})

function check(campaigns: CampaignRun | null, daemon: Partial<StatusReport['daemon']> = {}) {
  const report: StatusReport = {
    daemon: {
      ...{ running: true, pid: 7, startedAt: ago(HOUR), lastScanAt: ago(0), mode: 'events' },
      ...{
        modeReason: null,
        conditions: [],
        unfinished: [],
        ignored: { count: 0, paths: [] },
        links: { count: 0, paths: [] },
        ...daemon,
      },
    },
    service: { baseUrl: 'https://api.example.com', state: 'ok', reason: null, clockSkewMs: 0 },
    ...{ uploads: [], owed: [], campaigns },
  }
  return statusCheck(report, { now: NOW, staleAfterMs: 5 * MINUTE })
}

const events = (found: CampaignRun) => campaignConditions(found).map(({ event }) => event)

describe('monitoring', () => {
  it('is not concerned with campaigns that are in line, or off', () => {
    expect([check(null).code, check(run()).code]).toEqual([0, 0])
    expect(check(run({ mode: 'report' })).line).toMatch(/^OK - /)
  })

  it.each([
    ['stopped', 'the database belongs to another account'],
    ['unusable', 'campaigns.yaml:3:5 budgte: unknown key'],
    ['refused', 'the service answered 403'],
    ['credentials', 'the service answered 401'],
  ] as const)(
    'finds it critical that nothing is written (%s), and a warning where a person writes',
    (state, problem) => {
      expect(check(run({ state, problem }))).toEqual({
        code: 2,
        line: `CRITICAL - no campaign is written: ${problem}`,
      })
      expect(check(run({ state, problem, mode: 'report' })).code).toBe(1)
    },
  )

  it.each(['failed', 'busy'] as const)('gives a look that %s an hour', (state) => {
    const problem = 'it did not answer'
    const soon = check(run({ state, problem, since: ago(50 * MINUTE) }))
    const late = check(run({ state, problem, since: ago(62 * MINUTE) }))

    expect([soon.code, late.code]).toEqual([0, 2])
  })

  it.each(['refused', 'credentials'] as const)(
    'finds it critical that nothing is written (%s) also after the clock was set back',
    (state) => {
      const found = run({ state, problem: 'the service answered 403', since: ago(-HOUR) })

      expect([check(found).code, events(found)]).toEqual([2, ['campaigns-stopped']])
    },
  )

  it('warns of a campaign that waits for a person, with its key and the reason', () => {
    expect(check(run(waits('blocked')))).toEqual({
      code: 1,
      line: 'WARNING - campaign NUR-Q1 blocked: a guard',
    })
  })

  it('warns of what a later look may do itself only when two of them did not', () => {
    const codes = [10 * MINUTE, 70 * MINUTE].map((since) => {
      return check(run(waits('failed', { passes: true, since: ago(since) }))).code
    })

    expect(codes).toEqual([0, 1])
  })

  it('finds an outcome critical that is not known for a quarter of an hour', () => {
    const codes = [10 * MINUTE, 20 * MINUTE].map((since) => {
      return check(run(waits('unknown', { passes: true, since: ago(since) }))).code
    })

    expect(codes).toEqual([0, 2])
  })

  it('warns of a campaign that runs on without postings, and of requisitions that may still spend', () => {
    const vanished = [{ key: 'DRV', campaignId: '48002', uploads: 3, pinned: 2 }]

    expect(check(run({ vanished }))).toEqual({
      code: 1,
      line:
        'WARNING - campaign DRV vanished: the last 3 uploads do not carry it, and campaign 48002 runs on; ' +
        'its 2 pinned requisitions may still spend',
    })
  })

  it('warns of a plan that waits for approval, in the mode in which a person applies', () => {
    const pending = { pending: 2, planned: ['update NUR-Q1', 'create DRV'] }

    expect(check(run({ ...pending, mode: 'report' }))).toEqual({
      code: 1,
      line: 'WARNING - campaigns: 2 changes wait for approval: update NUR-Q1, create DRV',
    })
    expect(check(run(pending)).code).toBe(0)
  })

  it('warns when the daemon has not looked for three hours, and tells of one that is down in its own words', () => {
    const old = run({ at: ago(3.5 * HOUR) })

    expect(check(old).line).toBe('WARNING - campaigns looked at 3h 30m ago')
    expect(check(old, { running: false }).line).toBe('CRITICAL - the daemon is not running')
  })

  it('names five of a thousand', () => {
    const waiting = Array.from({ length: 1000 }, (_, n) => {
      return { key: `C${n}`, action: 'blocked', code: 'guard', reason: 'a guard', needs: null }
    })

    expect(check(run({ waiting })).line).toMatch(/C4 blocked: a guard; and 995 more like it$/)
  })

  it('reads what an earlier version kept', () => {
    const { since, planned, vanished, ...old } = run(waits('blocked'))

    expect(check(old).code).toBe(1)
    expect(check({ ...old, state: 'failed', problem: 'x', waiting: [] }).code).toBe(0)
  })
})

describe('a condition of the campaigns', () => {
  const mark = (over: Partial<CampaignRun>) => campaignConditions(run(over))[0]?.mark

  it('is the same one while only its counts move', () => {
    const gone = (uploads: number) =>
      waits('blocked', {
        code: 'state',
        reason: `gone from ${uploads} feeds in a row, so nothing is raised`,
      })

    expect(mark(gone(4))).toBe(mark(gone(11)))
    expect(mark(gone(4))).not.toBe(mark(waits('blocked')))
  })

  it('is another one when other changes wait for approval', () => {
    const plan = (...planned: string[]) => ({ mode: 'report', planned }) as const

    expect(mark(plan('update A'))).not.toBe(mark(plan('update A', 'create B')))
  })

  it('stays while the service is away for a moment: what waits was not looked at', () => {
    expect(events(run({ state: 'failed', ...waits('blocked') }))).toEqual(['campaign-waiting'])
  })
})
