// Tracks the progress of running uploads. The daemon's file shows the progress to other processes, and the history
// keeps the result.

import type { Version } from '../history/port.ts'
import { type Clock, SECOND } from '../lib/clock.ts'
import type { Progress } from '../lib/units.ts'

interface RunningUpload {
  bytesSent: number
  /** Size of the whole upload. */
  bytes: number
  /** Start of the attempt, monotonic ms. */
  startedAt: number
}

export class RunningUploads {
  readonly #clock: Clock
  readonly #running = new Map<number, RunningUpload>()
  #changed: () => void = () => {}
  #reportedAt = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** onChange sets a function that is called at most once a second while bytes are sent, and when an upload ends. */
  onChange(changed: () => void): void {
    this.#changed = changed
  }

  /** sent records how many bytes of a version were sent. Fewer bytes than before mean a new attempt. */
  sent(id: number, bytesSent: number, bytes: number): void {
    const now = this.#clock.monotonic()
    const known = this.#running.get(id)
    const startedAt = known !== undefined && bytesSent >= known.bytesSent ? known.startedAt : now
    this.#running.set(id, { bytesSent, bytes, startedAt })
    if (now - this.#reportedAt < SECOND) return
    this.#reportedAt = now
    this.#changed()
  }

  /** moved forgets the progress of a version whose upload has ended. */
  moved({ id, state }: Pick<Version, 'id' | 'state'>): void {
    const known = this.#running.get(id)
    if (state === 'uploading' || known === undefined) return
    this.#running.delete(id)
    // Most uploads end before the daemon's file shows their progress, and then the file has nothing to remove.
    if (known.startedAt <= this.#reportedAt) this.#changed()
  }

  /** current returns the progress of each upload that has sent bytes, by the id of its version. */
  current(): Record<number, Progress> {
    const now = this.#clock.monotonic()
    const begun = [...this.#running].filter(([, { bytesSent }]) => bytesSent > 0)
    const entries = begun.map(([id, { bytes, bytesSent, startedAt }]) => {
      const bytesPerSecond = (bytesSent * SECOND) / Math.max(1, now - startedAt)
      const msLeft = bytesPerSecond === 0 ? 0 : ((bytes - bytesSent) * SECOND) / bytesPerSecond
      return [id, { bytesSent, bytesPerSecond, msLeft }] as const
    })
    return Object.fromEntries(entries)
  }
}
