// Makes attempts to upload to the sandbox, with real HTTP, a real spool file and the real form source. Only the waits
// for bandwidth are replaced: the test clock records each wait and ends it at once.

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
import type { Answered, Parcel, Prepared, Tally } from '../../../src/upload/port.ts'
import { SendGate } from '../../../src/upload/send-gate.ts'
import { StorageSender } from '../../../src/upload/sender.ts'

const SECRET = 'the secret of the tests'

type Change = Partial<Parcel> & { progress?: (bytesSent: number) => void }

/** Sent is the result of an attempt: the result of `prepare` if it gave no form, else the result of `post`. */
type Sent = (Exclude<Prepared, { kind: 'form' }> | Answered) & {
  tally: Tally
  /** The object key of the form; null if there was no form. */
  key: string | null
}

interface Harness {
  sandbox: Sandbox
  clock: TestClock
  directory: string
  /** send makes one attempt to send this content. */
  send(content: string | Buffer, change?: Change, signal?: AbortSignal): Promise<Sent>
}

interface TestClock extends Clock {
  /** Every wait, in ms. */
  readonly waits: number[]
  /** The ms that the test adds to the wall and the monotonic time. */
  ahead: number
}

/** testClock returns a clock that runs in real time, plus `ahead`. Each sleep ends at once. */
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
  const sender = new StorageSender({ http, forms, clock, log: silentLog, gate })
  onTestFinished(async () => {
    await http[Symbol.asyncDispose]()
    await sandbox.close()
  })
  let files = 0
  return {
    ...{ sandbox, clock, directory },
    send: async (content, { progress, ...change } = {}, signal = new AbortController().signal) => {
      const file = join(directory, `spool-${++files}`)
      await writeFile(file, content)
      const parcel = { ...parcelOf(file, content), ...change }
      const tally: Tally = { bytesSent: 0, status: null }
      const prepared = await sender.prepare(parcel, tally, signal)
      if (prepared.kind !== 'form') return { ...prepared, tally, key: null }
      const { form } = prepared
      const answered = await sender.post({ parcel, form, progress }, tally, signal)
      return { ...answered, tally, key: form.key }
    },
  }
}

function parcelOf(file: string, content: string | Buffer): Parcel {
  return {
    ...{ id: 1, feed: file, file, account: null, path: 'jobs.xml', isForced: false },
    bytes: Buffer.byteLength(content),
    md5: createHash('md5').update(content).digest('hex'),
  }
}
