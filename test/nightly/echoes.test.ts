// A service and a storage that repeat every secret, in every place of an answer and in every way to
// write it, bring none of it into what a delivery says.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { createHttpClient } from '../../src/lib/http.ts'
import { createLog } from '../../src/lib/log.ts'
import { createFormSource } from '../../src/service/form-source.ts'
import { readFormFacts } from '../../src/upload/form.ts'
import { postFile } from '../../src/upload/post.ts'
import { SendGate } from '../../src/upload/send-gate.ts'
import {
  EchoingHost,
  FORM_PLACES,
  SERVICE_PLACES,
  STORAGE_PLACES,
} from '../helpers/echoing-host.ts'
import { ESCAPES, leakOf } from '../helpers/escapes.ts'

const SECRETS = [
  ...['key', 'signature', 'proxy password', 'proxy'],
  ...['form policy', 'form credential', 'form security-token', 'form signature'],
]
const WAYS = Object.keys(ESCAPES)
/** Nobody but a forger encodes what is in a form once more; keys and passwords are known in these ways, too. */
const waysFor = (secret: string) =>
  /^key|password/.test(secret) ? WAYS : WAYS.filter((way) => !way.endsWith('of it'))

async function delivering() {
  const owned = new AsyncDisposableStack()
  const host = owned.use(await EchoingHost.open())
  const directory = await mkdtemp(join(tmpdir(), 'feedsyncd-echoes-'))
  owned.defer(() => rm(directory, { recursive: true }))
  const key = `Key/${randomBytes(9).toString('base64')}+x/${randomBytes(9).toString('hex')}=`
  const password = `${randomBytes(9).toString('base64')}/p+q`
  host.heard.set('key', key)
  host.heard.set('proxy password', password)
  const keyFile = join(directory, 'service.key')
  const file = join(directory, 'a.xml')
  await Promise.all([writeFile(keyFile, key), writeFile(file, '<a/>')])
  const proxy = `http://u:${encodeURIComponent(password)}@127.0.0.1:${host.port}`
  const lines: string[] = []
  const http = owned.use(
    createHttpClient({
      ...{ clock: systemClock },
      env: { HTTP_PROXY: proxy, NO_PROXY: 'example' },
      connectTimeoutMs: 200,
    }),
  )
  const destination = { write: (line: string) => lines.push(line) }
  const forms = createFormSource({
    ...{
      http,
      clock: systemClock,
      log: createLog({ level: 'trace', format: 'json', destination }),
    },
    ...{ baseUrl: 'http://127.0.0.1:2/api', headerPrefix: 'X-SVC-' },
    ...{ identity: { account: '1' }, presignPath: '/v1/presigned-storage-posting-post' },
    auth: {
      ...{ method: 'signature', algorithm: 'hmac-sha1', keyFile },
      stringToSign: '{method}{path}?{query};{body};{date}',
    },
  })
  const { signal } = new AbortController()
  const post = { file, bytes: 4, md5: '0'.repeat(32), freshConnection: false, progress: () => {} }
  const gate = new SendGate({
    ...{ clock: systemClock, serviceOrigin: forms.origin, maxRate: null },
    concurrency: () => 1,
  })
  /** Everything that may be logged, recorded or shown of one form and one post with it. */
  const shown = async (): Promise<string> => {
    const answer = await forms.requestForm(null, signal)
    if (answer.kind === 'failure') return JSON.stringify([answer, lines])
    const facts = readFormFacts(answer.form)
    const parts = { http, clock: systemClock, gate }
    const tally = { bytesSent: 0, status: null }
    const posted = await postFile(parts, { facts, ...post }, tally, signal)
    const { origin, fileUrl } = facts
    return JSON.stringify([origin, facts.key, fileUrl, posted, tally, lines])
  }
  return { host, shown, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

const PLACES = Object.entries({
  'the service': SERVICE_PLACES,
  'the form': FORM_PLACES,
  storage: STORAGE_PLACES,
}).flatMap(([whose, places]) => Object.keys(places).map((place) => [whose, place] as const))

describe.each(PLACES)('%s repeats secrets in %s', (_, place) => {
  it('and nothing says one of them', async () => {
    await using delivery = await delivering()
    const { host, shown } = delivery
    // A host repeats what it heard before.
    await shown()

    const found: string[] = []
    // An eighth of the ways for each place and secret: together they are all.
    const turn = PLACES.findIndex(([, one]) => one === place)
    for (const [n, secret] of SECRETS.entries())
      for (const way of waysFor(secret).filter((_, i) => (i + n + turn) % 8 === 0)) {
        host.plan = { place, secret, escape: (text) => ESCAPES[way]?.(text) ?? '' }
        const before = host.echoes
        const then = host.heard.get(secret) ?? ''
        const said = await shown()
        expect(host.echoes).toBeGreaterThan(before)
        // Behind its name, a credential has a date and a region.
        for (const value of new Set([then, host.heard.get(secret) ?? '']))
          if (
            leakOf(value.replace(/\/2026.*/, ''), said) >= 8 ||
            said.includes(ESCAPES[way]?.(value) ?? value)
          )
            found.push(`${secret}, ${way}: ${said}`)
      }
    expect(found).toEqual([])
  })
})
