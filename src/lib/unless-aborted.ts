// A wait that a signal ends, for work that cannot be cancelled itself.

/**
 * What `work` answers, or null as soon as the signal aborts. Then `work` may go on, and nobody hears of it: it
 * must be something that may be given up at any instant.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<null>()
  const aborted = () => resolve(null)
  if (signal.aborted) aborted()
  signal.addEventListener('abort', aborted)
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', aborted)
    work.catch(() => {})
  }
}
