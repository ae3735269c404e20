// A client for the unit tests of the sandbox. It uses only node:http, node:net and node:crypto, so that an error in
// shared code cannot hide a difference between sandbox and daemon.

import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'

export const SECRET = 'your api secret key'

export interface Reply {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
}

export interface Form {
  url: string
  fileUrl: string
  fields: Record<string, string>
}

export function send(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: Buffer | string } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const call = request(
      url,
      { method: options.method ?? 'POST', headers: options.headers ?? {}, agent: false },
      (response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece) => pieces.push(piece))
        response.on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(pieces).toString('utf8'),
          }),
        )
      },
    )
    call.on('error', reject)
    call.end(options.body)
  })
}

/** sign signs a POST without a query: HMAC-SHA1 over `{method}{path}?{query};{body};{date}`, in Base64. */
export function sign(path: string, date: string, body = ''): string {
  return createHmac('sha1', SECRET).update(`POST${path}?;${body};${date}`).digest('base64')
}

export function signedHeaders(
  path: string,
  who: Record<string, string> = { Partner: 'acme', PartnerAccount: '42' },
  date = new Date().toUTCString(),
): Record<string, string> {
  const named = Object.entries(who).map(([name, value]) => [`X-SVC-${name}`, value])
  return {
    ...Object.fromEntries(named),
    'X-SVC-Date': date,
    'X-SVC-Signature': sign(path, date),
  }
}

export const PRESIGN = '/v1/presigned-storage-posting-post'

export async function presign(url: string, date = new Date().toUTCString()): Promise<Form> {
  const reply = await send(url + PRESIGN, { headers: signedHeaders(PRESIGN, undefined, date) })
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.body}`)
  return JSON.parse(reply.body)
}

export const BOUNDARY = 'aBoundaryOfTheTests7'

export type Part = readonly [name: string, value: string | Buffer]

export function multipart(parts: readonly Part[], boundary = BOUNDARY): Buffer {
  const encoded = parts.flatMap(([name, value]) => {
    const file = name === 'file' ? '; filename="feed.xml"\r\nContent-Type: application/xml' : ''
    return [
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`),
      Buffer.from(value),
      Buffer.from('\r\n'),
    ]
  })
  return Buffer.concat([...encoded, Buffer.from(`--${boundary}--\r\n`)])
}

export function partsOf(form: Form, file: string | Buffer): Part[] {
  return [...Object.entries(form.fields), ['file', file]]
}

export function post(
  url: string,
  parts: readonly Part[],
  headers: Record<string, string> = {},
): Promise<Reply> {
  const body = multipart(parts)
  return send(url, {
    body,
    headers: {
      'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
      'Content-Length': String(body.length),
      ...headers,
    },
  })
}

/** RawConnection is a connection on which a test writes bytes itself. `closed` resolves when the sandbox ended it. */
export class RawConnection {
  readonly socket: Socket
  readonly closed: Promise<'fin' | 'rst'>
  #text = ''
  #check: () => void = () => {}

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    this.socket.setEncoding('latin1')
    this.closed = new Promise((resolve) => {
      this.socket.once('end', () => resolve('fin'))
      this.socket.once('error', () => resolve('rst'))
    })
    this.socket.on('data', (text) => {
      this.#text += text
      this.#check()
    })
    this.socket.on('end', () => this.#check())
  }

  get text(): string {
    return this.#text
  }

  write(data: string | Buffer): void {
    this.socket.write(data)
  }

  /** until resolves with all received text, once it contains `needle`. */
  until(needle: string): Promise<string> {
    return new Promise((resolve) => {
      this.#check = () => {
        if (this.#text.includes(needle)) resolve(this.#text)
      }
      this.#check()
    })
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }
}

export function postHead(url: string, bytes: number | string): string {
  const { host, pathname } = new URL(url)
  return [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    `Content-Type: multipart/form-data; boundary=${BOUNDARY}`,
    `Content-Length: ${bytes}`,
    '\r\n',
  ].join('\r\n')
}

export function codeOf(reply: { body: string }): string | undefined {
  return /<Code>(\w+)<\/Code>/.exec(reply.body)?.[1]
}

export function messageOf(reply: { body: string }): string | undefined {
  return /<Message>(.*)<\/Message>/s.exec(reply.body)?.[1]?.replaceAll('&#34;', '"')
}
