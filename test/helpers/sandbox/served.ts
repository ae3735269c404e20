// Watches the calls that the sandboxes of this process serve, before any fault changes an answer.

import { onTestFinished } from 'vitest'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { SERVED, type ServedMessage } from '../../../src/sandbox/service/service.ts'

/** afterPage calls `work` after each page of a search and before its answer is sent, until the test ends. */
export function afterPage({ url }: Pick<Sandbox, 'url'>, work: () => void): void {
  const listener = (message: unknown) => {
    const { call } = message as ServedMessage
    const isSearch = call.method === 'GET' && call.path === '/v1/campaigns'
    if (isSearch && call.url.startsWith(url)) work()
  }
  SERVED.subscribe(listener)
  onTestFinished(() => void SERVED.unsubscribe(listener))
}
