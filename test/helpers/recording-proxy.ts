// A proxy that records every secret in the traffic: the signatures and API keys in headers, and the fields of each
// form. It can also repeat a request in its own answer, as a careless server does.

import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RecordingProxy extends AsyncDisposable {
  readonly port: number
  readonly secrets: ReadonlySet<string>
  /** Number of requests that the proxy repeated. */
  readonly echoes: () => number
}

/** Fields of a form that are not secrets. */
const OPEN_FIELDS = new Set(['key', 'success_action_status', 'x-store-algorithm', 'x-store-date'])
const PROOFS = ['x-svc-signature', 'x-svc-apikey', 'proxy-authorization']

/**
 * recordingProxy opens the proxy. It answers the first request of the account `echo.service` to the service, and the
 * first upload of the account `echo.storage`, with the content of the request; null repeats nothing.
 */
export async function recordingProxy(
  echo: { service: string; storage: string } | null,
): Promise<RecordingProxy> {
  const secrets = new Set<string>()
  const left = new Set(['service', 'storage'])
  /** takeEcho returns whether the proxy has to repeat this request, and does so only once for each side. */
  const takeEcho = (side: 'service' | 'storage', headers: IncomingHttpHeaders, body: Buffer) => {
    if (echo === null || !left.has(side)) return false
    const found =
      side === 'service'
        ? headers['x-svc-partneraccount'] === echo.service
        : body.includes(`/${echo.storage}_`)
    return found && left.delete(side)
  }

  const server = createServer(async (incoming, outgoing) => {
    const { method, url = '', headers } = incoming
    for (const name of PROOFS) if (headers[name]) secrets.add(String(headers[name]))
    const body = Buffer.concat(await incoming.toArray())
    if (takeEcho('service', headers, body)) {
      outgoing.writeHead(500, { 'content-type': 'application/json' })
      outgoing.end(JSON.stringify({ message: 'wrong signature', ...headers }))
      return
    }
    if (takeEcho('storage', headers, body)) {
      const message = body.toString('latin1').replace(/[<&]/g, ' ')
      outgoing.writeHead(403, { 'content-type': 'application/xml' })
      outgoing.end(`<Error><Code>SignatureDoesNotMatch</Code><Message>${message}</Message></Error>`)
      return
    }
    const onward = request(url, { method, headers }, async (answer) => {
      try {
        const content = Buffer.concat(await answer.toArray())
        recordFields(content, secrets)
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(content)
      } catch {
        outgoing.destroy()
      }
    })
    onward.on('error', () => outgoing.destroy())
    onward.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    secrets,
    echoes: () => 2 - left.size,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function recordFields(content: Buffer, secrets: Set<string>): void {
  let form: { fields?: Record<string, string> }
  try {
    form = JSON.parse(content.toString())
  } catch {
    return
  }
  for (const [name, value] of Object.entries(form.fields ?? {}))
    if (!OPEN_FIELDS.has(name)) secrets.add(value)
}
