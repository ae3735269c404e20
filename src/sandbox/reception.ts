// Takes one POST form from first to last byte: fields, judgement, file, end. Plays the faults that
// have to do with the body on the way. What it answers with is decided, not sent, here.

import type { Exchange } from './exchange.ts'
import { passGate, subjectOf } from './exchange.ts'
import type { ReplacedAnswer } from './fault-answers.ts'
import { replacedAnswer } from './fault-answers.ts'
import type { Cut } from './fault-types.ts'
import { type FaultBook, Plan } from './faults.ts'
import type { AcceptedForm, FormVerdict } from './form-check.ts'
import { MultipartParser, type PartEvent } from './multipart-parser.ts'
import type { IncomingObject, ObjectStore } from './object-store.ts'
import type { S3Error } from './s3-errors.ts'

export type Received =
  | { kind: 'file'; form: AcceptedForm; incoming: IncomingObject; plan: Plan }
  | { kind: 'refused'; error: S3Error }
  /** A fault answers, at the end or before. */
  | { kind: 'replaced'; replaced: ReplacedAnswer; plan: Plan }
  | { kind: 'cut'; how: Cut }
  /** The client went away. */
  | { kind: 'gone' }

export interface ReceptionParts {
  faults: FaultBook
  store: ObjectStore
  /** `fields`: names in lower case. */
  judge(fields: ReadonlyMap<string, string>, filename: string | null): FormVerdict
  accountOf(key: string): string | null
  url: string
}

/** S3 takes at most this much before the file's first byte. */
const LARGEST_HEAD = 20 * 1024

export class Reception {
  readonly #exchange: Exchange
  readonly #parts: ReceptionParts
  readonly #parser: MultipartParser
  readonly #bodyBytes: number
  readonly #tailBytes: number
  readonly #fields = new Map<string, string>()
  #field: { name: string; pieces: Buffer[] } | null = null
  #place: 'fields' | 'file' | 'after' = 'fields'
  #form: AcceptedForm | null = null
  #incoming: IncomingObject | null = null
  #plan = new Plan()
  #replaced: ReplacedAnswer | null = null
  #fileBytes = 0
  #expected = 0
  #stalled = false
  #gated = false

  constructor(exchange: Exchange, boundary: string, bodyBytes: number, parts: ReceptionParts) {
    this.#exchange = exchange
    this.#parts = parts
    this.#parser = new MultipartParser(boundary)
    this.#bodyBytes = bodyBytes
    this.#tailBytes = `\r\n--${boundary}--\r\n`.length
  }

  async run(): Promise<Received> {
    let received: Received | null = null
    try {
      received = await this.#read()
      return received
    } finally {
      if (received?.kind !== 'file') await this.#incoming?.discard()
    }
  }

  async #read(): Promise<Received> {
    const { reader, journal, entry } = this.#exchange
    for (;;) {
      const piece = await reader.next()
      switch (piece.kind) {
        case 'bytes':
          journal.update(entry, { bytes: entry.bytes + piece.bytes.length })
          for (const event of this.#parser.push(piece.bytes)) {
            const over = await this.#on(event)
            if (over !== null) return over
          }
          if (this.#place === 'fields' && entry.bytes > LARGEST_HEAD) return tooMuchBeforeFile()
          break
        case 'end':
          return this.#end()
        case 'idle':
          return { kind: 'refused', error: { code: 'RequestTimeout' } }
        case 'short':
          return { kind: 'refused', error: { code: 'IncompleteBody' } }
        case 'gone':
          return { kind: 'gone' }
        default:
          return piece satisfies never
      }
    }
  }

  #on(event: PartEvent): Promise<Received | null> | Received | null {
    switch (event.kind) {
      case 'part':
        return this.#openPart(event)
      case 'data':
        if (this.#place === 'file') return this.#takeFile(event.bytes)
        this.#field?.pieces.push(event.bytes)
        return null
      case 'part-end':
        if (this.#place === 'file') this.#place = 'after'
        if (this.#field !== null) {
          this.#fields.set(this.#field.name, Buffer.concat(this.#field.pieces).toString('utf8'))
        }
        this.#field = null
        return null
      case 'end':
        return null
      case 'malformed':
        return { kind: 'refused', error: { code: 'MalformedPOSTRequest' } }
      default:
        return event satisfies never
    }
  }

  #openPart(
    part: Extract<PartEvent, { kind: 'part' }>,
  ): Promise<Received | null> | Received | null {
    const name = part.name.toLowerCase()
    if (this.#place !== 'fields') {
      return name === 'file'
        ? { kind: 'refused', error: { code: 'IncorrectNumberOfFilesInPostRequest' } }
        : null
    }
    if (part.offset > LARGEST_HEAD) return tooMuchBeforeFile()
    if (name === 'file') return this.#openFile(part.filename, part.offset)
    if (this.#fields.has(name)) {
      const message = `Bucket POST must contain exactly one field named '${name}'.`
      const details = { ArgumentName: name }
      return { kind: 'refused', error: { code: 'InvalidArgument', message, details } }
    }
    this.#field = { name, pieces: [] }
    return null
  }

