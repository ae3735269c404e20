// Reads and shows the clock of the sandbox for its control route.

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

/** now is wall-clock ms, or null for the time of the host. */
export type ClockChange = { now: number | null } | { advanceMs: number }

export function readClock(body: Buffer): ClockChange {
  const { now, advance } = readBody(body, BODY)
  if ((now === undefined) === (advance === undefined)) {
    badRequest('the body: expected either "now" or "advance"')
  }
  if (advance !== undefined) return { advanceMs: advance }
  return { now: now == null ? null : Date.parse(now) }
}

export const clockJson = (clock: SandboxClock) => ({
  now: new Date(clock.now()).toISOString(),
  /** ahead is the time of this clock minus the time of its host. */
  ahead: `${clock.aheadMs < 0 ? '-' : ''}${writeDuration(Math.abs(clock.aheadMs))}`,
})
