// Builds the message to a receiver from the changes that one look found, as JSON and as environment variables. Names
// and reasons come from the vendor's folder, so each becomes one line of plain text.

import { hash } from 'node:crypto'
import { isoTime } from '../../lib/clock.ts'
import type { AlertEvent } from '../alert-events.ts'
import type { CommandLine } from '../port.ts'
import { type AlertChange, type Change, NO_FACTS } from './changes.ts'

export interface AlertMessage {
  schemaVersion: 1
  /** A repeated message has the same id, so a receiver can ignore it. */
  id: string
  /** ISO 8601 UTC. */
  at: string
  host: string
  /** `several` if the changes are of different kinds. */
  event: AlertEvent | 'recovered' | 'several' | 'test'
  /** The whole message in one sentence. Chat services show the field `text`. */
  text: string
  /** Number of all changes; `changes` holds the first 100. */
  count: number
  changes: AlertChange[]
}

export interface Origin {
  /** Wall ms. */
  at: number
  host: string
  /** Number of earlier messages to this receiver: it gives the same problem a month later another message id. */
  sequence: number
  commandLine: CommandLine
}

const MOST_CHANGES = 100
/** Changes that the text describes. */
const MOST_IN_TEXT = 5
const MOST_CHARACTERS = 1000

export function alertMessage(
  changes: readonly Change[],
  { at, commandLine, host, sequence }: Origin,
): AlertMessage {
  const shown = changes.slice(0, MOST_CHANGES).map(shownChange)
  const told = shown.slice(0, MOST_IN_TEXT).map(sentence)
  const left = changes.length - told.length
  if (left > 0) told.push(`and ${left} more: ${commandLine('status')}`)
  const text = told.length === 1 ? told[0] : `${changes.length} changes: ${told.join(' | ')}`
  const [kind = 'several', ...others] = new Set(
    changes.map(({ event, recovered }) => (recovered ? 'recovered' : event)),
  )
  const identity = changes.map(({ key, mark, recovered }) => [recovered, key, mark])
  return {
    ...heading(JSON.stringify([host, sequence, identity]), at, host),
    event: others.length === 0 ? kind : 'several',
    text: `feedsyncd on ${host}: ${text}`,
    count: changes.length,
    changes: shown,
  }
}

/** testMessage builds the message of `feedsyncd alerts test`. */
export function testMessage({ at, host }: Pick<Origin, 'at' | 'host'>): AlertMessage {
  const text = `feedsyncd on ${host}: this is a test; alerts arrive here`
  return { ...heading(`test ${host} ${at}`, at, host), event: 'test', text, count: 0, changes: [] }
}

function heading(identity: string, at: number, host: string) {
  const id = hash('sha256', identity).slice(0, 32)
  return { schemaVersion: 1 as const, id, at: isoTime(at) ?? '', host }
}

/**
 * alertVariables returns FEEDSYNCD_ALERT_*, so that a script need not read JSON: `reasonCode` becomes
 * FEEDSYNCD_ALERT_REASON_CODE. A missing fact is an empty text. RECOVERED holds the event that is over.
 */
export function alertVariables(message: AlertMessage): Record<string, string> {
  const { id, at, event, text, count, changes } = message
  const [first] = changes
  const change = count === 1 && first !== undefined ? first : { ...NO_FACTS, event }
  const recovered = change.recovered ? change.event : null
  const fields = { ...change, id, at, event, text, count, recovered }
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const upper = name.replace(/[A-Z]/g, '_$&').toUpperCase()
      return [`FEEDSYNCD_ALERT_${upper}`, String(value ?? '')]
    }),
  )
}

function shownChange({ key: _, mark: __, ...change }: Change): AlertChange {
  const entries = Object.entries(change)
  return Object.fromEntries(
    entries.map(([name, fact]) => [name, typeof fact === 'string' ? oneLine(fact) : fact]),
  ) as unknown as AlertChange
}

function sentence(change: AlertChange): string {
  const { event, recovered, feed, campaign, state, reason, reasonCode, hint } = change
  const what = feed ?? (campaign === null ? 'the service' : `campaign ${campaign}`)
  const word = campaign === null ? event : event.replace('campaign-', '')
  if (recovered && event === 'daemon' && reason !== null)
    return `${reasonCode} is over; feedsyncd still cannot work as it should: ${reason}`
  if (recovered) {
    const now = campaign === null ? `, ${state ?? 'gone'} now` : ''
    return GENERAL_TEXTS[event]?.over ?? `${what} recovered (${word} before${now})`
  }
  const said = GENERAL_TEXTS[event]?.now ?? `${what} ${word}`
  return `${said}: ${reason}${hint === null ? '' : `; ${hint}`}`
}

/** Texts of events that concern no single feed or campaign. */
const GENERAL_TEXTS: { [event in AlertEvent]?: { now: string; over: string } } = {
  credentials: { now: 'credentials refused', over: 'the service accepts the credentials again' },
  daemon: { now: 'feedsyncd cannot work as it should', over: 'feedsyncd works again' },
  'campaigns-stopped': { now: 'campaigns stopped', over: 'campaigns are managed again' },
}

/**
 * Control and direction characters could end a header, start a line, or make a name look like another. A lone surrogate
 * cannot be encoded as UTF-8.
 */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').slice(0, MOST_CHARACTERS)
  return line.toWellFormed()
}
