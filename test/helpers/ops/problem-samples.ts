// One report of `status` for each kind of problem, with what the program must say of that kind everywhere.

import type { AlertEvent } from '../../../src/domain/alerts.ts'
import type { ConditionCode } from '../../../src/domain/conditions.ts'
import { EXIT } from '../../../src/lib/errors.ts'
import type { ProblemCode, Severity } from '../../../src/ops/problem-kinds.ts'
import type { StatusReport } from '../../../src/ops/report.ts'
import type { UploadReport } from '../../../src/ops/upload-report.ts'
import { campaignFinding, campaignRun, campaignSeen } from './campaign-run.ts'
import { reportOf } from './samples.ts'
import { at } from './status-report.ts'

type Daemon = StatusReport['daemon']
type Service = StatusReport['service']

/** Sample is the part of a report that has the problem. */
export interface Sample {
  daemon?: Partial<Daemon>
  service?: Partial<Service>
  uploads?: UploadReport[]
  skipped?: StatusReport['skipped']
  paused?: StatusReport['paused']
  pausedFeeds?: StatusReport['pausedFeeds']
  campaigns?: StatusReport['campaigns']
}

export interface Row {
  code: ProblemCode
  severity: Severity
  /** The exit code of `run --once`. */
  exit: number
  event: AlertEvent | null
  sample: Sample
}

const { credentials: REFUSED, notAllOk: DECIDE, ok: NONE, temporary: LATER } = EXIT

let ids = 0

function row(code: ProblemCode, told: [Severity, number, AlertEvent | null], sample: Sample): Row {
  const [severity, exit, event] = told
  return { code, severity, exit, event, sample }
}

function condition(code: ConditionCode, told: [Severity, number, AlertEvent | null]): Row {
  const words = { message: `the cause of ${code} is there`, hint: `correct the cause of ${code}` }
  return row(code, told, { daemon: { conditions: [{ code, ...words, since: at(3), mark: null }] } })
}

function version(over: Partial<UploadReport>): Sample {
  ids += 1
  return {
    uploads: [reportOf({ id: 100 + ids, feed: `feed-${ids}.xml`, uploadedAt: null, ...over })],
  }
}

const RUN_AT = at(10)

function campaign(over: Parameters<typeof campaignRun>[0]): Sample {
  return { campaigns: campaignRun({ at: RUN_AT, since: RUN_AT, ...over }) }
}

function entry(over: Parameters<typeof campaignSeen>[0]): Sample {
  ids += 1
  const next = 'feedsyncd campaigns plan'
  return campaign({ entries: [campaignSeen({ key: `KEY-${ids}`, since: RUN_AT, next, ...over })] })
}

const HOURS_AGO = at(300)

