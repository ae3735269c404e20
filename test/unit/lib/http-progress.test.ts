// Over TLS and through a tunnel, too, the socket reports that it took the whole body.

import tls from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { CA_CERTIFICATE } from '../../helpers/lib/certificates.ts'
import { client } from '../../helpers/lib/http-client.ts'
import { proxyServer, tlsServer } from '../../helpers/lib/http-servers.ts'

it.each([10, 20_000, 200_000, 5_000_000])(
  'a body of %i bytes over TLS is known to be sent, directly and through a tunnel',
  async (length) => {
    const trusted = tls.getCACertificates('default')
    tls.setDefaultCACertificates([...trusted, CA_CERTIFICATE])
    onTestFinished(() => tls.setDefaultCACertificates(trusted))
    const url = await tlsServer((request, response) => {
      request.resume().on('end', () => response.writeHead(204).end())
    })
    const proxy = await proxyServer()
    for (const env of [{}, { HTTPS_PROXY: proxy.url.href }])
      for (let n = 0; n < 2; n++) {
        async function* chunks() {
          for (let at = 0; at < length; at += 262_144)
            yield Buffer.alloc(Math.min(262_144, length - at))
        }
        const answer = await client(env)(url, { body: { length, chunks, stallMs: 5000 } })
        expect(answer).toMatchObject({ status: 204, sentAll: true })
      }
  },
)
