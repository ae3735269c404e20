// The shape of a problem, and its first line.

import type { Form } from '../domain/command.ts'
import type { ProblemCode, Severity } from './problem-kinds.ts'
import type { VersionFacts } from './version-report.ts'

/** DecisionForm is a form of a command that decides about versions, by their ids. */
export type DecisionForm = Extract<Form, `${string} <id...>${string}`>

/** Largest number of versions that one suggested command decides about. A later command decides about the others. */
export const MOST_IDS = 30

/**
 * Step is a plain sentence, or a command that can be pasted into a shell. `form` is set if the command is the same for
 * another version, except for the id of the version.
 */
export type Step = { says: string } | { command: string; form?: DecisionForm | 'show <what>' }

/** Subject is what a problem is about. */
type Subject =
  | { kind: 'daemon' }
  | { kind: 'service' }
  /** `version` is null for a pause, which concerns all versions of the feed. */
  | { kind: 'feed'; feed: string; version: number | null }
  | { kind: 'path'; path: string }
  /** The partner account of a rule; null means the configured account. */
  | { kind: 'account'; account: string | null }
  /** External campaign id, or the service's id if no entry names the campaign; null if it concerns all campaigns. */
  | { kind: 'campaign'; campaign: string | null }

export interface Problem {
  code: ProblemCode
  severity: Severity
  subject: Subject
  /** What is wrong, without the name of the subject and without a full stop. */
  says: string
  /** ISO 8601 UTC; null if unknown. */
  since: string | null
  /** Sentences and pastable commands, in the order in which a person needs them. */
  next: Step[]
  /** Identifies the occurrence for alerts: a new mark for the same subject is a new occurrence. */
  mark: string
  /** The version that the problem is about; null if it is not about one version. */
  version: VersionFacts | null
}

/** ProblemReport is a problem as the JSON of `status` shows it. */
export interface ProblemReport extends Omit<Problem, 'mark' | 'next' | 'version'> {
  next: ({ says: string } | { command: string })[]
}

/** FoundProblem is a problem before the table gives it its severity. Without a mark, its code is its mark. */
export interface FoundProblem extends Omit<Problem, 'severity' | 'mark' | 'version'> {
  mark?: string
  version?: VersionFacts
}

/**
 * subjectName returns the name that the first line of a problem begins with. It is empty for the daemon, the service,
 * all campaigns, and an account, which the problem's sentence names itself.
 */
export function subjectName(subject: Subject): string {
  switch (subject.kind) {
    case 'feed':
      return subject.feed
    case 'path':
      return subject.path
    case 'campaign':
      return subject.campaign === null ? '' : `campaign ${subject.campaign}`
    default:
      return ''
  }
}

/** firstLine returns a problem as one sentence, the same everywhere. */
export function firstLine({ says, subject }: Problem): string {
  const name = subjectName(subject)
  return name === '' ? says : `${name} ${says}`
}
