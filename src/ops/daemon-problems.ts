// What is wrong with the daemon, its host and the service. Pure.

import { commandFor } from '../domain/command.ts'
import type { ConditionCode } from '../domain/conditions.ts'
import { MINUTE } from '../lib/clock.ts'
import { isRecent } from '../lib/due.ts'
import { countOf, formatDuration } from '../lib/units.ts'
import { type Asked, clockText, logSteps, stepsOfHint } from './advice.ts'
import type { ProblemFacts } from './judged.ts'
import type { FoundProblem, Step } from './problem.ts'
import type { ProblemCode } from './problem-kinds.ts'
import type { DaemonReport, UnitState } from './report.ts'
import { pauseText } from './version-problems.ts'

/** The loop writes a heartbeat every 30 s. A heartbeat older than this means a stuck process. */
const SILENT_MS = 2 * MINUTE
/** An outage that lasts longer is critical. */
const LONG_OUTAGE_MS = 15 * MINUTE
/** Requests carry the time of the service's clock, so a smaller error of this host's clock does no harm. */
const CLOCK_OFF_MS = 5 * MINUTE

const DAEMON = { kind: 'daemon' } as const
const SERVICE = { kind: 'service' } as const

export function daemonProblems(judged: ProblemFacts, asked: Asked): FoundProblem[] {
  const { daemon, paused } = judged
  const since = paused?.since ?? null
  const says = paused && `nothing is sent: ${pauseText(paused, asked.now)}`
  const resume = [{ command: asked.commandLine(commandFor('resume')) }]
  return [
    ...conditionProblems(judged, asked),
    ...(daemon.running ? stuckProblems(judged, asked) : [downProblem(judged, asked)]),
    ...serviceProblems(judged, asked),
    ...(says === null
      ? []
      : [{ code: 'paused', subject: DAEMON, says, since, next: resume } as const]),
    ...clockProblems(judged),
    ...exposureProblems(judged),
  ]
}

function conditionProblems({ daemon }: ProblemFacts, { commandLine }: Asked): FoundProblem[] {
  return daemon.conditions.map(({ code, hint, mark, message, since }) => {
    const next = hint === null ? [] : stepsOfHint(hint, commandLine)
    const isOfService = code === 'credentials' || code === 'account-refused'
    return {
      code,
      subject: isOfService ? SERVICE : DAEMON,
      says: message,
      since,
      next,
      mark: mark ?? code,
    }
  })
}

/** After these conditions a start would fail in the same way. */
const NOT_HEALED_BY_START: readonly ConditionCode[] = [
  'config-broken',
  'database-damaged',
  'state-failing',
  'state-full',
  'state-read-only',
]

function downProblem({ daemon }: ProblemFacts, asked: Asked): FoundProblem {
  const { conditions, heartbeatAt, historyIsMissing, unit } = daemon
  const found = { code: 'daemon-down', subject: DAEMON, since: heartbeatAt } as const
  const ended = unit === null ? null : whyUnitEnded(unit, asked)
  const says = `the daemon is not running${ended === null ? '' : `: ${ended.reason}`}`
  if (historyIsMissing) {
    const step =
      'put the database back first, as its condition says: without it, a start begins an empty history'
    return { ...found, says, next: [{ says: step }] }
  }
  if (conditions.some(({ code }) => NOT_HEALED_BY_START.includes(code)))
    return {
      ...found,
      says,
      next: [{ says: 'correct the other critical problems, then start the daemon' }],
    }
  if (ended !== null) return { ...found, says, next: ended.next }
  return { ...found, says, next: [{ command: startCommand(daemon, asked) }] }
}

/** whyUnitEnded returns why the unit failed and what to do; null if the unit ended well or systemd does not know. */
function whyUnitEnded(
  unit: UnitState,
  { commandLine }: Asked,
): { reason: string; next: Step[] } | null {
  const { exitStatus, name, result } = unit
  if (result === null || result === 'success') return null
  const look = { command: `systemctl status ${name} --no-pager` }
  switch (exitStatus) {
    case 243: {
      const reason = 'systemd could not read the key file for the unit (exit 243)'
      const step =
        'write the key to the file that LoadCredential= of the unit names, as root with mode 0600, and then start the unit'
      return { reason, next: [{ says: step }, look] }
    }
    case 78:
      return {
        reason: 'its configuration or its history cannot be used (exit 78)',
        next: [{ command: commandLine(commandFor('config check')) }, look],
      }
    default:
      return { reason: `its unit ended with ${result} (exit ${exitStatus})`, next: [look] }
  }
}

