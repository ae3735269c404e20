// problems decides what is wrong and what waits for a person. `status`, its JSON and `--check`, the page, alerts,
// /readyz, systemd's status line, `doctor` and the exit code of `run --once` only render its answer. Pure.

import { commandFor } from '../domain/command.ts'
import { EXIT } from '../lib/errors.ts'
import type { Asked } from './advice.ts'
import { campaignProblems, lateLook } from './campaigns/problems.ts'
import type { CampaignRun } from './campaigns/run.ts'
import { daemonProblems } from './daemon-problems.ts'
import type { ProblemFacts } from './judged.ts'
import type { CommandLine } from './port.ts'
import {
  type FoundProblem,
  MOST_IDS,
  type Problem,
  type ProblemReport,
  type Step,
} from './problem.ts'
import { KINDS, SEVERITIES, type Severity } from './problem-kinds.ts'
import { feedProblems } from './version-problems.ts'

/** problems returns what is wrong or waits for a person, the worst first. */
export function problems(judged: ProblemFacts, asked: Asked): Problem[] {
  return withSeverity([
    ...daemonProblems(judged, asked),
    ...feedProblems(judged, asked),
    ...campaignProblems(judged.campaigns, asked),
    ...lateLook(judged, asked),
  ])
}

/** withSeverity gives each problem the severity of its kind, and returns the worst first. */
function withSeverity(found: readonly FoundProblem[]): Problem[] {
  const all = found.map((one): Problem => {
    return { mark: one.code, version: null, ...one, severity: KINDS[one.code].severity }
  })
  return SEVERITIES.flatMap((severity) => all.filter((one) => one.severity === severity))
}

/** campaignProblemsOf returns only the problems of campaigns. */
export function campaignProblemsOf(run: CampaignRun | null, asked: Asked): Problem[] {
  return withSeverity(campaignProblems(run, asked))
}

/** problemReport returns a problem as the JSON of `status` shows it. */
export function problemReport({ mark: _, version: __, ...problem }: Problem): ProblemReport {
  const next = problem.next.map((step) => ('says' in step ? step : { command: step.command }))
  return { ...problem, next }
}

/** worst returns the severity of the worst problem, which is the first of `all`; null if there is no problem. */
export function worst(all: readonly Problem[]): Severity | null {
  return all[0]?.severity ?? null
}

/** The exit codes of `run --once`, the most important first. */
const EXITS = [EXIT.notAllOk, EXIT.credentials, EXIT.temporary]

/** exitOf returns the exit code of `run --once` with these problems. */
export function exitOf(all: readonly Problem[]): number {
  const exits = new Set<number>(all.map(({ code }) => KINDS[code].exit))
  return EXITS.find((exit) => exits.has(exit)) ?? EXIT.ok
}

/** AlikeProblems are problems that differ only in their subjects. */
export interface AlikeProblems {
  problems: readonly [Problem, ...Problem[]]
  next: Step[]
}

/**
 * alike groups problems with the same sentence and the same next steps. In the next steps of a group, a command that
 * decides about versions names the versions of the whole group, at most MOST_IDS.
 */
export function alike(all: readonly Problem[], commandLine: CommandLine): AlikeProblems[] {
  const groups = Map.groupBy(all, ({ code, next, says, version }) => {
    // The sentences of queued versions differ by the time of the next attempt.
    const steps = version?.state === 'queued' ? next.filter((step) => 'command' in step) : next
    return JSON.stringify([code, says, steps.map(withoutId)])
  })
  return [...groups.values()].map((group) => {
    const problems = group as [Problem, ...Problem[]]
    const next = problems.length === 1 ? problems[0].next : nextOfAll(problems, commandLine)
    return { problems, next }
  })
}

/** withoutId returns the part of a step that is the same for every version. */
function withoutId(step: Step): Step | { form: string } {
  return 'says' in step || step.form === undefined ? step : { form: step.form }
}

function nextOfAll(group: AlikeProblems['problems'], commandLine: CommandLine): Step[] {
  const ids = group.flatMap(({ version }) => version?.id ?? []).slice(0, MOST_IDS)
  const left = group.length - ids.length
  const steps = group[0].next.map((step) => {
    if ('says' in step || step.form === undefined || step.form === 'show <what>') return step
    return { command: commandLine(commandFor(step.form, ids)) }
  })
  const isCut = ids.length > 0 && left > 0 && steps.some((step) => 'command' in step)
  return isCut ? [...steps, { says: `${left} more follow when these are decided` }] : steps
}
