// The next step of a version: what a person can do about it, or what it waits for. Pure functions.

import { commandFor, commandOf } from '../domain/command.ts'
import { OLDER, PAUSED, SECOND_FEED } from '../domain/reason-codes.ts'
import { isoTime } from '../lib/clock.ts'
import { isDue, LONGEST_ATTEMPT_WAIT_MS } from '../lib/due.ts'
import { feedWord } from '../lib/printable.ts'
import { countOf, relativeTime } from '../lib/units.ts'
import { differenceLine } from './difference-text.ts'
import type { CommandLine } from './port.ts'
import type { DecisionForm, Step } from './problem.ts'
import type { OnService } from './upload-report.ts'
import { type MaybeStored, REFUSALS_SHOWN, type VersionFacts } from './version-report.ts'

/**
 * Asked has what every judgement needs beside the facts: the current time, and the function that writes a command for
 * this host.
 */
export interface Asked {
  /** Wall ms. */
  now: number
  commandLine: CommandLine
}

/** DecisionFacts has the facts on which a next step depends. */
type DecisionFacts = Omit<VersionFacts, 'attempts'>

/** nextSteps returns what a version waits for, the hint of its reason, and the commands that decide about it. */
export function nextSteps(version: DecisionFacts, asked: Asked): Step[] {
  const { hint, overdue } = version
  const { now, commandLine } = asked
  const hints = hint === null ? [] : stepsOfHint(hint, commandLine)
  const late = overdue
    ? [{ says: 'check whether its export still runs, and where it writes to' }]
    : []
  return [...stepsOfState(version, hints, now), ...late, ...decisions(version, commandLine)]
}

function stepsOfState(version: DecisionFacts, hints: Step[], now: number): Step[] {
  const { guard, keptPostings, newerThanAll, nextAttemptAt, postings } = version
  const { reasonCode, rejectedAt, state } = version
  switch (state) {
    case 'queued': {
      const pauseEnds = nextAttemptAt === null ? '' : `, ${relativeTime(nextAttemptAt, now)}`
      if (reasonCode === PAUSED) return [{ says: `it is sent once the pause ends${pauseEnds}` }]
      const wallMs = nextAttemptAt === null ? null : Date.parse(nextAttemptAt)
      const says = isDue(wallMs, now, LONGEST_ATTEMPT_WAIT_MS)
        ? 'it is sent as soon as possible'
        : `next automatic attempt ${relativeTime(nextAttemptAt, now)}`
      return [{ says }, ...hints]
    }
    case 'incomplete': {
      const until = rejectedAt === null ? 'later' : `at ${clockText(rejectedAt, now)}`
      const first = hints.length > 0 ? hints : [{ says: 'wait for its writer' }]
      return [...first, { says: `it is rejected ${until} unless it grows` }]
    }
    case 'rejected':
      return hints.length > 0 ? hints : [{ says: 'correct the export and drop the file again' }]
    case 'superseded': {
      if (newerThanAll === null) return hints
      const { path } = newerThanAll
      return [
        {
          says: 'if these are not dates, write dated: false into the rule of this feed in "feeds:" and restart',
        },
        {
          says: `if the date of ${path} is wrong, restore the last export; then the next exports count again`,
        },
      ]
    }
    case 'held': {
      if (guard !== 'history-lost') return [...changesSteps(version), ...hints]
      const kept =
        keptPostings === null
          ? 'no copy of it was kept'
          : `${countOf(keptPostings)} in the largest kept copy`
      return [{ says: `look at it: ${countOf(postings ?? 0, 'posting')} now, ${kept}` }]
    }
    case 'settling':
      return hints.length > 0 ? hints : [{ says: SOON_READ }]
    default:
      return hints
  }
}

const SOON_READ = 'it is read as soon as it has not changed for the quiet period'

/** changesSteps says which postings a held version changes, or why this is not known. */
function changesSteps({ difference, guard }: DecisionFacts): Step[] {
  if (difference === null) return []
  const { older, summary } = difference
  // A further feed of an account has nothing to be compared with.
  if (older === null)
    return guard === 'second-feed' ? [] : [{ says: 'there is no earlier copy to compare it with' }]
  if (summary === null) return [{ says: `it could not be compared with version ${older}` }]
  return [{ says: `since version ${older}, ${differenceLine(summary)}` }]
}

