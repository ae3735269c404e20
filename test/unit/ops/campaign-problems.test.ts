import { describe, expect, it } from 'vitest'
import { statusCheck } from '../../../src/cli/status-check.ts'
import { HOUR, MINUTE } from '../../../src/lib/clock.ts'
import { troublesOf } from '../../../src/ops/alerts/changes.ts'
import type { CampaignRun, CampaignSeen } from '../../../src/ops/campaigns/run.ts'
import { exitOf } from '../../../src/ops/problems.ts'
import { campaignFinding, campaignRun, campaignSeen } from '../../helpers/ops/campaign-run.ts'
import { NOW, statusWith } from '../../helpers/ops/status-report.ts'

const ago = (ms: number) => new Date(NOW - ms).toISOString()

const run = (over: Partial<CampaignRun> = {}) => campaignRun({ at: ago(0), since: ago(0), ...over })

const entry = (state: CampaignSeen['state'], ageMs = 0, over: Partial<CampaignSeen> = {}) => ({
  entries: [campaignSeen({ state, since: ago(ageMs), ...over })],
})

const BLOCKED = { reason: 'campaign 48211 is gone', next: 'feedsyncd campaigns forget NUR-Q1' }
const RAISED = { changes: ['budget: 100.00 -> 150.00  [can spend more]'] }

const found = (campaigns: CampaignRun | null, daemon: object = {}) =>
  statusWith({ campaigns, daemon })

const check = (campaigns: CampaignRun | null, daemon: object = {}) =>
  statusCheck(found(campaigns, daemon), NOW)

describe('monitoring', () => {
  it('is ok when campaigns are in line or off', () => {
    const inLine = run({ mode: 'report', ...entry('in line') })

    expect([check(null).code, check(inLine).code]).toEqual([0, 0])
  })

  it.each([
    ['unusable', 'campaigns.yaml:3:5 budgte: unknown key'],
    ['refused', 'the service answered 403'],
    ['credentials', 'the service answered 401'],
  ] as const)(
    'warns with the reason when no targeting is kept (%s), even after the clock was set back',
    (state, problem) => {
      expect(check(run({ state, problem, since: ago(-HOUR) }))).toEqual({
        code: 1,
        line: `WARNING - no campaign is written: ${problem}`,
      })
    },
  )

  it.each(['failed', 'busy'] as const)('reports a run that is %s only after an hour', (state) => {
    const codes = [50, 62].map(
      (minutes) => check(run({ state, since: ago(minutes * MINUTE) })).code,
    )

    expect(codes).toEqual([0, 1])
  })

  it('warns at once, with key and reason, of an entry whose creation had no answer', () => {
    expect(check(run(entry('unknown', 0, { reason: 'a create had no answer' })))).toEqual({
      code: 1,
      line: 'WARNING - campaign NUR-Q1 unknown: a create had no answer',
    })
  })

  it('warns at once of a blocked entry, with its key and reason', () => {
    expect(check(run(entry('blocked', 0, BLOCKED)))).toEqual({
      code: 1,
      line: 'WARNING - campaign NUR-Q1 blocked: campaign 48211 is gone',
    })
  })

  it.each([
    ['differs', 1, RAISED, 'differs: budget: 100.00 -> 150.00  [can spend more]'],
    ['new', 1, { campaignId: null }, 'new: it is not created yet'],
    ['new', 1, RAISED, 'new: campaign 48211 is not bound to it yet; budget: 100.00 -> 150.00'],
    ['pending', 2, { changes: ['targeting.cities: any -> Boston'] }, 'pending: targeting.cities'],
  ] as const)(
    'warns of an entry that is %s only after %s h, and says what is open',
    (state, hours, over, says) => {
      const seen = { ...over, changes: 'changes' in over ? [...over.changes] : [] }
      const [early, late] = [-MINUTE, MINUTE].map((more) => {
        return check(run(entry(state, hours * HOUR + more, seen)))
      })

      expect([early?.code, late?.code]).toEqual([0, 1])
      expect(late?.line).toContain(`WARNING - campaign NUR-Q1 ${says}`)
    },
  )

  it('warns of a campaign that runs without an entry, but not of a finding that is only information', () => {
    const informs = campaignFinding({ code: 'share', key: 'DRV', severity: 'info' })

    expect(check(run({ findings: [campaignFinding(), informs] }))).toEqual({
      code: 1,
      line: 'WARNING - campaign 48213 outside: campaign 48213 (Interns) runs without an entry, and can spend up to 900.00',
    })
  })

  it.each([
    ['refused', 1],
    ['not-as-sent', 1],
    ['unknown', 0],
    ['not-sent', 0],
  ])('warns of a failed write only if a repetition cannot help: %s', (outcome, code) => {
    const failure = { key: 'DRV', campaignId: '48002', outcome, reason: 'the service said so' }

    expect(check(run({ failures: [failure] })).code).toBe(code)
  })

  it('warns when the daemon has not looked for three hours, unless the daemon does not run at all', () => {
    const old = run({ at: ago(3.5 * HOUR) })

    expect(check(old).line).toBe('WARNING - the daemon last looked at the campaigns at 08:30 UTC')
    expect(check(old, { running: false }).line).toBe('CRITICAL - the daemon is not running')
  })

  it('names the first of a thousand blocked campaigns in one line, and counts the others', () => {
    const entries = Array.from({ length: 1000 }, (_, n) => {
      return campaignSeen({ ...BLOCKED, key: `C${n}`, state: 'blocked' })
    })

    expect(check(run({ entries })).line).toMatch(
      /^WARNING - campaign C0 blocked: .* gone; .*; and 99\d more$/,
    )
  })
})

describe('a problem of a campaign', () => {
  const mark = (over: Partial<CampaignSeen>) =>
    found(run(entry('blocked', 0, { ...BLOCKED, ...over }))).problems[0]?.mark

  it('has the same mark while only its words change, and a new mark when its next step changes', () => {
    expect(mark({ reason: 'it is not there' })).toBe(mark({}))
    expect(mark({ next: 'correct campaignId in the entry NUR-Q1' })).not.toBe(mark({}))
  })

  it('stays while the service does not answer for a moment', () => {
    const away = run({ state: 'failed', ...entry('blocked', 0, BLOCKED) })

    expect(found(away).problems.map(({ code }) => code)).toEqual([
      ...['campaign-blocked', 'campaigns-failing'],
    ])
  })

  it('is one alert for each campaign, even if several reasons apply', () => {
    const { problems } = found(
      run({
        ...entry('blocked', 0, BLOCKED),
        findings: [campaignFinding({ code: 'twin', key: 'NUR-Q1', text: 'a twin runs' })],
      }),
    )

    expect([...troublesOf(problems).values()]).toMatchObject([
      { campaign: 'NUR-Q1', reason: 'blocked: campaign 48211 is gone; twin: a twin runs' },
    ])
  })

  it('about what a campaign has spent is a warning that does not change the exit code of a pass', () => {
    const text = 'campaign 48001 has spent 92 % of its budget'
    const spent = run({ findings: [campaignFinding({ code: 'spent', key: 'NUR-Q1', text })] })

    expect(found(spent).problems).toMatchObject([
      { code: 'campaign-numbers', severity: 'warning', says: `spent: ${text}` },
    ])
    expect(exitOf(found(spent).problems)).toBe(0)
  })
})
