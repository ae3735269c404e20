// The table of the decisions about sending, printed: each state of a version with each event, and what becomes of it.

import { expect, it } from 'vitest'
import { failureOf, RULES } from '../../../../src/domain/decision-table.ts'
import { STATES } from '../../../../src/domain/states.ts'
import type { Transition } from '../../../../src/history/port.ts'
import { FeedsyncError } from '../../../../src/lib/errors.ts'
import {
  decideSending,
  type SendEvent,
  type SendFacts,
} from '../../../../src/pipeline/decide/sending.ts'

const TRY = { startedAt: 1, endedAt: 2, key: 'key', status: 503, bytesSent: 7 }
const OPEN = {
  isPaused: false,
  held: null,
  newer: { queued: null, held: null },
  inARow: 0,
}
const HELD = { held: { guard: 'drop', code: 'drop', reason: 'it dropped' } } as const

const failed = (rule: keyof typeof RULES, times: Partial<SendEvent> = {}): SendEvent =>
  ({
    ...{ kind: 'failed', attempt: TRY, notBefore: null, hold: null, random: 0.5 },
    failure: failureOf(RULES[rule], { code: rule, reason: rule, status: 403 }),
    ...times,
  }) as SendEvent
const prepared: SendEvent = { kind: 'prepared', startedAt: 1, key: 'key' }
const refusal = failureOf(RULES.credentials, { code: 'http-403', reason: 'no' })
const down = failureOf(RULES.waiting, { code: 'down', reason: 'it is down' })
const full = new FeedsyncError('the disk is full', { exitCode: 75 })

const ROWS: [event: string, event: SendEvent, facts?: Partial<SendFacts>][] = [
  ['the form has come', prepared],
  ['the form has come; paused', prepared, { isPaused: true }],
  ['the form has come; a newer version is queued', prepared, { newer: { queued: 9, held: null } }],
  ['the form has come; a guard holds it', prepared, HELD],
  [
    'the form has come; a guard holds it, and a newer version is held',
    prepared,
    { ...HELD, newer: { queued: null, held: 9 } },
  ],
  ['an origin is down until its next probe', { kind: 'closed', failure: down, until: 9000 }],
  ['stored', { kind: 'stored', attempt: TRY, fileUrl: null, etagVerified: true, warning: null }],
  ['failed, transient', failed('noForm')],
  ['failed, transient; the next probe is later', failed('noForm', { notBefore: 9000 })],
  [
    'failed, transient; a newer version is queued',
    failed('noForm'),
    { newer: { queued: 9, held: null } },
  ],
  [
    'failed, credentials; the account is on hold',
    failed('credentials', { hold: { failure: refusal, until: 9000 } }),
  ],
  ['failed, credentials; the hold has ended', failed('credentials')],
  ['failed, about the file', failed('tooLarge')],
  ['failed, final after some tries; the first', failed('formRefused')],
  ['failed, final after some tries; the last', failed('formRefused'), { inARow: 21 }],
  ['an answer that cannot be read; the first', failed('unreadableAnswer')],
  ['an answer that cannot be read; the third', failed('unreadableAnswer'), { inARow: 2 }],
  ['the copy is gone or changed', failed('spoolChanged')],
  ['aborted', { kind: 'aborted', attempt: TRY }],
  ['an error of the disk', { kind: 'fault', attempt: TRY, error: full }],
  ['a fault of ours', { kind: 'fault', attempt: TRY, error: new Error('a bug') }],
]

function textOf(each: Transition): string {
  switch (each.kind) {
    case 'move':
      return `${each.to}${each.reason ? ` (${each.reason.code})` : ''}${timeOf(each.patch?.nextAttemptAt)}`
    case 'set':
      return `stays (${each.reason?.code})${timeOf(each.patch.nextAttemptAt)}`
    case 'supersede':
      return `superseded by ${each.by}`
    case 'attempt':
      return each.end === null ? 'attempt begins' : `attempt ${each.end.outcome}`
    case 'attempt-end':
      return `attempt ${each.end.outcome}`
    default:
      return each.kind
  }
}

const timeOf = (at: number | null | undefined) =>
  at === undefined ? '' : at === null ? ', due now' : `, due at ${at}`

it('each state of a version with each event of an attempt leads where the table says', async () => {
  const lines = STATES.flatMap((state) => {
    const of = ROWS.map(([name, event, facts]) => {
      const version = { id: 1, state, attempts: 1, retries: 0 }
      const transitions = decideSending({ ...OPEN, version, ...facts }, event)
      return [name, transitions.map(textOf).join('; ') || 'nothing'] as const
    })
    const isStill = of.every(([, text]) => text === 'nothing')
    return isStill
      ? [`${state}: nothing, whatever the event`]
      : of.map(([name, text]) => `${state} | ${name} -> ${text}`)
  })

  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('sending-table.txt')
})
