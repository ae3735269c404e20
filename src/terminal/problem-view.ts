// Prints problems for people: each kind once, with its names and what to do. Commands stand on lines of their own.

import type { Command } from '../domain/command.ts'
import { limited } from '../lib/limited.ts'
import { printable } from '../lib/printable.ts'
import { countOf, relativeTime } from '../lib/units.ts'
import type { CommandLine } from '../ops/port.ts'
import { firstLine, type Problem, type Step, subjectName } from '../ops/problem.ts'
import type { Severity } from '../ops/problem-kinds.ts'
import { type AlikeProblems, alike } from '../ops/problems.ts'
import { type Display, styled } from './render.ts'

interface ProblemView extends Display {
  /** Wall ms. */
  now: number
  commandLine: CommandLine
  /** The command that shows all kinds of problems. */
  more: Command
}

const COLOUR = { critical: 'red', warning: 'yellow', info: 'gray' } as const
/** Largest number of kinds of problems, on a terminal and elsewhere; `--json` has them all. */
const MOST_KINDS = { elsewhere: 50, terminal: 12 }
/** Largest number of names in a line that is the same for several feeds. */
const MOST_NAMED = 3

const NOUNS = {
  ...{ feed: 'feed', path: 'file', account: 'account', campaign: 'campaign' },
  ...{ daemon: '', service: '' },
} as const

/** problemLines returns one block of lines for each kind of problem, the worst first, and how many are left out. */
export function problemLines(problems: readonly Problem[], view: ProblemView): string[] {
  const { commandLine, more } = view
  const blocks = alike(problems, commandLine).map((group) => blockOf(group, view))
  const most = view.terminal ? MOST_KINDS.terminal : MOST_KINDS.elsewhere
  return limited(
    blocks,
    most,
    (left) => `${countOf(left)} more kinds of problems\n    ${commandLine(more)}`,
  )
}

/** coloured colours a line by the severity of what it says; null leaves the line as it is. */
export function coloured(line: string, severity: Severity | null, display: Display): string {
  return severity === null ? line : styled(COLOUR[severity], line, display)
}

function blockOf({ next, problems }: AlikeProblems, view: ProblemView): string {
  const { now } = view
  const [first, ...others] = problems
  const { severity, since, subject } = first
  const ago = since === null || severity === 'info' ? '' : ` (${relativeTime(since, now)})`
  const says =
    others.length === 0
      ? firstLine(first) + ago
      : `${countOf(problems.length, NOUNS[subject.kind])} ${first.says}`
  const names = problems.map((each) => printable(subjectName(each.subject)))
  const lines = [
    coloured(`${severity}: ${printable(says)}`, severity, view),
    ...(others.length === 0 ? [] : [`  ${limited(names, MOST_NAMED).join(', ')}`]),
    ...next.map(stepLine),
  ]
  return lines.join('\n')
}

/** stepLine indents a command further than a sentence. */
export function stepLine(step: Step): string {
  return 'says' in step ? `  ${printable(step.says)}` : `    ${printable(step.command)}`
}
