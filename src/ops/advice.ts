// The next step of a version, and what a person can do about it. Pure functions.

import type { Version } from '../history/port.ts'
import { isBlocked, OLDER, PAUSED } from '../history/reason-codes.ts'
import { NEEDS_PERSON } from '../history/states.ts'
import { isoTime } from '../lib/clock.ts'
import { isDue, LONGEST_ATTEMPT_WAIT_MS } from '../lib/due.ts'
import { shellWord } from '../lib/printable.ts'
import { relativeTime } from '../lib/units.ts'
import type { CommandLine } from './port.ts'
import type { pauseReports, UploadReport } from './report.ts'

export interface NextStep {
  /** Plain sentences about what to do or what the version waits for. */
  says: string[]
  /** Alternatives: the person runs one of them. Each can be pasted into a shell. */
  commands: string[]
}

export function needsPerson(
  upload: Pick<UploadReport, 'state' | 'reasonCode' | 'overdue'>,
): boolean {
  return NEEDS_PERSON.includes(upload.state) || upload.overdue || isBlocked(upload)
}

/** `id` is the text `ID` where one step is shown for several versions. */
type Facts = Pick<
  UploadReport,
  | 'state'
  | 'reasonCode'
  | 'hint'
  | 'guard'
  | 'nextAttemptAt'
  | 'incompleteSince'
  | 'overdue'
  | 'expectedBy'
> & { id: number | 'ID' }

/** nextStep returns what to do about a version, or what it waits for. Both lists are empty if all is well. */
export function nextStep(upload: Facts, now: number, commandLine: CommandLine): NextStep {
  const says = sentences(upload, now).map((each) => hintText(each, commandLine))
  if (upload.overdue) {
    const when = relativeTime(upload.expectedBy, now)
    says.push(`its next version was expected ${when}: check whether its export still runs`)
  }
  return { says, commands: decisions(upload, commandLine) }
}

/** pauseLines returns for each pause what it stops, when it began, when it ends, and the command that ends it. */
export function pauseLines(
  { paused, pausedFeeds }: ReturnType<typeof pauseReports>,
  now: number,
  commandLine: CommandLine,
): { says: string; ends: string }[] {
  const all = [...(paused === null ? [] : [{ feed: null, ...paused }]), ...pausedFeeds]
  return all.map(({ by, feed, since, until }) => {
    const what = feed === null ? 'nothing is sent' : `nothing of ${feed} is sent`
    const at = until?.slice(0, 16).replace('T', ' ')
    const end = until === null ? '' : `, until ${at} UTC (${relativeTime(until, now)})`
    return {
      says: `${what}: paused by ${by} ${relativeTime(since, now)}${end}`,
      ends: commandLine(feed === null ? 'resume' : `resume ${shellWord(feed)}`),
    }
  })
}

/** onServiceText describes the version of a feed that the service has. */
export function onServiceText(stored: UploadReport['onService'], now: number): string {
  if (stored === null) return 'nothing of this feed'
  const { id, postings, uploadedAt } = stored
  const at = uploadedAt?.slice(0, 16).replace('T', ' ') ?? ''
  const today = isoTime(now)?.slice(0, 10) ?? ''
  const since = at.startsWith(today) ? at.slice(today.length + 1) : at
  return `version ${id}, ${postings === 1 ? '1 posting' : `${postings} postings`}, since ${since} UTC`
}

/** nextText returns a next step as one sentence, or null if it is empty. */
export function nextText({ says, commands }: NextStep): string | null {
  const choice = commands.join(', or ')
  const told = says.join('; ')
  if (choice === '') return told || null
  return told === '' ? choice : `${told.replace(/\.$/, '')}; then ${choice}`
}

/** advice returns a version's hint and the commands that decide about it, or null if there is nothing to do. */
export function advice(
  version: Pick<Version, 'id' | 'state' | 'hint' | 'guard' | 'reasonCode'>,
  commandLine: CommandLine,
): string | null {
  const says = version.hint === null ? [] : [hintText(version.hint, commandLine)]
  return nextText({ says, commands: decisions(version, commandLine) })
}

function decisions(
  { guard, id, reasonCode, state }: Pick<Facts, 'guard' | 'id' | 'reasonCode' | 'state'>,
  line: CommandLine,
): string[] {
  const all = guard === 'history-lost' ? [line('release --lost-history')] : []
  if (state === 'held') return [...all, line(`release ${id}`), line(`discard ${id}`)]
  if (state === 'superseded' && reasonCode === OLDER) return [line(`restore ${id}`)]
  return state === 'failed' ? [line(`retry ${id}`)] : []
}

function sentences(
  { state, reasonCode, hint, nextAttemptAt, incompleteSince }: Facts,
  now: number,
): string[] {
  const hints = hint === null ? [] : [hint]
  switch (state) {
    case 'settling':
    case 'checking':
    case 'uploading':
      return [hint ?? 'nothing to do; it is being worked on']
    case 'queued': {
      const pauseEnds = nextAttemptAt === null ? '' : `, ${relativeTime(nextAttemptAt, now)}`
      if (reasonCode === PAUSED) return [`it is sent once the pause ends${pauseEnds}`]
      const isNow = isDue(wallMs(nextAttemptAt), now, LONGEST_ATTEMPT_WAIT_MS)
      const again = `next automatic attempt ${relativeTime(nextAttemptAt, now)}`
      return [isNow ? 'delivered as soon as possible' : again, ...hints]
    }
    case 'incomplete':
      return [
        hint ?? 'wait for its writer',
        `it last grew ${relativeTime(incompleteSince, now)} and is rejected after inbox.incompleteAfter`,
      ]
    case 'rejected':
      return [hint ?? 'correct the export and drop the file again']
    case 'held':
    case 'failed':
      return hints
    default:
      return []
  }
}

const wallMs = (iso: string | null) => (iso === null ? null : Date.parse(iso))

/**
 * hintText returns a hint such as `wait, then: feedsyncd status` with the command as this host calls it. The command is
 * the whole hint, or it follows a colon at the end.
 */
export function hintText(hint: string, commandLine: CommandLine): string {
  const { says, command } = partsOfHint(hint, commandLine)
  return says + (command ?? '')
}

/** partsOfHint splits a hint into its words and its command. `command` is null if the hint has none. */
export function partsOfHint(hint: string, commandLine: CommandLine) {
  const found = /^(.*: )?feedsyncd (.*)$/.exec(hint)
  if (found === null) return { says: hint, command: null }
  const [, says = '', command = ''] = found
  return { says, command: commandLine(command) }
}
