// Reads multipart/form-data byte by byte as it arrives, with bounded memory whatever the file's
// size. Keeps every byte of a value; knows nothing of forms or policies.

export type PartEvent =
  /** `offset`: bytes of the body before the part's first value byte. */
  | { kind: 'part'; name: string; filename: string | null; offset: number }
  | { kind: 'data'; bytes: Buffer }
  | { kind: 'part-end' }
  /** The closing delimiter: what follows is ignored. */
  | { kind: 'end' }
  | { kind: 'malformed'; reason: string }

const LONGEST_PART_HEAD = 8 * 1024
const CRLF2 = Buffer.from('\r\n\r\n')

/** The boundary of a `multipart/form-data` content type, or null where there is none. */
export function boundaryOf(contentType: string): string | null {
  const match = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;,"]{1,70}))/i.exec(contentType)
  return match?.[1] ?? match?.[2] ?? null
}

export class MultipartParser {
  readonly #delimiter: Buffer
  #state: 'preamble' | 'after-delimiter' | 'head' | 'value' | 'over' = 'preamble'
  #rest: Buffer
  /** Offset in the body of the first byte of `#rest`. */
  #offset: number

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
    // The first delimiter may open the body without a line break before it: pretend there was one.
    this.#rest = Buffer.from('\r\n')
    this.#offset = -2
  }

  /** Whether the closing delimiter was read. */
  get ended(): boolean {
    return this.#state === 'over'
  }

  *push(chunk: Buffer): Generator<PartEvent> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    while (this.#state !== 'over') {
      const event = this.#step()
      if (event === 'more') return
      if (event !== 'again') yield event
    }
    this.#take(this.#rest.length)
  }

  #step(): PartEvent | 'again' | 'more' {
    switch (this.#state) {
      case 'preamble': {
        // Browsers and libraries send none, and S3 is not known to take one.
        if (this.#rest.length < this.#delimiter.length) return 'more'
        if (this.#rest.indexOf(this.#delimiter) !== 0) {
          return this.#malformed('the body does not begin with the boundary')
        }
        this.#take(this.#delimiter.length)
        this.#state = 'after-delimiter'
        return 'again'
      }
      case 'after-delimiter': {
        if (this.#rest.length < 2) return 'more'
        const next = this.#take(2).toString('latin1')
        if (next === '\r\n') {
          this.#state = 'head'
          return 'again'
        }
        if (next !== '--') return this.#malformed('a boundary is followed by other bytes')
        this.#state = 'over'
        return { kind: 'end' }
      }
      case 'head': {
        const end = this.#rest.indexOf(CRLF2)
        if (end === -1) {
          return this.#rest.length > LONGEST_PART_HEAD
            ? this.#malformed('the head of a part is too long')
            : 'more'
        }
        const part = readHead(this.#take(end + CRLF2.length).toString('utf8'))
        if (part === null) return this.#malformed('a part has no name')
        this.#state = 'value'
        return { kind: 'part', ...part, offset: this.#offset }
      }
      case 'value':
        return this.#value()
      case 'over':
        return 'more'
      default:
        throw new Error(`unknown state ${this.#state satisfies never}`)
    }
  }

  #value(): PartEvent | 'more' {
    const end = this.#rest.indexOf(this.#delimiter)
    if (end === 0) {
      this.#take(this.#delimiter.length)
      this.#state = 'after-delimiter'
      return { kind: 'part-end' }
    }
    if (end > 0) return { kind: 'data', bytes: this.#take(end) }
    // What may be the beginning of a delimiter waits for the next chunk.
    const from = Math.max(0, this.#rest.length - this.#delimiter.length + 1)
    const partial = this.#rest.indexOf('\r', from)
    const sure = partial === -1 ? this.#rest.length : partial
    return sure === 0 ? 'more' : { kind: 'data', bytes: this.#take(sure) }
  }

  #take(bytes: number): Buffer {
    const taken = this.#rest.subarray(0, bytes)
    this.#rest = this.#rest.subarray(bytes)
    this.#offset += bytes
    return taken
  }

  #malformed(reason: string): PartEvent {
    this.#state = 'over'
    return { kind: 'malformed', reason }
  }
}

function readHead(head: string): { name: string; filename: string | null } | null {
  const disposition = head
    .split('\r\n')
    .find((line) => /^content-disposition:\s*form-data\s*;/i.test(line))
  const name = disposition === undefined ? null : parameter(disposition, 'name')
  if (disposition === undefined || name === null) return null
  return { name, filename: parameter(disposition, 'filename') }
}

/** Names and file names are written as HTML forms write them: `%22`, `%0D` and `%0A` for what would break the line. */
function parameter(line: string, name: string): string | null {
  const match = new RegExp(`;\\s*${name}="([^"]*)"`, 'i').exec(line)
  return match?.[1]?.replace(/%22/g, '"').replace(/%0D/gi, '\r').replace(/%0A/gi, '\n') ?? null
}
