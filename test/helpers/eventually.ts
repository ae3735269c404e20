// Waits for what a daemon does: as long as something changes, and 30 s longer.

import { systemClock } from '../../src/lib/clock.ts'

/** STILL_MS is how long nothing may change before a wait fails. A busy machine needs so long. */
const STILL_MS = 30_000
const INTERVAL_MS = 20

/** Each function returns a value that changes when something happens at its place. */
const places = new Set<() => unknown>()

/** watchPlace lets tests wait longer while something happens at this place. The returned function ends the watch. */
export function watchPlace(place: () => unknown): () => void {
  places.add(place)
  return () => places.delete(place)
}

/** Ended says that the awaited state can no longer come. */
export class Ended extends Error {}

/**
 * eventually repeats `look` until `look` no longer throws, and resolves with its result. If the error and all places
 * stay the same for 30 s, eventually rejects with the error. For `Ended` it rejects at once.
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

/** eventuallyTrue repeats `look` until the result is truthy, and resolves with it. It rejects as `eventually` does. */
export function eventuallyTrue<T>(look: () => T | Promise<T>): Promise<T> {
  return eventually(async () => {
    const answer = await look()
    if (!answer) throw new Error(`${look} is ${answer}`)
    return answer
  })
}
