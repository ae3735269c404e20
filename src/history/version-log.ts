// Owns the log lines about a version.

import type { Log } from '../lib/log.ts'
import { formatBytes } from '../lib/units.ts'
import type { State } from './port.ts'
import type { Version } from './rows.ts'

/** The log level of each state; the other states are logged as `debug`. */
const LOG_LEVELS: Partial<Record<State, 'info' | 'warn'>> = {
  uploaded: 'info',
  incomplete: 'info',
  superseded: 'info',
  gone: 'info',
  rejected: 'warn',
  held: 'warn',
  failed: 'warn',
}

export function logDetected(log: Log, { id, feed, path }: Version): void {
  log.info({ event: 'feed.detected', id, feed, path }, `${feed} detected`)
}

export function logMoved(log: Log, version: Version): void {
  const { feed, id, reason, reasonCode: code, state } = version
  const level = LOG_LEVELS[state] ?? 'debug'
  log[level]({ event: 'feed.state', id, feed, state, reason, code }, sentenceOf(version))
}

/** sentenceOf describes a version in a sentence: `jobs.xml uploaded: 40 postings, 114 KiB`. */
function sentenceOf({ bytes, feed, postings, reason, state }: Version): string {
  const facts = postings === null ? null : `${postingsText(postings)}, ${formatBytes(bytes ?? 0)}`
  const told = state === 'uploaded' ? facts : reason
  return told === null ? `${feed} ${state}` : `${feed} ${state}: ${told}`
}

export const postingsText = (postings: number | null) =>
  `${postings} posting${postings === 1 ? '' : 's'}`
