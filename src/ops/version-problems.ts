// What is wrong with feeds and paths, and what waits. Pure.

import { commandFor } from '../domain/command.ts'
import { furtherFeedHint } from '../domain/further-feed.ts'
import { blockOf, SECOND_FEED } from '../domain/reason-codes.ts'
import { NOT_SENT, type State } from '../domain/states.ts'
import { limited } from '../lib/limited.ts'
import { countOf } from '../lib/units.ts'
import { type Asked, clockText, maybeText, nextSteps } from './advice.ts'
import type { ProblemFacts } from './judged.ts'
import { type FoundProblem, MOST_IDS } from './problem.ts'
import { KINDS, type ProblemCode, type Severity } from './problem-kinds.ts'
import { REFUSALS_SHOWN, type VersionFacts } from './version-report.ts'

/**
 * feedProblems returns the problems of feeds and paths. A late feed has its own problem beside the problem of its
 * version.
 */
export function feedProblems(judged: ProblemFacts, asked: Asked): FoundProblem[] {
  const { daemon, pausedFeeds, skipped, versions } = judged
  return [
    ...pausedFeeds.map(({ feed, since, ...pause }): FoundProblem => {
      const subject = { kind: 'feed', feed, version: null } as const
      const next = [{ command: asked.commandLine(commandFor('resume <feed>', feed)) }]
      return { code: 'feed-paused', subject, says: pauseText(pause, asked.now), since, next }
    }),
    ...versions.flatMap((version) => ofVersion(version, asked)),
    ...ofAccounts(versions, asked),
    ...skipped.map(({ hint, path, reason, since }): FoundProblem => {
      const subject = { kind: 'path', path } as const
      return { code: 'skipped', subject, says: `skipped: ${reason}`, since, next: [{ says: hint }] }
    }),
    ...daemon.unfinished.map(({ modifiedAt, path }): FoundProblem => {
      const subject = { kind: 'path', path } as const
      const next = [{ says: 'rename it if it is complete, otherwise remove it' }]
      const says = 'has a temporary name, and its writer has not renamed it'
      return { code: 'unfinished', subject, says, since: modifiedAt, next }
    }),
    ...afterLoss(versions, asked),
  ]
}

const DISCARD = 'discard <id...>'
/** How many feeds of an account the problem of the account names. */
const MOST_NAMED = 3

/** ofAccounts returns one problem for each account that has held further feeds, however many of them there are. */
function ofAccounts(versions: readonly VersionFacts[], asked: Asked): FoundProblem[] {
  const held = versions.filter((version) => codeOf(version) === 'second-feed')
  return [...Map.groupBy(held, ({ account }) => account)].flatMap(
    ([account, all]): FoundProblem[] => {
      const waiting = all.toSorted((a, b) => a.id - b.id)
      const [version] = waiting
      if (version === undefined) return []
      const names = limited(
        waiting.map(({ feed }) => feed),
        MOST_NAMED,
      ).join(', ')
      const says = `held: ${names}: ${version.reason}`
      const subject = { kind: 'account', account } as const
      const found = { code: 'second-feed', subject, says, since: sinceOf(version) } as const
      const first = waiting.slice(0, MOST_IDS)
      const hint = furtherFeedHint(first.map(({ path }) => path))
      const ids = first.map(({ id }) => id)
      const discard = { command: asked.commandLine(commandFor(DISCARD, ids)) }
      const next = nextSteps({ ...version, hint, overdue: false }, asked).map((step) =>
        'form' in step && step.form === DISCARD ? discard : step,
      )
      return [{ ...found, next, version }]
    },
  )
}

/** afterLoss returns one problem, with one command, for all feeds that are held because the history was lost. */
function afterLoss(versions: readonly VersionFacts[], { commandLine }: Asked): FoundProblem[] {
  const held = versions.filter(({ guard, state }) => state === 'held' && guard === 'history-lost')
  const [first] = held
  if (first === undefined) return []
  const says = `the history was lost, so ${countOf(held.length, 'feed')} ${held.length === 1 ? 'is' : 'are'} held once`
  const step =
    'look at each of them first; then release together all that have at least half of the postings of their largest kept copy'
  const next = [{ says: step }, { command: commandLine(commandFor('release --lost-history')) }]
  const since = sinceOf(first)
  return [{ code: 'history-lost', subject: { kind: 'daemon' }, says, since, next }]
}

