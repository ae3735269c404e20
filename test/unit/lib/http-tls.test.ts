// Node reads the CA of NODE_EXTRA_CA_CERTS when a process starts, so each request here runs in its own process.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { caFile, proxyServer, tlsServer } from '../../helpers/lib/http-servers.ts'

const SCRIPT = `
  const { createHttpClient } = await import(process.argv[1])
  const { systemClock } = await import(process.argv[2])
  const answers = JSON.parse(process.argv[3]).map(async ({ url, proxy }) => {
    const env = proxy === undefined ? {} : { HTTPS_PROXY: proxy }
    await using http = createHttpClient({ clock: systemClock, env })
    const answer = await http.request({
      method: 'GET', url: new URL(url), headers: {}, body: null,
      signal: new AbortController().signal,
      headersTimeoutMs: 5000, bodyTimeoutMs: 5000, maxAnswerBytes: 1000,
    })
    return { ...answer, headers: undefined, body: undefined }
  })
  console.log(JSON.stringify(await Promise.all(answers)))
`
const source = (name: string) => join(import.meta.dirname, '..', '..', '..', 'src', 'lib', name)

async function requestsInChild(
  env: Record<string, string>,
  requests: { url: URL; proxy?: URL }[],
): Promise<unknown> {
  const parts = [source('http.ts'), source('clock.ts'), JSON.stringify(requests)]
  const options = ['--no-warnings', '--input-type=module', '-e', SCRIPT]
  const { stdout } = await promisify(execFile)(process.execPath, [...options, ...parts], {
    env: { PATH: process.env.PATH, ...env },
  })
  return JSON.parse(stdout)
}

describe('TLS', () => {
  it('trusts the CA of NODE_EXTRA_CA_CERTS, also through a proxy, but not for another host name', async () => {
    const url = await tlsServer((_, response) => response.end('ok'))
    const proxy = await proxyServer()
    const otherName = new URL(url)
    otherName.hostname = 'localhost'

    const answers = await requestsInChild({ NODE_EXTRA_CA_CERTS: await caFile() }, [
      { url },
      { url, proxy: proxy.url },
      { url: otherName },
    ])

    expect(answers).toMatchObject([
      { kind: 'answer', status: 200 },
      { kind: 'answer', status: 200 },
      { kind: 'no-answer', why: 'certificate', code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    ])
    expect(proxy.seen).toEqual([`CONNECT ${url.host}`])
  })

  it.each([{}, { NODE_TLS_REJECT_UNAUTHORIZED: '0' }])(
    'refuses an unknown CA, also through a proxy, for any environment (%o)',
    async (env) => {
      const url = await tlsServer((_, response) => response.end())
      const proxy = await proxyServer()

      const answers = await requestsInChild({ ...env }, [{ url }, { url, proxy: proxy.url }])

      const refused = { kind: 'no-answer', why: 'certificate' }
      expect(answers).toMatchObject([refused, refused])
    },
  )
})