const KEEPS_ALL = 'release <id...> --account-keeps-all'

/**
 * decisions returns the commands that decide about a version. For a held version, commands that only show more come
 * first.
 */
function decisions(version: DecisionFacts, commandLine: CommandLine): Step[] {
  const { difference, feed, id, reasonCode, refusals, state } = version
  const show: Step = { command: commandLine(commandFor('show <what>', id)), form: 'show <what>' }
  const decide = (form: DecisionForm): Step => ({
    command: commandLine(commandFor(form, [id])),
    form,
  })
  if (state === 'held') {
    const isComparable = difference !== null && difference.older !== null
    return [
      ...(isComparable
        ? [{ command: commandLine(commandFor('diff <what>', feedWord(feed))) }]
        : []),
      show,
      // A further feed is sent only by a command that also says that the service keeps all feeds of the account.
      decide(reasonCode === SECOND_FEED ? KEEPS_ALL : 'release <id...>'),
      decide('discard <id...>'),
    ]
  }
  if (state === 'superseded' && reasonCode === OLDER) return [decide('restore <id...>')]
  const isRefused = state === 'queued' && refusals >= REFUSALS_SHOWN
  return state === 'failed' || isRefused ? [decide('retry <id...>')] : []
}

/** logSteps returns the steps of a problem whose cause is in the log. */
export function logSteps(commandLine: CommandLine): Step[] {
  return [
    { says: 'look at the last lines of the log' },
    { command: commandLine(commandFor('logs')) },
  ]
}

/** stepText returns steps as one sentence that ends with the commands, or null if there are no steps. */
export function stepText(steps: readonly Step[]): string | null {
  const choice = steps.flatMap((step) => ('command' in step ? step.command : [])).join(', or ')
  const told = steps.flatMap((step) => ('says' in step ? step.says : [])).join('; ')
  if (choice === '') return told || null
  return told === '' ? choice : `${told.replace(/\.$/, '')}; then ${choice}`
}

/** stepsOfHint returns the words and the command of a hint as steps. */
export function stepsOfHint(hint: string, commandLine: CommandLine): Step[] {
  const { command, words } = commandOf(hint)
  if (command === null) return [{ says: words }]
  const says = words.replace(/(,? then)?: $/, '')
  return [...(says === '' ? [] : [{ says }]), { command: commandLine(command) }]
}

/** hintText returns a hint as text. `commandLine` writes the command in it as a person on this host types it. */
export function hintText(hint: string, commandLine: CommandLine): string {
  const { command, words } = commandOf(hint)
  return command === null ? words : words + commandLine(command)
}

/** clockText writes a time as `00:43 UTC`, with its date if it is not today. `now` is wall ms. */
export function clockText(iso: string, now: number): string {
  const at = iso.slice(0, 16).replace('T', ' ')
  const today = isoTime(now)?.slice(0, 10) ?? ''
  return `${at.startsWith(today) ? at.slice(today.length + 1) : at} UTC`
}

/** StoredFacts is what is known of the copy of a feed that the service has. */
interface StoredFacts {
  onService: OnService | null
  maybeOnService: MaybeStored | null
}

/** onServiceText describes the version of a feed that the service has, or might have. */
export function onServiceText({ maybeOnService, onService }: StoredFacts, now: number): string {
  const maybe = maybeOnService === null ? '' : `, but ${maybeText(maybeOnService)}`
  if (onService === null) return `no version of this feed${maybe}`
  const { id, postings, uploadedAt } = onService
  const since = uploadedAt === null ? '' : `, since ${clockText(uploadedAt, now)}`
  return `version ${id}, ${countOf(postings ?? 0, 'posting')}${since}${maybe}`
}

/** maybeText says that storage might have a version. */
export function maybeText({ id, postings }: MaybeStored): string {
  return `storage might have version ${id} (${countOf(postings ?? 0, 'posting')}), because its upload had no answer`
}
