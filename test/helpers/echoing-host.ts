// A service, its storage and a proxy in one host. It repeats what it received in each place of an answer that can hold
// text, with an escape that the test chooses.

import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Received has the secrets that the host has got or issued, by the names that a test uses. */
export type Received = Map<string, string>

type Answer = (response: ServerResponse, text: string) => unknown

const json = (response: ServerResponse, status: number, body: unknown) =>
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(typeof body === 'string' ? body : JSON.stringify(body))

const redirect = (response: ServerResponse, location: string) =>
  json(response.setHeader('location', location), 302, '')

const inHeader = (text: string) => text.replace(/[^\x20-\x7e]/g, ' ')
const inAddress = (text: string) => encodeURI(text).replace(/[/?#@]/g, encodeURIComponent)

/** Each function answers a request for a form, and repeats the text at one place of the answer. */
export const SERVICE_PLACES: Record<string, Answer> = {
  'the message of a 500': (r, text) => json(r, 500, { message: `bad ${text}` }),
  'the message of a 400': (r, text) => json(r, 400, { errors: [{ message: `bad ${text}` }] }),
  'the message of a 403': (r, text) => json(r, 403, { message: `not ${text}` }),
  'other members of a 500': (r, text) => json(r, 500, { [text]: text, message: 'no' }),
  'a text': (r, text) => json(r, 500, `not ${text}`),
  'the reason phrase': (r, text) => r.writeHead(500, inHeader(text)).end(),
  'a header': (r, text) => {
    for (const name of ['x-error', 'server']) r.setHeader(name, inHeader(text))
    json(r, 500, 'no')
  },
  'the host of a redirect': (r, text) => redirect(r, `https://${text}.example/a`),
  'the path of a redirect': (r, text) => redirect(r, `https://a.example/${inAddress(text)}/b`),
  'user and query of a redirect': (r, text) =>
    redirect(r, `https://u:${inAddress(text)}@a.example/?t=${inAddress(text)}#${inAddress(text)}`),
}

/** Each function writes the text into one place of the form that the service returns. */
export const FORM_PLACES: Record<string, (form: Form, text: string) => void> = {
  'the name of a field that is not text': (form, text) => {
    Object.assign(form.fields, { [text]: 1.5 })
  },
  'the host of the form': (form, text) => {
    form.url = `https://${text}.example/feeds`
  },
  'the query of the form': (form, text) => {
    form.url += `?sig=${inAddress(text)}`
  },
  'user and query of fileUrl': (form, text) => {
    form.fileUrl = `https://u:${inAddress(text)}@a.example/b.xml?t=${inAddress(text)}#${inAddress(text)}`
  },
  'the path of fileUrl': (form, text) => {
    form.fileUrl = `https://a.example/${inAddress(text)}/b.xml`
  },
  'the host of fileUrl': (form, text) => {
    form.fileUrl = `https://${text}.example/b.xml`
  },
  'the key': (form, text) => {
    form.fields.key = `incoming/${text}/b.xml`
  },
}

const error = (r: ServerResponse, code: string, message: string) =>
  r
    .writeHead(403, { 'content-type': 'application/xml' })
    .end(`<Error><Code>${code}</Code><Message>${message}</Message></Error>`)

/** Each function answers an upload, and repeats the text at one place of the answer. */
export const STORAGE_PLACES: Record<string, Answer> = {
  'the message of an error': (r, text) => error(r, 'AccessDenied', text.replace(/[<]/g, '&lt;')),
  'the message of an error as CDATA': (r, text) =>
    error(r, 'AccessDenied', `<![CDATA[${text.replaceAll(']]>', '')}]]>`),
  'the code of an error': (r, text) => error(r, text.replace(/[<&]/g, ''), 'no'),
  'a code that is a word': (r, text) => error(r, `A${text.replace(/[^\w.-]/g, '')}`, 'no'),
  'the sizes of an error': (r, text) =>
    r
      .writeHead(400)
      .end(
        `<Error><Code>EntityTooLarge</Code><ProposedSize>${text.replace(/[<&]/g, '')}</ProposedSize></Error>`,
      ),
  'the host of a redirect of storage': (r, text) =>
    r.writeHead(307, { location: `https://${text}.example/` }).end(),
  'a host below the host of storage': (r, text) =>
    r.writeHead(307, { location: `http://${text}.localhost/` }).end(),
  'the ETag': (r, text) => r.writeHead(201, { etag: `"${inHeader(text)}"` }).end(),
  'an ETag that looks like a checksum': (r, text) =>
    r.writeHead(201, { etag: `"${Buffer.from(text).toString('hex').slice(0, 32)}"` }).end(),
  'the reason phrase of storage': (r, text) => r.writeHead(403, inHeader(text)).end(),
}

interface Form {
  url: string
  fileUrl: string
  fields: Record<string, string>
}

const token = (bytes: number) => randomBytes(bytes).toString('base64')

export class EchoingHost implements AsyncDisposable {
  /** Each new form replaces the secrets of the form before, except the token, which is the same in all forms. */
  readonly received: Received = new Map()
  /** At which place the host repeats which secret, with which escape; null means the host repeats nothing. */
  plan: { place: string; secret: string; escape: (text: string) => string } | null = null
  /** other answers the requests that are neither for a form nor for storage. */
  other: (request: IncomingMessage, response: ServerResponse, text: string) => void = (_, r) =>
    json(r, 404, {})
  /** How often the host has repeated a secret. */
  echoes = 0
  readonly #server = createServer(async (request, response) => {
    await request.resume().toArray()
    this.#answer(request, response)
  })
  readonly #token = token(90)

  static async open(): Promise<EchoingHost> {
    const host = new EchoingHost()
    await new Promise<void>((resolve) => host.#server.listen(0, '127.0.0.1', resolve))
    return host
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** #repeated returns the escaped secret of the plan, and counts the repetition. Throws before the secret is known. */
  #repeated(): string {
    const { plan } = this
    const value = this.received.get(plan?.secret ?? '')
    if (plan === null || value === undefined)
      throw new Error(`the host has not received ${plan?.secret}`)
    this.echoes++
    return plan.escape(value)
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { headers, url = '' } = request
    for (const [name, header] of [
      ['signature', 'x-svc-signature'],
      ['proxy', 'proxy-authorization'],
    ] as const)
      if (typeof headers[header] === 'string')
        this.received.set(name, headers[header].replace('Basic ', ''))
    const place = this.plan?.place ?? ''
    if (url.includes('/v1/presigned')) {
      const service = SERVICE_PLACES[place]
      if (service === undefined) this.#form(response)
      else service(response, this.#repeated())
    } else if (url.includes('/feeds')) {
      const storage = STORAGE_PLACES[place]
      if (storage === undefined) response.writeHead(201, { etag: '"stored-1"' }).end()
      else storage(response, this.#repeated())
    } else this.other(request, response, this.plan === null ? '' : this.#repeated())
  }

  #form(response: ServerResponse): void {
    const form: Form = {
      url: 'http://localhost:2/feeds',
      fileUrl: 'https://files.example/a.xml',
      fields: {
        key: `incoming/${token(6)}.xml`,
        policy: token(900),
        success_action_status: '201',
        'x-store-credential': `${randomBytes(12).toString('hex')}/20260102/eu-1/store/request`,
        'x-store-security-token': this.#token,
        'x-store-signature': randomBytes(32).toString('hex'),
      },
    }
    for (const name of ['policy', 'credential', 'security-token', 'signature'])
      this.received.set(`form ${name}`, form.fields[name] ?? form.fields[`x-store-${name}`] ?? '')
    const change = FORM_PLACES[this.plan?.place ?? '']
    if (change !== undefined) change(form, this.#repeated())
    json(response, 200, form)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
