// What the journal says of a version.

import type { Log } from '../lib/log.ts'
import type { State, Version } from './port.ts'
import { sentenceOf } from './version-text.ts'

/** What an operator reads in the journal without asking for more. */
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
