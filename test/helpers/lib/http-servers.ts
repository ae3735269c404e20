// Small real servers for the tests of the HTTP client: plain, TLS, and a proxy with CONNECT.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type Server,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, createServer as createNetServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { CA_CERTIFICATE, SERVER_CERTIFICATE, SERVER_KEY } from './certificates.ts'

async function listening(server: Server | ReturnType<typeof createNetServer>, host: string) {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, resolve)
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

export async function httpServer(handler: RequestListener, host = '127.0.0.1'): Promise<URL> {
  const port = await listening(createServer(handler), host)
  return new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}/`)
}

/** rawServer passes each connection to the handler as it is. */
export async function rawServer(handler: (socket: Socket) => void): Promise<URL> {
  const port = await listening(createNetServer(handler), '127.0.0.1')
  return new URL(`http://127.0.0.1:${port}/`)
}

/** tlsServer has a certificate for 127.0.0.1 from the CA of the tests. */
export async function tlsServer(handler: RequestListener): Promise<URL> {
  const server = createTlsServer({ key: SERVER_KEY, cert: SERVER_CERTIFICATE }, handler)
  const port = await listening(server, '127.0.0.1')
  return new URL(`https://127.0.0.1:${port}/`)
}

export async function caFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'feedsyncd-ca-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const file = join(directory, 'ca.pem')
  await writeFile(file, CA_CERTIFICATE)
  return file
}

export interface Proxy {
  url: URL
  /** `CONNECT host:port` or `GET http://...` of each request, in order. */
  seen: string[]
  authorizations: Array<string | undefined>
}

/** proxyServer tunnels CONNECT and forwards absolute addresses; if `refuse` is a status, it answers only with that. */
export async function proxyServer(refuse: number | null = null): Promise<Proxy> {
  const seen: string[] = []
  const authorizations: Array<string | undefined> = []
  const note = (message: IncomingMessage) => {
    seen.push(`${message.method} ${message.url}`)
    authorizations.push(message.headers['proxy-authorization'])
  }
  const server = createServer((incoming, outgoing) => {
    note(incoming)
    if (refuse !== null) return void outgoing.writeHead(refuse).end()
    const { 'proxy-authorization': _, ...headers } = incoming.headers
    const onward = request(incoming.url ?? '', { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(onward)
  })
  server.on('connect', (message: IncomingMessage, socket: Socket) => {
    note(message)
    socket.on('error', () => {})
    if (refuse !== null) return void socket.end(`HTTP/1.1 ${refuse} No\r\n\r\n`)
    const { hostname, port } = new URL(`http://${message.url}`)
    const onward = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n')
      socket.pipe(onward).pipe(socket)
    })
    onward.on('error', () => socket.destroy())
  })
  const port = await listening(server, '127.0.0.1')
  return { url: new URL(`http://127.0.0.1:${port}`), seen, authorizations }
}
