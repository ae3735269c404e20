// Takes one POST form from first to last byte: fields, judgement, file, end. Plays the faults that have to do with
// the body on the way, then answers.

import type { Exchange } from './exchange.ts'
import { type ReplacedAnswer, replacedAnswer, s3Answer } from './fault-answers.ts'
import { type AcceptedForm, checkForm } from './form-check.ts'
import type { FormIssuer } from './form-issuer.ts'
import { type PartEvent, readParts } from './multipart-parser.ts'
import type { IncomingObject, ObjectStore } from './object-store.ts'
import type { S3Error } from './s3-errors.ts'

/** Ends the exchange. */
type End = () => Promise<void> | void

export interface ReceptionParts {
  store: ObjectStore
  issuer: FormIssuer
  /** Stores the object and answers. */
  accept(exchange: Exchange, form: AcceptedForm, incoming: IncomingObject): Promise<void>
}

/** S3 takes at most this much before the file's first byte. */
const LARGEST_HEAD = 20 * 1024
const TOO_MUCH_BEFORE_FILE: S3Error = { code: 'MaxPostPreDataLengthExceededError' }

export class Reception {
  readonly #exchange: Exchange
  readonly #parts: ReceptionParts
  readonly #boundary: string
  readonly #bodyBytes: number
  readonly #fields = new Map<string, string>()
  #field: { name: string; pieces: Buffer[] } | null = null
  /** Null until the fields were judged. */
  #form: AcceptedForm | null = null
  #incoming: IncomingObject | null = null
  #inFile = false
  #isWhole = false
  #replaced: ReplacedAnswer | null = null
  #fileBytes = 0
  #expected = 0
  #stalled = false
  #gated = false

  constructor(exchange: Exchange, boundary: string, bodyBytes: number, parts: ReceptionParts) {
    this.#exchange = exchange
    this.#parts = parts
    this.#boundary = boundary
    this.#bodyBytes = bodyBytes
  }

  async run(): Promise<void> {
    let end: End | null = null
    try {
      end = await this.#read()
    } finally {
      if (end !== this.#accept) await this.#incoming?.discard()
    }
    await end()
  }

  async #read(): Promise<End> {
    for await (const event of readParts(this.#pieces(), this.#boundary)) {
      const end = await this.#on(event)
      if (end !== null) return end
    }
    switch (this.#exchange.body.end) {
      case 'idle':
        return this.#refuse({ code: 'RequestTimeout' })
      case 'short':
        return this.#refuse({ code: 'IncompleteBody' })
      case 'gone':
        return () => {}
      default:
        return this.#atEnd()
    }
  }

  async *#pieces(): AsyncGenerator<Buffer, void> {
    for await (const piece of this.#exchange.body.pieces()) {
      yield piece
      if (this.#form === null && this.#exchange.entry.bytes > LARGEST_HEAD) return
    }
  }

  #on(event: PartEvent): Promise<End | null> | End | null {
    switch (event.kind) {
      case 'part':
        return this.#openPart(event)
      case 'data':
        if (this.#inFile) return this.#takeFile(event.bytes)
        this.#field?.pieces.push(event.bytes)
        return null
      case 'part-end':
        this.#inFile = false
        if (this.#field !== null) {
          this.#fields.set(this.#field.name, Buffer.concat(this.#field.pieces).toString('utf8'))
        }
        this.#field = null
        return null
      case 'end':
        this.#isWhole = true
        return null
      case 'malformed':
        return this.#refuse({ code: 'MalformedPOSTRequest' })
      default:
        return event satisfies never
    }
  }

  #openPart(part: Extract<PartEvent, { kind: 'part' }>): Promise<End | null> | End | null {
    const name = part.name.toLowerCase()
    if (this.#form !== null) {
      return name === 'file' ? this.#refuse({ code: 'IncorrectNumberOfFilesInPostRequest' }) : null
    }
    if (part.offset > LARGEST_HEAD) return this.#refuse(TOO_MUCH_BEFORE_FILE)
    if (name === 'file') return this.#openFile(part.filename, part.offset)
    if (this.#fields.has(name)) {
      const message = `Bucket POST must contain exactly one field named '${name}'.`
      const details = { ArgumentName: name }
      return this.#refuse({ code: 'InvalidArgument', message, details })
    }
    this.#field = { name, pieces: [] }
    return null
  }

