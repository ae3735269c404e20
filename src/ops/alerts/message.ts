// Builds the message to a receiver from the changes that one check found, as JSON and as environment variables. Names
// and reasons come from the vendor's folder, so each of them becomes one line of plain text.

import { hash } from 'node:crypto'
import type { AlertEvent } from '../../domain/alerts.ts'
import { commandFor } from '../../domain/command.ts'
import { isoTime } from '../../lib/clock.ts'
import { countOf } from '../../lib/units.ts'
import type { CommandLine } from '../port.ts'
import { type AlertChange, type KeyedChange, NO_FACTS } from './changes.ts'

export interface AlertMessage {
  schemaVersion: 1
  /** A repeated message has the same id, so a receiver can ignore it. */
  id: string
  /** ISO 8601 UTC. */
  at: string
  host: string
  /** `several` if the changes are of different kinds. */
  event: AlertEvent | 'recovered' | 'several' | 'test'
  /** The subject for a mail: `feedsyncd on ats: 5 rejected, 5 held`. */
  subject: string
  /** The whole message, one line for each change. Chat services show the field `text`. */
  text: string
  /** Address of the status page; null if the page is off or has no fixed address. */
  page: string | null
  /** Number of all changes; `changes` holds the first 100. */
  count: number
  changes: AlertChange[]
}

/** MessageOrigin is the host that a message comes from. */
export interface MessageOrigin {
  host: string
  /** Address of the status page; null if the page is off or has no fixed address. */
  page: string | null
  commandLine: CommandLine
}

interface MessageHead extends MessageOrigin {
  /** Wall ms. */
  at: number
  /** Number of earlier messages to this receiver. It gives the same problem another message id a month later. */
  sequence: number
}

const MOST_CHANGES = 100
/** How many changes the text describes. */
const MOST_IN_TEXT = 20
const MOST_CHARACTERS = 1000

export function alertMessage(
  changes: readonly KeyedChange[],
  { at, commandLine, host, page, sequence }: MessageHead,
): AlertMessage {
  const shown = changes.slice(0, MOST_CHANGES).map(shownChange)
  const told = shown.slice(0, MOST_IN_TEXT).map(sentence)
  const left = changes.length - told.length
  if (left > 0) told.push(`and ${countOf(left)} more: ${commandLine(commandFor('status'))}`)
  const subject = `feedsyncd on ${host}: ${summaryOf(changes)}`
  const lines =
    told.length === 1
      ? [`feedsyncd on ${host}: ${told[0]}`]
      : [subject, ...told.map((one) => `- ${one}`)]
  if (page !== null) lines.push(`page: ${page}`)
  const [kind = 'several', ...others] = new Set(
    changes.map(({ event, recovered }) => (recovered ? 'recovered' : event)),
  )
  const identity = changes.map(({ key, mark, recovered }) => [recovered, key, mark])
  return {
    ...heading(JSON.stringify([host, sequence, identity]), at, host),
    event: others.length === 0 ? kind : 'several',
    subject,
    text: lines.join('\n'),
    page,
    count: changes.length,
    changes: shown,
  }
}

/** testMessage builds the message of `feedsyncd alerts test`. */
export function testMessage({ at, host }: { at: number; host: string }): AlertMessage {
  const subject = `feedsyncd on ${host}: test`
  const text = `feedsyncd on ${host}: this is a test; alerts arrive here`
  const message = { event: 'test', subject, text, page: null, count: 0 } as const
  return { ...heading(`test ${host} ${at}`, at, host), ...message, changes: [] }
}

function heading(identity: string, at: number, host: string) {
  const id = hash('sha256', identity).slice(0, 32)
  return { schemaVersion: 1 as const, id, at: isoTime(at) ?? '', host }
}

/**
 * alertVariables returns FEEDSYNCD_ALERT_*, so that a script need not read JSON: `reasonCode` becomes
 * FEEDSYNCD_ALERT_REASON_CODE. A fact that is missing is an empty text. If the message has several changes, it has no
 * facts of single changes. FEEDSYNCD_ALERT_RECOVERED holds the event that is over.
 */
export function alertVariables(message: AlertMessage): Record<string, string> {
  const { id, at, event, page, subject, text, count, changes } = message
  const [first] = changes
  const change = count === 1 && first !== undefined ? first : { ...NO_FACTS, event }
  const recovered = change.recovered ? change.event : null
  const fields = { ...change, id, at, event, page, subject, text, count, recovered }
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const upper = name.replace(/[A-Z]/g, '_$&').toUpperCase()
      return [`FEEDSYNCD_ALERT_${upper}`, String(value ?? '')]
    }),
  )
}

function shownChange({ key: _, mark: __, ...change }: KeyedChange): AlertChange {
  const entries = Object.entries(change)
  return Object.fromEntries(
    entries.map(([name, fact]) => [name, typeof fact === 'string' ? oneLine(fact) : fact]),
  ) as unknown as AlertChange
}

function sentence(change: AlertChange): string {
  const { event, recovered, feed, campaign, says, state, reason, reasonCode, hint } = change
  if (!recovered) return `${says}${hint === null ? '' : `; ${hint}`}`
  if (event === 'daemon' && reason !== null)
    return `${reasonCode} is over; feedsyncd still has a problem: ${reason}`
  if (event === 'held' && feed === null) return 'no further feed of the account is held'
  const word = campaign === null ? event : event.replace('campaign-', '')
  const what = feed ?? (campaign === null ? 'the service' : `campaign ${campaign}`)
  const now = campaign === null ? `, ${state ?? 'gone'} now` : ''
  return OVER[event] ?? `${what} recovered (${word} before${now})`
}

/** What is said when a problem that concerns no single feed or campaign is over. */
const OVER: { [event in AlertEvent]?: string } = {
  credentials: 'the service accepts the credentials again',
  service: 'the service works again',
  daemon: 'feedsyncd works again',
  'campaigns-stopped': 'campaigns are managed again',
}

/** summaryOf counts the changes by kind: `5 rejected, 5 held`. */
function summaryOf(changes: readonly KeyedChange[]): string {
  const kinds = Map.groupBy(changes, ({ event, recovered }) => (recovered ? 'recovered' : event))
  return [...kinds].map(([kind, all]) => `${countOf(all.length)} ${kind}`).join(', ')
}

/**
 * oneLine makes one line of plain text. Control and direction characters could end a header, start a line, or make a
 * name look like another. A lone surrogate cannot be encoded as UTF-8.
 */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').slice(0, MOST_CHARACTERS)
  return line.toWellFormed()
}