export const ROWS: readonly Row[] = [
  condition('scan-stuck', ['critical', LATER, 'daemon']),
  condition('read-stuck', ['warning', LATER, 'daemon']),
  condition('database-log-large', ['warning', NONE, 'daemon']),
  condition('inbox-missing', ['critical', LATER, 'daemon']),
  condition('inbox-unreadable', ['critical', LATER, 'daemon']),
  condition('inbox-changed', ['warning', NONE, 'daemon']),
  condition('state-full', ['critical', LATER, 'daemon']),
  condition('state-read-only', ['critical', LATER, 'daemon']),
  condition('state-failing', ['critical', LATER, 'daemon']),
  condition('database-lost', ['critical', LATER, 'daemon']),
  condition('database-damaged', ['critical', LATER, 'daemon']),
  condition('database-locked', ['critical', LATER, 'daemon']),
  condition('credentials', ['critical', REFUSED, 'credentials']),
  condition('account-refused', ['warning', REFUSED, 'credentials']),
  condition('key-unreadable', ['warning', NONE, 'daemon']),
  condition('internal-error', ['critical', LATER, 'daemon']),
  condition('stop-stuck', ['critical', NONE, 'daemon']),
  condition('watchdog-restart', ['warning', NONE, 'daemon']),
  condition('dispositions-failing', ['warning', NONE, 'daemon']),
  condition('hook-stuck', ['warning', NONE, 'daemon']),
  condition('alerts-failing', ['warning', NONE, 'daemon']),
  condition('config-broken', ['critical', NONE, null]),
  row('daemon-down', ['critical', NONE, null], { daemon: { running: false } }),
  row('daemon-stuck', ['critical', NONE, null], { daemon: { heartbeatAt: at(5) } }),
  row('listing-late', ['critical', NONE, null], { daemon: { lastScanAt: at(125) } }),
  row('endpoint-exposed', ['info', NONE, null], {
    daemon: { exposedAt: 'http://0.0.0.0:9464' },
  }),
  row('clock-off', ['warning', NONE, 'daemon'], { service: { clockSkewMs: -400_000 } }),
  row('service-down', ['critical', LATER, 'service'], {
    service: { state: 'down', reason: 'connection refused', since: at(20) },
  }),
  row('service-failing', ['warning', LATER, null], {
    service: { state: 'down', reason: 'connection refused', since: at(4) },
  }),
  row('service-degraded', ['warning', NONE, null], {
    service: { state: 'degraded', reason: 'connection reset', since: at(4) },
  }),
  row('paused', ['warning', LATER, null], {
    paused: { by: 'maria', since: at(30), until: null },
  }),
  row('feed-paused', ['warning', LATER, null], {
    pausedFeeds: [{ feed: 'paused.xml', by: 'maria', since: at(30), until: at(-60) }],
  }),
  row(
    'rejected',
    ['warning', DECIDE, 'rejected'],
    version({ state: 'rejected', reason: 'line 5, column 19: "&" must be written "&amp;"' }),
  ),
  row('held', ['warning', DECIDE, 'held'], version({ state: 'held', reason: '40 -> 2 postings' })),
  row(
    'second-feed',
    ['warning', DECIDE, 'held'],
    version({
      ...{ state: 'held', guard: 'second-feed', reasonCode: 'second-feed' },
      ...{ reason: 'account 123 already has jobs.xml (120 postings)', hint: 'ask the operator' },
    }),
  ),
  row(
    'failed',
    ['warning', DECIDE, 'failed'],
    version({ state: 'failed', reason: 'no such account', hint: 'correct the account' }),
  ),
  row(
    'refused',
    ['warning', LATER, 'failed'],
    version({
      ...{ state: 'queued', refusals: 5, attempts: 5, nextAttemptAt: at(-4) },
      ...{ reason: 'storage answered 403', hint: 'ask the service operator' },
    }),
  ),
  row(
    'no-room',
    ['warning', LATER, 'failed'],
    version({
      state: 'settling',
      reasonCode: 'no-room',
      reason: 'no room for 9 GiB',
      hint: 'make room',
    }),
  ),
  row(
    'never-quiet',
    ['warning', LATER, 'failed'],
    version({
      state: 'settling',
      reasonCode: 'never-quiet',
      reason: 'its inode changes at each look',
      hint: 'rename it',
    }),
  ),
  row(
    'overdue',
    ['warning', NONE, 'overdue'],
    version({ state: 'uploaded', overdue: true, expectedBy: at(120) }),
  ),
  row(
    'always-older',
    ['warning', NONE, 'overdue'],
    version({
      ...({ state: 'superseded', reasonCode: 'older', reason: 'it is older' } as const),
      newerThanAll: { id: 4, path: 'jobs-2027-06-01.xml' },
    }),
  ),
  row(
    'maybe-stored',
    ['warning', NONE, null],
    version({ state: 'discarded', maybeOnService: { id: 2, postings: 3 } }),
  ),
  row(
    'incomplete',
    ['info', LATER, null],
    version({
      state: 'incomplete',
      reason: 'it ends early',
      incompleteSince: at(4),
      rejectedAt: at(-11),
    }),
  ),
  row(
    'queued',
    ['info', LATER, null],
    version({ state: 'queued', reason: 'storage answered 503', nextAttemptAt: at(-2) }),
  ),
  row('working', ['info', LATER, null], version({ state: 'checking' })),
  row('skipped', ['warning', DECIDE, null], {
    skipped: [
      { path: 'pipe.xml', reason: 'it is a fifo', hint: 'put a file in its place', since: at(9) },
    ],
  }),
  row('unfinished', ['info', NONE, null], {
    daemon: { unfinished: [{ path: 'night.xml.part', modifiedAt: at(500) }] },
  }),
  row(
    'campaigns-unusable',
    ['warning', DECIDE, 'campaigns-stopped'],
    campaign({
      state: 'unusable',
      problem: 'campaigns.yaml:3:5 budgte: unknown key',
      hint: 'correct the file',
    }),
  ),
  row(
    'campaigns-refused',
    ['warning', DECIDE, 'campaigns-stopped'],
    campaign({ state: 'refused', problem: 'the service answered 403', hint: 'ask the operator' }),
  ),
  row(
    'campaigns-credentials',
    ['warning', REFUSED, 'campaigns-stopped'],
    campaign({ state: 'credentials', problem: 'the service answered 401', hint: 'check the key' }),
  ),
  row(
    'campaigns-down',
    ['warning', LATER, 'campaigns-stopped'],
    campaign({ state: 'failed', problem: 'no answer', since: HOURS_AGO }),
  ),
  row(
    'campaigns-failing',
    ['info', LATER, null],
    campaign({ state: 'failed', problem: 'no answer' }),
  ),
  row('campaigns-late', ['warning', NONE, null], campaign({ at: HOURS_AGO, since: HOURS_AGO })),
  row(
    'campaign-unknown',
    ['warning', DECIDE, 'campaign-unknown'],
    entry({ state: 'unknown', reason: 'a create had no answer' }),
  ),
  row(
    'campaign-blocked',
    ['warning', DECIDE, 'campaign-waiting'],
    entry({ state: 'blocked', reason: 'campaign 48211 is gone' }),
  ),
  row(
    'campaign-differs',
    ['warning', DECIDE, 'campaign-waiting'],
    entry({ state: 'differs', since: HOURS_AGO, changes: ['budget: 100.00 -> 150.00'] }),
  ),
  row(
    'campaign-differs-since-now',
    ['info', DECIDE, null],
    entry({ state: 'differs', changes: ['budget: 100.00 -> 150.00'] }),
  ),
  row(
    'campaign-pending',
    ['warning', DECIDE, 'campaign-waiting'],
    entry({ state: 'pending', since: HOURS_AGO, changes: ['targeting.cities: any -> Boston'] }),
  ),
  row(
    'campaign-finding',
    ['warning', DECIDE, 'campaign-waiting'],
    campaign({ findings: [campaignFinding()] }),
  ),
  row(
    'campaign-numbers',
    ['warning', NONE, 'campaign-waiting'],
    campaign({ findings: [campaignFinding({ code: 'spent', key: 'NUR-Q1' })] }),
  ),
  row(
    'campaign-write-failed',
    ['warning', DECIDE, 'campaign-waiting'],
    campaign({
      failures: [{ key: 'DRV', campaignId: '48002', outcome: 'refused', reason: 'it said so' }],
    }),
  ),
  row(
    'campaign-write-repeats',
    ['info', DECIDE, null],
    campaign({
      failures: [{ key: 'WELD', campaignId: '48003', outcome: 'unknown', reason: 'no answer' }],
    }),
  ),
]

