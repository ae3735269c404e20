// The one table of what can be wrong: how bad each kind of problem is, how `run --once` ends with it, and which alert
// reports it. problems.ts finds the problems; everything that people and monitors see only renders them.

import type { AlertEvent } from '../domain/alerts.ts'
import type { ConditionCode } from '../domain/conditions.ts'
import { EXIT } from '../lib/errors.ts'

/**
 * Severity says how bad a problem is. `critical`: feeds are not read or not sent, or nobody can know. `warning`: a
 * person has to act. `info`: it ends by itself.
 */
export type Severity = 'critical' | 'warning' | 'info'

interface ProblemKind {
  readonly severity: Severity
  /** The exit code of `run --once`, if no problem with a more important one exists. */
  readonly exit: number
  /** The alert that reports it; null if it is in `status` only. */
  readonly event: AlertEvent | null
}

const { credentials: REFUSED, notAllOk: DECIDE, ok: NONE, temporary: LATER } = EXIT

const kind = (severity: Severity, exit: number, event: AlertEvent | null): ProblemKind => {
  return { severity, exit, event }
}

/** The conditions of the daemon (domain/conditions.ts). */
const OF_CONDITIONS = {
  'scan-stuck': kind('critical', LATER, 'daemon'),
  'read-stuck': kind('warning', LATER, 'daemon'),
  'inbox-missing': kind('critical', LATER, 'daemon'),
  'inbox-unreadable': kind('critical', LATER, 'daemon'),
  'inbox-changed': kind('warning', NONE, 'daemon'),
  'state-full': kind('critical', LATER, 'daemon'),
  'state-read-only': kind('critical', LATER, 'daemon'),
  'state-failing': kind('critical', LATER, 'daemon'),
  'database-lost': kind('critical', LATER, 'daemon'),
  'database-damaged': kind('critical', LATER, 'daemon'),
  'database-locked': kind('critical', LATER, 'daemon'),
  'database-log-large': kind('warning', NONE, 'daemon'),
  /** The service refuses the key. */
  credentials: kind('critical', REFUSED, 'credentials'),
  /** The service refuses one account of several. */
  'account-refused': kind('warning', REFUSED, 'credentials'),
  'key-unreadable': kind('warning', NONE, 'daemon'),
  'internal-error': kind('critical', LATER, 'daemon'),
  'stop-stuck': kind('critical', NONE, 'daemon'),
  'watchdog-restart': kind('warning', NONE, 'daemon'),
  'dispositions-failing': kind('warning', NONE, 'daemon'),
  'hook-stuck': kind('warning', NONE, 'daemon'),
  'alerts-failing': kind('warning', NONE, 'daemon'),
  'config-broken': kind('critical', NONE, null),
} as const satisfies Record<ConditionCode, ProblemKind>

const TABLE = {
  ...OF_CONDITIONS,

  'daemon-down': kind('critical', NONE, null),
  'daemon-stuck': kind('critical', NONE, null),
  /** The folder was not listed for a minute or for three times `inbox.rescan`, whichever is longer. */
  'listing-late': kind('critical', NONE, null),
  'clock-off': kind('warning', NONE, 'daemon'),
  'endpoint-exposed': kind('info', NONE, null),

  /** The service or storage is down for 15 minutes or more. */
  'service-down': kind('critical', LATER, 'service'),
  'service-failing': kind('warning', LATER, null),
  'service-degraded': kind('warning', NONE, null),
  paused: kind('warning', LATER, null),
  'feed-paused': kind('warning', LATER, null),

  /** The history was lost, and each feed is held once. */
  'history-lost': kind('warning', DECIDE, null),
  rejected: kind('warning', DECIDE, 'rejected'),
  held: kind('warning', DECIDE, 'held'),
  /** Further feeds of an account wait for one answer about the account. */
  'second-feed': kind('warning', DECIDE, 'held'),
  failed: kind('warning', DECIDE, 'failed'),
  /** Service or storage refused the version three times in a row, each time with a fresh form. */
  refused: kind('warning', LATER, 'failed'),
  /** The disk has no room for a copy of the file. */
  'no-room': kind('warning', LATER, 'failed'),
  /** The file never stays the same for the quiet period. */
  'never-quiet': kind('warning', LATER, 'failed'),
  overdue: kind('warning', NONE, 'overdue'),
  /** The last three exports of a feed are older, by the dates in their names, than a version before them. */
  'always-older': kind('warning', NONE, 'overdue'),
  /** An upload had no answer, its version was then discarded, and nothing later is confirmed. */
  'maybe-stored': kind('warning', NONE, null),
  incomplete: kind('info', LATER, null),
  queued: kind('info', LATER, null),
  /** The version is read or sent now. */
  working: kind('info', LATER, null),

  skipped: kind('warning', DECIDE, null),
  /** An old file still has a temporary name. */
  unfinished: kind('info', NONE, null),

  'campaigns-unusable': kind('warning', DECIDE, 'campaigns-stopped'),
  'campaigns-refused': kind('warning', DECIDE, 'campaigns-stopped'),
  'campaigns-credentials': kind('warning', REFUSED, 'campaigns-stopped'),
  /** The service could not be asked, or another process wrote campaigns, for an hour. */
  'campaigns-down': kind('warning', LATER, 'campaigns-stopped'),
  'campaigns-failing': kind('info', LATER, null),
  /** The daemon has not looked at the campaigns for three hours. */
  'campaigns-late': kind('warning', NONE, null),
  'campaign-unknown': kind('warning', DECIDE, 'campaign-unknown'),
  'campaign-blocked': kind('warning', DECIDE, 'campaign-waiting'),
  /** The campaign has waited for `campaigns apply` for an hour. */
  'campaign-differs': kind('warning', DECIDE, 'campaign-waiting'),
  'campaign-differs-since-now': kind('info', DECIDE, null),
  /** The daemon could not send the campaign's targeting for two hours. */
  'campaign-pending': kind('warning', DECIDE, 'campaign-waiting'),
  'campaign-finding': kind('warning', DECIDE, 'campaign-waiting'),
  /** What the campaign covers, has spent, or has left is not as expected. */
  'campaign-numbers': kind('warning', NONE, 'campaign-waiting'),
  'campaign-write-failed': kind('warning', DECIDE, 'campaign-waiting'),
  'campaign-write-repeats': kind('info', DECIDE, null),
} as const satisfies Record<string, ProblemKind>

export type ProblemCode = keyof typeof TABLE

export const KINDS: Readonly<Record<ProblemCode, ProblemKind>> = TABLE

export const PROBLEM_CODES = Object.keys(TABLE) as ProblemCode[]

export const SEVERITIES: readonly Severity[] = ['critical', 'warning', 'info']
