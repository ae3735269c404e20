// The CA of NODE_EXTRA_CA_CERTS is read when a process starts, so each request here runs in one of its own.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { caFile, proxyServer, tlsServer } from '../../helpers/lib/http-servers.ts'

const SCRIPT = `
  const { createHttpClient } = await import(process.argv[1])
  const { systemClock } = await import(process.argv[2])
  await using http = createHttpClient({ clock: systemClock })
  const answer = await http.request({
    method: 'GET', url: new URL(process.argv[3]), headers: {}, body: null,
    signal: new AbortController().signal,
    headersTimeoutMs: 5000, bodyTimeoutMs: 5000, maxAnswerBytes: 1000,
  })
  console.log(JSON.stringify({ ...answer, headers: undefined, body: undefined }))
`
const source = (name: string) => join(import.meta.dirname, '..', '..', '..', 'src', 'lib', name)

async function requestInChild(url: URL, env: Record<string, string>): Promise<unknown> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      '--no-warnings',
      '--input-type=module',
      '-e',
      SCRIPT,
      source('http.ts'),
      source('clock.ts'),
      url.href,
    ],
    { env: { PATH: process.env.PATH, ...env } },
  )
  return JSON.parse(stdout)
}

describe('TLS', () => {
  it('trusts the CA of NODE_EXTRA_CA_CERTS', async () => {
    const url = await tlsServer((_, response) => response.end('ok'))

    const answer = await requestInChild(url, { NODE_EXTRA_CA_CERTS: await caFile() })

    expect(answer).toMatchObject({ kind: 'answer', status: 200 })
  })

  it('trusts that CA through a proxy', async () => {
    const url = await tlsServer((_, response) => response.end('ok'))
    const proxy = await proxyServer()

    const answer = await requestInChild(url, {
      NODE_EXTRA_CA_CERTS: await caFile(),
      HTTPS_PROXY: proxy.url.href,
    })

    expect(answer).toMatchObject({ kind: 'answer', status: 200 })
    expect(proxy.seen).toEqual([`CONNECT ${url.host}`])
  })

  it.each([{}, { NODE_TLS_REJECT_UNAUTHORIZED: '0' }])(
    'refuses an unknown CA, whatever the environment says (%o)',
    async (env) => {
      const url = await tlsServer((_, response) => response.end())

      const answer = await requestInChild(url, { ...env })

      expect(answer).toMatchObject({ kind: 'no-answer', why: 'certificate' })
    },
  )

  it('refuses an unknown CA through a proxy, whatever the environment says', async () => {
    const url = await tlsServer((_, response) => response.end())
    const proxy = await proxyServer()

    const answer = await requestInChild(url, {
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      HTTPS_PROXY: proxy.url.href,
    })

    expect(answer).toMatchObject({ kind: 'no-answer', why: 'certificate' })
  })

  it('refuses a certificate for another name', async () => {
    const url = await tlsServer((_, response) => response.end())

    url.hostname = 'localhost'

    const answer = await requestInChild(url, { NODE_EXTRA_CA_CERTS: await caFile() })

    expect(answer).toMatchObject({
      ...{ kind: 'no-answer', why: 'certificate', code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    })
  })
})
