// A small service that answers requests for a form, and a form source that uses it.

import { createHmac } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import { createHttpClient } from '../../../src/lib/http.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { createFormSource, type FormSourceOptions } from '../../../src/service/form-source.ts'

export const SECRET = 'a secret of the tests'
export const PATH = '/v1/presigned-storage-posting-post'
export const FORM = {
  url: 'https://storage.example/feeds',
  fileUrl: 'https://storage.example/feeds/a.xml',
  fields: { key: 'a.xml', policy: 'cG9saWN5', 'x-store-signature': 'ab' },
}
/** NOW is the wall time of the client, which does not move. */
export const NOW = Date.UTC(2026, 0, 31, 12, 0, 5)

export type Handler = (request: IncomingMessage, response: ServerResponse, n: number) => void

export const sendForm: Handler = (_, response) => response.end(JSON.stringify(FORM))

/** service starts a service without a Date in its answers. `seen` has the requests, and `ask` asks for a form. */
export async function service(handler: Handler, change: Partial<FormSourceOptions> = {}) {
  const seen: IncomingMessage[] = []
  const server = createServer((request, response) => {
    seen.push(request)
    response.sendDate = false
    handler(request, response, seen.length)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const directory = await mkdtemp(join(tmpdir(), 'feedsyncd-service-'))
  const keyFile = join(directory, 'service.key')
  await writeFile(keyFile, `${SECRET}\n`)
  const clock: Clock = { ...systemClock, now: () => NOW }
  const http = createHttpClient({ clock, env: {} })
  onTestFinished(async () => {
    await http[Symbol.asyncDispose]()
    server.close()
    await rm(directory, { recursive: true })
  })
  const options: FormSourceOptions = {
    ...{ http, clock, log: silentLog },
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`,
    identity: { partner: 'acme', partnerAccount: '42' },
    headerPrefix: 'X-SVC-',
    presignPath: PATH,
    ...change,
    auth: {
      ...{ method: 'signature', algorithm: 'hmac-sha1', keyFile },
      stringToSign: '{method}{path}?{query};{body};{date}',
      ...change.auth,
    },
  }
  const forms = createFormSource(options)
  const ask = (account: string | null = null) =>
    forms.requestForm(account, new AbortController().signal)
  return { forms, ask, seen, keyFile, options }
}

/** signed returns the HMAC-SHA1 of the text in Base64. */
export const signed = (text: string, secret = SECRET) =>
  createHmac('sha1', secret).update(text).digest('base64')
