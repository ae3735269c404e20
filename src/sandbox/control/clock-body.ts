// This file reads the body of `PUT /_sandbox/clock`, and makes the answer that shows the clock.

import { z } from 'zod'
import { DURATION_EXPECTED, parseDuration, writeDuration } from '../../lib/units.ts'
import { badRequest } from '../http/answer.ts'
import { expecting, readBody } from '../json-input.ts'
import type { SandboxClock } from '../sandbox-clock.ts'

const BODY = z.strictObject({
  now: z.iso
    .datetime({ error: expecting('a date-time such as 2027-01-31T23:59:00Z, or null') })
    .nullish(),
  advance: z
    .string()
    .transform((text) => parseDuration(text) ?? Number.NaN)
    .refine((ms) => !Number.isNaN(ms), { error: DURATION_EXPECTED })
    .optional(),
})

/** ClockChange sets the clock to a wall-clock time in ms, or with null to the time of the host, or advances it. */
type ClockChange = { now: number | null } | { advanceMs: number }

/** readClock reads a change of the clock. It refuses a body that does not have exactly one of its members with 400. */
export function readClock(body: Buffer): ClockChange {
  const { now, advance } = readBody(body, BODY)
  if ((now === undefined) === (advance === undefined)) {
    badRequest('the body: expected either "now" or "advance"')
  }
  if (advance !== undefined) return { advanceMs: advance }
  return { now: now == null ? null : Date.parse(now) }
}

/** clockJson returns what the control route shows of a clock. */
export const clockJson = (clock: SandboxClock) => ({
  now: new Date(clock.now()).toISOString(),
  /** ahead is the time of this clock minus the time of its host. */
  ahead: `${clock.aheadMs < 0 ? '-' : ''}${writeDuration(Math.abs(clock.aheadMs))}`,
})