  async #openFile(filename: string | null, offset: number): Promise<Received | null> {
    const { journal, entry, clock } = this.#exchange
    const { faults, store, judge, accountOf, url } = this.#parts
    const verdict = judge(this.#fields, filename)
    if (verdict.kind === 'refused') return verdict
    const { key } = verdict.form
    journal.update(entry, { key, account: accountOf(key), fileBytes: 0 })
    this.#plan = faults.plan('storage', 'fields', subjectOf(this.#exchange))
    journal.update(entry, { faults: [...entry.faults, ...this.#plan.kinds] })
    this.#replaced = replacedAnswer(this.#plan, clock.now(), url)
    this.#form = verdict.form
    this.#expected = this.#bodyBytes - offset - this.#tailBytes
    this.#place = 'file'
    if (this.#replaced?.point === 'fields')
      return { kind: 'replaced', replaced: this.#replaced, plan: this.#plan }
    this.#incoming = await store.receive()
    return this.#progress()
  }

  async #takeFile(bytes: Buffer): Promise<Received | null> {
    const { journal, entry, clock, signal } = this.#exchange
    await this.#incoming?.write(bytes)
    this.#fileBytes += bytes.length
    journal.update(entry, { fileBytes: this.#fileBytes })
    const rate = this.#plan.get('throttle')?.bytesPerSecond
    if (rate !== undefined) await clock.sleep((1000 * bytes.length) / rate, signal)
    const most = this.#form?.maxBytes ?? 0
    if (this.#fileBytes > most) {
      const details = { ProposedSize: String(this.#expected), MaxSizeAllowed: String(most) }
      return { kind: 'refused', error: { code: 'EntityTooLarge', details } }
    }
    return this.#progress()
  }

  /** Plays what is due at this byte of the file. */
  async #progress(): Promise<Received | null> {
    const gate = this.#plan.get('gate-at-byte')
    if (gate !== undefined && !this.#gated && this.#reached(gate.fileByte)) {
      this.#gated = true
      await passGate(this.#exchange, this.#plan.gate('file'))
    }
    const drop = this.#plan.get('drop-at-byte')
    if (drop !== undefined && this.#reached(drop.fileByte)) return { kind: 'cut', how: drop.how }
    if (this.#replaced?.point === 'middle' && this.#reached(this.#expected >> 1)) {
      return { kind: 'replaced', replaced: this.#replaced, plan: this.#plan }
    }
    const stall = this.#plan.get('stall')
    if (stall === undefined || this.#stalled || !this.#reached(stall.fileByte)) return null
    this.#stalled = true
    await this.#exchange.clock.sleep(stall.ms, this.#exchange.signal)
    if (stall.afterwards === 'rst') return { kind: 'cut', how: 'rst' }
    return stall.afterwards === 'continue'
      ? null
      : { kind: 'refused', error: { code: 'RequestTimeout' } }
  }

  #reached(fileByte: number): boolean {
    return this.#fileBytes >= (fileByte < 0 ? this.#expected + fileByte : fileByte)
  }

  #end(): Received {
    const { entry, journal } = this.#exchange
    if (!this.#parser.ended) {
      return { kind: 'refused', error: { code: 'MalformedPOSTRequest' } }
    }
    if (this.#form === null || this.#incoming === null) {
      const message = 'POST requires exactly one file upload per request.'
      const details = { ArgumentName: 'file', ArgumentValue: '0' }
      return { kind: 'refused', error: { code: 'InvalidArgument', message, details } }
    }
    if (this.#replaced !== null)
      return { kind: 'replaced', replaced: this.#replaced, plan: this.#plan }
    journal.update(entry, { fileBytes: this.#fileBytes })
    const { minBytes } = this.#form
    if (this.#fileBytes < minBytes) {
      const details = { ProposedSize: String(this.#fileBytes), MinSizeAllowed: String(minBytes) }
      return { kind: 'refused', error: { code: 'EntityTooSmall', details } }
    }
    return { kind: 'file', form: this.#form, incoming: this.#incoming, plan: this.#plan }
  }
}

function tooMuchBeforeFile(): Received {
  return { kind: 'refused', error: { code: 'MaxPostPreDataLengthExceededError' } }
}
