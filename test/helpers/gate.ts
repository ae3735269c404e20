// A gate of a sandbox in another process, through its control routes. For a sandbox in this process, use
// `sandbox.faults.add({ at, kind: 'gate', point })`.

import type { FaultRule } from '../../src/sandbox/faults/fault-types.ts'
import type { Fault } from '../../src/sandbox/faults/faults.ts'
import { eventually } from './eventually.ts'

type Listed = { id: number; played: number; held: number }

export interface RemoteGate {
  /** held resolves when the gate holds n requests. */
  held: Fault['held']
  release(): Promise<void>
  remove(): Promise<void>
}

/** remoteGate adds a gate to a sandbox. `controlUrl` is such as `http://127.0.0.1:4123/_sandbox`. */
export async function remoteGate(
  controlUrl: string,
  rule: Extract<FaultRule, { kind: 'gate' | 'gate-at-byte' }>,
): Promise<RemoteGate> {
  const [{ id } = { id: 0 }] = await call<{ id: number }[]>('POST', 'faults', JSON.stringify(rule))
  return {
    held: (n = 1) =>
      eventually(async () => {
        const gate = (await call<Listed[]>('GET', 'faults')).find((fault) => fault.id === id)
        if ((gate?.held ?? 0) < n) throw new Error(`${gate?.held} of ${n} requests are held`)
      }),
    release: () => call('POST', `faults/${id}/release`),
    remove: () => call('DELETE', `faults/${id}`),
  }

  async function call<T>(method: string, path: string, body: string | null = null): Promise<T> {
    const answer = await fetch(`${controlUrl}/${path}`, { method, body })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer.json() as Promise<T>
  }
}
