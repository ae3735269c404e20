// Waiting for what a daemon does: as long as something moves, and 30 s longer.

import { systemClock } from '../../src/lib/clock.ts'

/** Nothing that a test waits for stands still for that long on a busy machine. */
const STILL_MS = 30_000
const INTERVAL_MS = 20

/** Each tells, as a value that changes, how much happened at a place so far. */
const places = new Set<() => unknown>()

/** From now on, what happens at this place lets tests wait longer, until the answer is called. */
export function watchPlace(place: () => unknown): () => void {
  places.add(place)
  return () => places.delete(place)
}

/** What is waited for can no longer come. */
export class Ended extends Error {}

/**
 * Looks again until `look` no longer throws, and resolves with its answer. Rejects with the last error of `look` once
 * that error and all places were the same for 30 s, and at once with `Ended`.
 */
export async function eventually<T>(look: () => T | Promise<T>): Promise<T> {
  let seen = ''
  let lastProgressAt = systemClock.monotonic()
  for (;;) {
    try {
      return await look()
    } catch (error) {
      if (error instanceof Ended) throw error
      const now = [String(error), ...[...places].map((place) => place())].join('\n')
      if (now !== seen) lastProgressAt = systemClock.monotonic()
      else if (systemClock.monotonic() - lastProgressAt > STILL_MS) throw error
      seen = now
    }
    await systemClock.sleep(INTERVAL_MS)
  }
}

/** Looks again until the answer of `look` is truthy, and resolves with it; otherwise as `eventually`. */
export function eventuallyTrue<T>(look: () => T | Promise<T>): Promise<T> {
  return eventually(async () => {
    const answer = await look()
    if (!answer) throw new Error(`${look} is ${answer}`)
    return answer
  })
}