  async #openFile(filename: string | null, offset: number): Promise<End | null> {
    const exchange = this.#exchange
    const { issuer, store } = this.#parts
    const form = checkForm(this.#fields, filename, issuer, exchange.now())
    if ('code' in form) return this.#refuse(form)
    exchange.note({ key: form.key, account: issuer.accountOf(form.key), fileBytes: 0 })
    exchange.choose('fields')
    this.#form = form
    this.#expected = this.#bodyBytes - offset - `\r\n--${this.#boundary}--\r\n`.length
    this.#replaced = replacedAnswer(exchange)
    if (this.#replaced?.point === 'fields') return this.#replace(this.#replaced)
    this.#incoming = await store.receive()
    this.#inFile = true
    return this.#progress()
  }

  async #takeFile(bytes: Buffer): Promise<End | null> {
    const exchange = this.#exchange
    await this.#incoming?.write(bytes)
    this.#fileBytes += bytes.length
    exchange.note({ fileBytes: this.#fileBytes })
    const rate = exchange.plan.get('throttle')?.bytesPerSecond
    if (rate !== undefined) await exchange.sleep((1000 * bytes.length) / rate)
    const most = this.#form?.maxBytes ?? 0
    if (this.#fileBytes > most) {
      const details = { ProposedSize: String(this.#expected), MaxSizeAllowed: String(most) }
      return this.#refuse({ code: 'EntityTooLarge', details })
    }
    return this.#progress()
  }

  /** Plays what is due at this byte of the file. */
  async #progress(): Promise<End | null> {
    const exchange = this.#exchange
    const { plan } = exchange
    const gate = plan.get('gate-at-byte')
    if (gate !== undefined && !this.#gated && this.#reached(gate.fileByte)) {
      this.#gated = true
      await exchange.pass('file')
    }
    const drop = plan.get('drop-at-byte')
    if (drop !== undefined && this.#reached(drop.fileByte)) return () => exchange.cut(drop.how)
    if (this.#replaced?.point === 'middle' && this.#reached(this.#expected >> 1)) {
      return this.#replace(this.#replaced)
    }
    const stall = plan.get('stall')
    if (stall === undefined || this.#stalled || !this.#reached(stall.fileByte)) return null
    this.#stalled = true
    await exchange.sleep(stall.ms)
    if (stall.afterwards === 'rst') return () => exchange.cut('rst')
    return stall.afterwards === 'continue' ? null : this.#refuse({ code: 'RequestTimeout' })
  }

  #reached(fileByte: number): boolean {
    return this.#fileBytes >= (fileByte < 0 ? this.#expected + fileByte : fileByte)
  }

  #atEnd(): End {
    if (this.#form === null && this.#exchange.entry.bytes > LARGEST_HEAD) {
      return this.#refuse(TOO_MUCH_BEFORE_FILE)
    }
    if (!this.#isWhole) return this.#refuse({ code: 'MalformedPOSTRequest' })
    if (this.#form === null) {
      const message = 'POST requires exactly one file upload per request.'
      const details = { ArgumentName: 'file', ArgumentValue: '0' }
      return this.#refuse({ code: 'InvalidArgument', message, details })
    }
    if (this.#replaced !== null) return this.#replace(this.#replaced)
    const { minBytes } = this.#form
    if (this.#fileBytes < minBytes) {
      const details = { ProposedSize: String(this.#fileBytes), MinSizeAllowed: String(minBytes) }
      return this.#refuse({ code: 'EntityTooSmall', details })
    }
    return this.#accept
  }

  readonly #accept: End = async () => {
    if (this.#form === null || this.#incoming === null) return
    await this.#parts.accept(this.#exchange, this.#form, this.#incoming)
  }

  #refuse(error: S3Error): End {
    return () => this.#exchange.answerEarly(s3Answer(error))
  }

  #replace({ answer, point, ending }: ReplacedAnswer): End {
    const exchange = this.#exchange
    return async () => {
      if (point !== 'end') return exchange.answerEarly(answer, ending)
      await exchange.pass('end')
      await exchange.pass('answer')
      // The request is read: the answer may take its shape from the plan, and the connection lives on.
      return ending === undefined ? exchange.answer(answer) : exchange.answerEarly(answer, ending)
    }
  }
}