/** startCommand returns the command that starts this daemon again. */
function startCommand({ startWith, unit }: DaemonReport, { commandLine }: Asked): string {
  if (startWith !== null) return startWith
  return unit === null ? commandLine(commandFor('run')) : `systemctl start ${unit.name}`
}

/** stuckProblems finds a process whose loop has stopped, or a running daemon that does not list the folder. */
function stuckProblems(judged: ProblemFacts, asked: Asked): FoundProblem[] {
  const { daemon } = judged
  const { now } = asked
  const { heartbeatAt, lastScanAt, pid, startedAt } = daemon
  // A sign of life from the future proves only that a clock is or was wrong.
  if (heartbeatAt !== null && now - Date.parse(heartbeatAt) > SILENT_MS) {
    const says = `the daemon is stuck: its last sign of life was at ${clockText(heartbeatAt, now)}`
    const { startWith, unit } = daemon
    const end = 'end its process and start it again; this loses nothing'
    const next: Step[] =
      unit !== null && startWith === null
        ? [{ command: `systemctl restart ${unit.name}` }]
        : [{ says: end }, { command: `kill -KILL ${pid}` }]
    return [{ code: 'daemon-stuck', subject: DAEMON, says, since: heartbeatAt, next }]
  }
  const since = lastScanAt ?? startedAt
  if (since === null || isRecent(Date.parse(since), now, daemon.staleAfterMs)) return []
  const ageMs = now - Date.parse(since)
  const says =
    ageMs < 0
      ? `the last listing of the folder is dated ${formatDuration(-ageMs)} ahead: the clock of this host is or was wrong`
      : lastScanAt === null
        ? `the daemon has run since ${clockText(since, now)} and has not listed the folder yet`
        : `the folder was not listed since ${clockText(since, now)}`
  const next = logSteps(asked.commandLine)
  return [{ code: 'listing-late', subject: DAEMON, says, since, next }]
}

function serviceProblems(
  { service, versions }: ProblemFacts,
  { commandLine, now }: Asked,
): FoundProblem[] {
  const { reason, since, state } = service
  if (state !== 'down' && state !== 'degraded') return []
  const waiting = versions.filter((version) => version.state === 'queued').length
  const because = reason === null ? '' : `: ${reason}`
  const next = [{ command: commandLine(commandFor('doctor')) }]
  const found = { subject: SERVICE, since, next }
  if (state === 'degraded')
    return [{ ...found, code: 'service-degraded', says: `some requests fail${because}` }]
  const isLong = since !== null && now - Date.parse(since) >= LONG_OUTAGE_MS
  const code: ProblemCode = isLong ? 'service-down' : 'service-failing'
  const at = since === null ? '' : ` since ${clockText(since, now)}`
  const feeds =
    waiting === 0 ? '' : `; ${countOf(waiting, 'feed')} ${waiting === 1 ? 'waits' : 'wait'}`
  return [{ ...found, code, says: `the service is down${at}${because}${feeds}` }]
}

function clockProblems({ service }: ProblemFacts): FoundProblem[] {
  const { clockSkewMs } = service
  if (clockSkewMs === null || Math.abs(clockSkewMs) < CLOCK_OFF_MS) return []
  const way = clockSkewMs > 0 ? 'behind' : 'ahead of'
  const says = `the clock of this host is ${formatDuration(Math.abs(clockSkewMs))} ${way} the clock of the service`
  const next = [{ says: 'correct the clock' }, { command: 'timedatectl' }]
  return [{ code: 'clock-off', subject: DAEMON, says, since: null, next }]
}

function exposureProblems({ daemon }: ProblemFacts): FoundProblem[] {
  if (daemon.exposedAt === null) return []
  const says = `the page at ${daemon.exposedAt} is open to other hosts, and has no login`
  const next = [
    { says: 'set http.listen to a loopback address, or let only trusted hosts reach it' },
  ]
  return [{ code: 'endpoint-exposed', subject: DAEMON, says, since: null, next }]
}
