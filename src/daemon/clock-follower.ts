// What the daemon does when somebody sets the wall clock. Stored times are judged whenever they are read
// (lib/due.ts); this is what those who read cannot see.

import { MINUTE } from '../lib/clock.ts'
import { ClockSteps } from '../lib/due.ts'
import { formatDuration } from '../lib/units.ts'
import type { Parts } from '../pipeline/parts.ts'

const HINT = 'check that its time is synchronised: timedatectl'
const SHOWN_MS = 5 * MINUTE

/**
 * To be called before deadlines are looked at: incomplete files keep the time that they had left. Answers true
 * after a step; throws when the database cannot be written, and does it at the next call.
 */
export function clockFollower({ clock, conditions, history }: Parts): () => boolean {
  const steps = new ClockSteps(clock)
  let stepMs = 0
  return () => {
    stepMs += steps.take()
    if (stepMs === 0) return false
    history.shiftDeadlines(stepMs)
    const step = `${stepMs > 0 ? 'forward' : 'back'} by ${formatDuration(Math.abs(stepMs))}`
    stepMs = 0
    conditions.clear('clock-stepped')
    const message = `the clock of this machine was set ${step}`
    conditions.set('clock-stepped', { message, hint: HINT }, SHOWN_MS)
    return true
  }
}