/** HISTORY_LOST is not in ROWS, because its problem always comes together with the problem of the held version. */
export const HISTORY_LOST = version({
  ...{ state: 'held', guard: 'history-lost', reason: 'the history was lost' },
  ...{ postings: 100, keptPostings: 1000 },
})

/** joined returns a report with the problems of both samples. */
export function joined(a: Sample, b: Sample): Sample {
  const { daemon: one = {}, campaigns: x = null } = a
  const { daemon: other = {}, campaigns: y = null } = b
  const conditions = [...(one.conditions ?? []), ...(other.conditions ?? [])]
  const campaigns =
    x === null || y === null
      ? (x ?? y)
      : {
          ...{ ...x, ...(y.state === 'done' ? {} : y) },
          entries: [...x.entries, ...y.entries],
          findings: [...x.findings, ...y.findings],
          failures: [...x.failures, ...y.failures],
        }
  return {
    ...{ ...a, ...b, campaigns },
    daemon: { ...one, ...other, conditions },
    service: { ...a.service, ...b.service },
    uploads: [...(a.uploads ?? []), ...(b.uploads ?? [])],
    skipped: [...(a.skipped ?? []), ...(b.skipped ?? [])],
    pausedFeeds: [...(a.pausedFeeds ?? []), ...(b.pausedFeeds ?? [])],
    paused: a.paused ?? b.paused ?? null,
  }
}
