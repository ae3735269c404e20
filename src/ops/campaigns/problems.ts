// What is wrong with campaigns, from the daemon's last look at them. Pure.

import { commandFor, hintWith } from '../../domain/command.ts'
import { HOUR } from '../../lib/clock.ts'
import { isRecent } from '../../lib/due.ts'
import { limited } from '../../lib/limited.ts'
import { type Asked, clockText, logSteps, stepsOfHint } from '../advice.ts'
import type { ProblemFacts } from '../judged.ts'
import type { FoundProblem, Problem } from '../problem.ts'
import type { ProblemCode } from '../problem-kinds.ts'
import type { CampaignRun, CampaignSeen } from './run.ts'

/** A person is told after this time that an entry waits for `campaigns apply`, or that the service does not answer. */
const GRACE_MS = HOUR
/** The daemon sends targeting itself, so a person is told only when a change was not sent for this long. */
const PENDING_MS = 2 * HOUR
/** The daemon looks at the campaigns each hour. After this time its last look is late. */
const LATE_LOOK_MS = 3 * HOUR
/** The outcomes of a write that another try would not change. */
const PERMANENT_OUTCOMES = ['refused', 'not-as-sent']
const MOST_CHANGES = 3
/** Findings about what a campaign covers and spends: a person should look, but the daemon has nothing left to do. */
const ABOUT_NUMBERS = ['covers-none', 'covers-more', 'covers-fewer', 'spent', 'missing']

/** campaignProblems returns the problems that the last look at the campaigns found. */
export function campaignProblems(run: CampaignRun | null, asked: Asked): FoundProblem[] {
  if (run === null) return []
  const problemOf: ProblemOf = (campaign, code, words) => {
    const { mark, next, says, since = run.at } = words
    const steps = next === null ? [] : stepsOfHint(next, asked.commandLine)
    const subject = { kind: 'campaign', campaign } as const
    return { code, subject, says, since, next: steps, mark: mark ?? `${code} ${next}` }
  }
  return [
    ...stopped(run, problemOf),
    ...run.entries.flatMap((entry) => ofEntry(entry, run, problemOf)),
    ...run.findings
      .filter(({ severity }) => severity === 'warning')
      .map(({ campaignId, code, key, next, text }) =>
        problemOf(
          key ?? campaignId,
          ABOUT_NUMBERS.includes(code) ? 'campaign-numbers' : 'campaign-finding',
          {
            says: `${code}: ${text}`,
            next,
            mark: `${code} ${campaignId}`,
          },
        ),
      ),
    ...run.failures.map(({ key, outcome, reason }) => {
      const isPermanent = PERMANENT_OUTCOMES.includes(outcome)
      return problemOf(key, isPermanent ? 'campaign-write-failed' : 'campaign-write-repeats', {
        says: `${outcome}: ${reason ?? 'a write did not succeed'}`,
        next: hintWith(null, commandFor('campaigns plan')),
        mark: outcome,
      })
    }),
  ]
}

/** campaignsInTrouble counts the campaigns that need a person. A problem of all campaigns counts as one. */
export function campaignsInTrouble(all: readonly Problem[]): number {
  const names = all.flatMap(({ subject }) =>
    subject.kind === 'campaign' ? [subject.campaign] : [],
  )
  return new Set(names).size
}

interface CampaignWords {
  says: string
  next: string | null
  since?: string
  mark?: string
}

/** ProblemOf makes a problem; `campaign` is null if the problem concerns all campaigns. */
type ProblemOf = (campaign: string | null, code: ProblemCode, words: CampaignWords) => FoundProblem

/** stopped returns the problem of a look that did not end with `done`. */
function stopped(run: CampaignRun, problemOf: ProblemOf): FoundProblem[] {
  const { hint, problem, since, state } = run
  const isLong = lasted(run, since, GRACE_MS)
  const codes = {
    done: null,
    unusable: 'campaigns-unusable',
    refused: 'campaigns-refused',
    credentials: 'campaigns-credentials',
    failed: isLong ? 'campaigns-down' : 'campaigns-failing',
    busy: isLong ? 'campaigns-down' : 'campaigns-failing',
  } as const
  const code = codes[state]
  if (code === null) return []
  const says = `no campaign is written: ${problem ?? state}`
  return [problemOf(null, code, { says, next: hint, since, mark: state })]
}

/** lateLook returns the problem of a running daemon that has not looked at the campaigns for three hours. */
export function lateLook(
  { campaigns, daemon }: ProblemFacts,
  { commandLine, now }: Asked,
): FoundProblem[] {
  if (campaigns === null || !daemon.running) return []
  const { at } = campaigns
  if (isRecent(Date.parse(at), now, LATE_LOOK_MS)) return []
  const subject = { kind: 'campaign', campaign: null } as const
  const says = `the daemon last looked at the campaigns at ${clockText(at, now)}`
  const next = logSteps(commandLine)
  return [{ code: 'campaigns-late', subject, says, since: at, next }]
}

function ofEntry(entry: CampaignSeen, run: CampaignRun, problemOf: ProblemOf): FoundProblem[] {
  const { key, next, since, state } = entry
  const codes: { [state in CampaignSeen['state']]: ProblemCode | null } = {
    'in line': null,
    blocked: 'campaign-blocked',
    unknown: 'campaign-unknown',
    new: lasted(run, since, GRACE_MS) ? 'campaign-differs' : 'campaign-differs-since-now',
    differs: lasted(run, since, GRACE_MS) ? 'campaign-differs' : 'campaign-differs-since-now',
    pending: lasted(run, since, PENDING_MS) ? 'campaign-pending' : null,
  }
  const code = codes[state]
  if (code === null) return []
  const why = whyOf(entry)
  const says = why === null ? state : `${state}: ${why}`
  return [problemOf(key, code, { says, next, since, mark: `${state} ${next}` })]
}

/** whyOf returns why an entry is in its state; null if nothing more is known. */
function whyOf({ campaignId, changes, reason, state }: CampaignSeen): string | null {
  if (reason !== null) return reason
  if (state !== 'new') return limited(changes, MOST_CHANGES).join('; ') || null
  return campaignId === null
    ? 'it is not created yet'
    : limited([`campaign ${campaignId} is not bound to it yet`, ...changes], MOST_CHANGES).join(
        '; ',
      )
}

/** lasted returns whether the look was at least `ms` after `since`. */
function lasted({ at }: CampaignRun, since: string, ms: number): boolean {
  return Date.parse(at) - Date.parse(since) >= ms
}
