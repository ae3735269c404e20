// What comes next for a version, and what a person can do about it. Pure.

import type { UploadReport, Version } from '../history/port.ts'
import { isBlocked } from '../history/reason-codes.ts'
import { NEEDS_PERSON } from '../history/states.ts'
import { isDue, LONGEST_ATTEMPT_WAIT_MS } from '../lib/due.ts'
import { relativeTime } from '../lib/units.ts'
import type { CommandLine } from './port.ts'

export interface NextStep {
  /** Plain sentences. */
  says: string[]
  /** Each one can be copied into a shell; one of them is to be chosen. */
  commands: string[]
}

export function needsPerson(
  upload: Pick<UploadReport, 'state' | 'reasonCode' | 'overdue'>,
): boolean {
  return NEEDS_PERSON.includes(upload.state) || upload.overdue || isBlocked(upload)
}

/** What is to be done, or what is waited for; nothing of either where all is well. */
export function nextStep(
  upload: Pick<UploadReport, NextStepFacts> & Which,
  now: number,
  commandLine: CommandLine,
): NextStep {
  const says = [...sentences(upload, now)]
  if (upload.overdue) {
    const when = relativeTime(upload.expectedBy, now)
    says.push(`its next version was expected ${when}: check whether its export still runs`)
  }
  return { says, commands: decisions(upload, commandLine) }
}

type NextStepFacts =
  | ('state' | 'hint' | 'guard' | 'nextAttemptAt' | 'deadlineAt')
  | ('overdue' | 'expectedBy')

/** A text stands for the id of any of several. */
type Which = { id: number | 'ID' }

/** The same as a sentence; null where nothing is to be said. */
export function nextText({ says, commands }: NextStep): string | null {
  const choice = commands.join(', or ')
  const told = says.join('; ')
  if (choice === '') return told || null
  return told === '' ? choice : `${told.replace(/\.$/, '')}; then ${choice}`
}

/** The hint of its state, and the command that decides; null where nothing is to be done. */
export function advice(
  version: Pick<Version, 'id' | 'state' | 'hint' | 'guard'>,
  commandLine: CommandLine,
): string | null {
  const says = version.hint === null ? [] : [version.hint]
  return nextText({ says, commands: decisions(version, commandLine) })
}

function decisions(
  { guard, id, state }: Pick<Version, 'guard' | 'state'> & Which,
  line: CommandLine,
): string[] {
  const all = guard === 'history-lost' ? [line('release --lost-history')] : []
  if (state === 'held') return [...all, line(`release ${id}`), line(`discard ${id}`)]
  return state === 'failed' ? [line(`retry ${id}`)] : []
}

function* sentences(
  upload: Pick<UploadReport, 'state' | 'hint' | 'nextAttemptAt' | 'deadlineAt'>,
  now: number,
): Generator<string> {
  const { state, hint } = upload
  switch (state) {
    case 'uploaded':
    case 'superseded':
    case 'discarded':
    case 'gone':
      return
    case 'settling':
    case 'checking':
    case 'uploading':
      yield hint ?? 'nothing to do; it is being worked on'
      return
    case 'queued':
      yield isDue(wallMs(upload.nextAttemptAt), now, LONGEST_ATTEMPT_WAIT_MS)
        ? 'delivered as soon as possible'
        : `next automatic attempt ${relativeTime(upload.nextAttemptAt, now)}`
      if (hint !== null) yield hint
      return
    case 'incomplete':
      yield hint ?? 'wait for its writer'
      yield `rejected ${relativeTime(upload.deadlineAt, now)}`
      return
    case 'rejected':
      yield hint ?? 'correct the export and drop the file again'
      return
    case 'held':
    case 'failed':
      if (hint !== null) yield hint
      return
    default:
      state satisfies never
  }
}

const wallMs = (iso: string | null) => (iso === null ? null : Date.parse(iso))
