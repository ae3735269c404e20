// Delivers to the sandbox with real HTTP, a real spool file and the real form source. Only the waits between attempts
// are replaced: they are recorded and end at once.

import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import { createHttpClient } from '../../../src/lib/http.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/sandbox.ts'
import { createFormSource } from '../../../src/service/form-source.ts'
import type { FormSource } from '../../../src/service/port.ts'
import type { AttemptLog, Delivery, DeliveryResult } from '../../../src/upload/port.ts'
import { SendGate } from '../../../src/upload/send-gate.ts'
import { createUploader } from '../../../src/upload/uploader.ts'

const SECRET = 'the secret of the tests'

type Ended = Parameters<AttemptLog['ended']>[1] & { startedWithKey: string | null }

/** `attemptsInARow`: the number of attempts in a row that ended like the last one. */
type Change = Partial<Delivery> & { attemptsInARow?: number }

interface Harness {
  sandbox: Sandbox
  clock: TestClock
  directory: string
  /** All attempts of all deliveries, in order of their end. */
  attempts: Ended[]
  deliver(content: string | Buffer, change?: Change, signal?: AbortSignal): Promise<DeliveryResult>
}

interface TestClock extends Clock {
  /** Every wait between attempts, in ms. */
  readonly waits: number[]
  /** Added to the wall and the monotonic time. */
  ahead: number
}

export function testClock(): TestClock {
  const clock: TestClock = {
    waits: [],
    ahead: 0,
    now: () => systemClock.now() + clock.ahead,
    monotonic: () => systemClock.monotonic() + clock.ahead,
    sleep: (ms) => {
      clock.waits.push(Math.round(ms))
      return new Promise((resolve) => setImmediate(resolve))
    },
    after: systemClock.after,
  }
  return clock
}

export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'feedsyncd-upload-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return directory
}

interface HarnessOptions {
  sandbox?: Partial<SandboxOptions>
  maxRate?: number
  forms?: (real: FormSource) => FormSource
  env?: Record<string, string>
}

export async function harness(options: HarnessOptions = {}): Promise<Harness> {
  const directory = await temporaryDirectory()
  const clock = testClock()
  const sandbox = await startSandbox({
    directory: join(directory, 'objects'),
    basePath: '/api',
    callers: [{ partner: 'acme', partnerAccounts: ['42', '43'], secret: SECRET }],
    ...options.sandbox,
  })
  const http = createHttpClient({ clock, env: options.env ?? {} })
  const keyFile = join(directory, 'service.key')
  await writeFile(keyFile, `${SECRET}\n`)
  const real = createFormSource({
    ...{ http, clock, log: silentLog },
    baseUrl: sandbox.url,
    identity: { partner: 'acme', partnerAccount: '42' },
    headerPrefix: 'X-SVC-',
    presignPath: '/v1/presigned-storage-posting-post',
    auth: {
      method: 'signature',
      algorithm: 'hmac-sha1',
      keyFile,
      stringToSign: '{method}{path}?{query};{body};{date}',
    },
  })
  const forms = options.forms?.(real) ?? real
  const gate = new SendGate({
    ...{ clock, serviceOrigin: forms.origin, maxRate: options.maxRate ?? null },
    concurrency: 4,
  })
  const upload = createUploader({ http, forms, clock, log: silentLog, gate, random: () => 0.5 })
  onTestFinished(async () => {
    await http[Symbol.asyncDispose]()
    await sandbox.close()
  })
  const attempts: Ended[] = []
  let files = 0
  return {
    ...{ sandbox, clock, directory, attempts },
    deliver: async (content, change = {}, signal = new AbortController().signal) => {
      const file = join(directory, `spool-${++files}`)
      await writeFile(file, content)
      return upload(deliveryOf(file, content, attempts, change), signal)
    },
  }
}

function deliveryOf(
  file: string,
  content: string | Buffer,
  ended: Ended[],
  { attemptsInARow = 1, ...change }: Change = {},
): Delivery {
  const started: Array<string | null> = []
  return {
    id: 1,
    feed: file,
    file,
    bytes: Buffer.byteLength(content),
    md5: createHash('md5').update(content).digest('hex'),
    account: null,
    path: 'jobs.xml',
    attemptsBefore: 0,
    isRetried: false,
    attempts: {
      started: async () => started.push(null) - 1,
      sending: async (handle, key) => {
        started[handle] = key
        return true
      },
      attemptsInARow: () => attemptsInARow,
      ended: (handle, end) => {
        ended.push({ ...end, startedWithKey: started[handle] ?? null })
      },
    },
    ...change,
  }
}

export const outcomes = ({ attempts }: Harness) => attempts.map(({ outcome }) => outcome)
