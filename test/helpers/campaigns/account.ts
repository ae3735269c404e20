// An account of the sandbox, and the real campaign client that calls it. A wait takes no time: the helper records it
// and moves the clock of client and sandbox forward.

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createCampaignApi } from '../../../src/campaigns/service/api.ts'
import type { Campaign, CampaignAnswer, CampaignApi } from '../../../src/campaigns/service/port.ts'
import type { Identity } from '../../../src/domain/service-words.ts'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import { createHttpClient } from '../../../src/lib/http.ts'
import { silentLog } from '../../../src/lib/log.ts'
import type { Knobs } from '../../../src/sandbox/knobs.ts'
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts'
import { memoryFolder } from '../memory-folder.ts'

const SECRET = 'a-secret-of-the-campaign-tests'

export interface Account {
  sandbox: Sandbox
  api: CampaignApi
  clock: Clock
  /** Every wait so far, in ms. */
  waits: number[]
  /** pass moves the clock of both sides forward. */
  pass(ms: number): void
  /** calls returns how many requests of a route the sandbox has received. */
  calls(route: string): number
}

export async function openAccount(
  knobs: Partial<Knobs> = {},
  { now, identity = { account: '123' } }: { now?: number; identity?: Identity } = {},
): Promise<Account> {
  const directory = memoryFolder('feedsyncd-campaigns-')
  const waits: number[] = []
  let ahead = now === undefined ? 0 : now - Date.now()
  const pass = (ms: number) => {
    ahead += Math.ceil(ms)
  }
  const clock: Clock = {
    ...systemClock,
    now: () => Date.now() + ahead,
    sleep: async (ms) => {
      waits.push(ms)
      pass(ms)
    },
  }
  const sandbox = await startSandbox({
    ...{ directory: join(directory, 'objects'), basePath: '/api', knobs },
    callers: [{ account: '123', secret: SECRET }],
    clock: { ...systemClock, now: clock.now },
  })
  const keyFile = join(directory, 'service.key')
  writeFileSync(keyFile, SECRET)
  const http = createHttpClient({ clock: systemClock, env: {} })
  onTestFinished(async () => {
    await http[Symbol.asyncDispose]()
    await sandbox.close()
    rmSync(directory, { recursive: true })
  })
  const api = createCampaignApi({
    ...{ http, clock, log: silentLog, baseUrl: sandbox.url, headerPrefix: 'X-SVC-' },
    identity,
    auth: {
      ...{ method: 'signature', algorithm: 'hmac-sha1', keyFile },
      stringToSign: '{method}{path}?{query};{body};{date}',
    },
  })
  const calls = (route: string) =>
    sandbox.requests().filter((request) => request.route === route).length
  return { sandbox, api, clock, waits, pass, calls }
}

export const forever = new AbortController().signal

/** granted returns the value of an answer. Throws for a failure. */
export function granted<T>(answer: CampaignAnswer<T>): T {
  if (answer.kind === 'failure') throw new Error(answer.reason)
  return answer.value
}

export const idsOf = (campaigns: Iterable<Campaign>) => [...campaigns].map(({ id }) => id)
