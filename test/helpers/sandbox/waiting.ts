// Waits for what a sandbox receives. It looks after each step of a request, and gives up after 30 s without a step.

import { SECOND, systemClock } from '../../../src/lib/clock.ts'
import type { SeenRequest, StoredObject } from '../../../src/sandbox/records.ts'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'

type Watched = Pick<Sandbox, 'findRequest' | 'onChange' | 'objects' | 'requests'>

/** waitForRequest resolves with the first past or future request that `predicate` accepts. */
export const waitForRequest = (
  sandbox: Watched,
  predicate: (request: SeenRequest) => boolean,
  stillMs?: number,
): Promise<SeenRequest> =>
  waitFor({ sandbox, what: `a request that ${predicate}`, stillMs }, () =>
    sandbox.findRequest(predicate),
  )

/** waitForObjects resolves once `n` objects are stored. */
export const waitForObjects = (
  sandbox: Watched,
  n: number,
  stillMs?: number,
): Promise<StoredObject[]> =>
  waitFor({ sandbox, what: `${n} objects`, stillMs }, () =>
    sandbox.objects().length >= n ? sandbox.objects() : undefined,
  )

async function waitFor<T>(
  {
    sandbox,
    stillMs = 30 * SECOND,
    what,
  }: { sandbox: Watched; stillMs: number | undefined; what: string },
  probe: () => T | undefined,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const giveUp = () => reject(new Error(`waited for ${what}; seen: ${summary(sandbox)}`))
  let timer = systemClock.after(stillMs, giveUp)
  const check = () => {
    timer[Symbol.dispose]()
    timer = systemClock.after(stillMs, giveUp)
    try {
      const found = probe()
      if (found !== undefined) resolve(found)
    } catch (error) {
      reject(error)
    }
  }
  const unwatch = sandbox.onChange(check)
  check()
  return await promise.finally(() => {
    unwatch()
    timer[Symbol.dispose]()
  })
}

function summary(sandbox: Watched): string {
  const shown = sandbox
    .requests()
    .slice(-20)
    .map(({ side, route, status, code }) => `${side} ${route} ${status ?? '-'} ${code ?? ''}`)
  return shown.map((line) => line.trim()).join(', ') || 'no requests'
}