/** pauseText says who paused and until when. */
export function pauseText(
  { by, until }: { by: string; until: string | null },
  now: number,
): string {
  return `paused by ${by}${until === null ? '' : ` until ${clockText(until, now)}`}`
}

function ofVersion(version: VersionFacts, asked: Asked): FoundProblem[] {
  const { attempts, expectedBy, feed, id, maybeOnService, overdue } = version
  const own = { subject: { kind: 'feed', feed, version: id }, version } as const
  const next = (of: VersionFacts) => nextSteps(of, asked)
  const found: FoundProblem[] = []
  const code = codeOf(version)
  if (code !== null && code !== 'second-feed') {
    const says = saysOf(version, code)
    const since = sinceOf(version)
    const mark = `${id}/${code === 'refused' ? code : attempts}`
    found.push({ ...own, code, says, since, next: next({ ...version, overdue: false }), mark })
  }
  const { newerThanAll } = version
  if (newerThanAll !== null) {
    const { id: newer, path } = newerThanAll
    const says = `its last three exports count as older than version ${newer} (${path}), by the dates in their names`
    const since = version.detectedAt
    const mark = String(newer)
    found.push({ ...own, code: 'always-older', says, since, next: next(version), mark })
  }
  if (maybeOnService !== null && NOT_SENT.includes(version.state)) {
    const says = `is ${version.state}, but ${maybeText(maybeOnService)}`
    const steps = [
      { says: 'the next upload of the feed settles it: drop its file again, or restore a version' },
      { command: asked.commandLine(commandFor('show <what>', `feed:${feed}`)) },
    ]
    const since = version.detectedAt
    found.push({ ...own, code: 'maybe-stored', says, since, next: steps, mark: String(id) })
  }
  if (overdue) {
    const by = expectedBy === null ? '' : ` by ${clockText(expectedBy, asked.now)}`
    const says = `overdue: its next version was expected${by}`
    const late = { ...version, state: 'uploaded', hint: null } as const
    const mark = expectedBy ?? ''
    found.push({ ...own, code: 'overdue', says, since: expectedBy, next: next(late), mark })
  }
  return found
}

/** JudgedState has the facts that decide how bad the state of a version is. */
export interface JudgedState {
  state: State
  reasonCode: string | null
  /** See `VersionFacts`. */
  refusals: number
}

/** codeOf returns which kind of problem the state of a version is; null if the state is not a problem. */
function codeOf(version: JudgedState): ProblemCode | null {
  const { refusals, state } = version
  switch (state) {
    case 'held':
      return version.reasonCode === SECOND_FEED ? 'second-feed' : state
    case 'rejected':
    case 'failed':
    case 'incomplete':
      return state
    case 'queued':
      return refusals >= REFUSALS_SHOWN ? 'refused' : 'queued'
    case 'settling':
      return blockOf(version) ?? 'working'
    case 'checking':
    case 'uploading':
      return 'working'
    case 'uploaded':
    case 'superseded':
    case 'discarded':
    case 'gone':
      return null
  }
}

/** severityOf returns how bad the state of a version is; null if the state is not a problem. */
export function severityOf(version: JudgedState): Severity | null {
  const code = codeOf(version)
  return code === null ? null : KINDS[code].severity
}

function saysOf({ reason, refusals, state }: VersionFacts, code: ProblemCode): string {
  const word = code === 'refused' ? `refused ${countOf(refusals)} times in a row` : state
  return reason === null ? word : `${word}: ${reason}`
}

/** sinceOf returns when the state of a version became a problem. */
function sinceOf({ detectedAt, incompleteSince, reachedAt, state }: VersionFacts): string | null {
  return (state === 'incomplete' ? incompleteSince : reachedAt) ?? detectedAt
}
