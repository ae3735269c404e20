// The journal lists the requests that the sandbox received, with the headers and bodies of the newest requests and of
// their answers. It neither shows nor saves a key: a signature does not show its key, and API keys are hidden.

import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/errors.ts'
import type { SandboxDatabase } from './database.ts'
import { type RequestDetails, SeenRequest, type Side } from './records.ts'

/** MOST_REQUESTS is how many of the newest requests stay listed. A list of twice as many is cut to this length. */
const MOST_REQUESTS = 100_000
/** MOST_DETAILS is how many of the newest requests keep their headers and bodies. */
export const MOST_DETAILS = 1000
/** LONGEST_BODY is the number of bytes of a body that the journal shows and saves. */
const LONGEST_BODY = 64 * 1024

/** Recorded is what a request sent and was answered so far. */
interface Recorded {
  path: string
  query: string
  /** rawHeaders has the names and values of the request's headers in turn. */
  rawHeaders: readonly string[]
  body: Buffer
  answerHeaders: Record<string, string>
  answer: Buffer
}

/** ArrivedRequest is what is known of a request when it arrives. */
interface ArrivedRequest extends Partial<SeenRequest> {
  side: Side
  connection: number
}

export class Journal {
  /** run counts the resets. A request that arrived in an earlier run changes nothing. */
  run = 0
  /** problem says why the newest request could not be saved. It is null if that request was saved. */
  problem: string | null = null
  readonly #clock: Clock
  readonly #database: SandboxDatabase
  readonly #secretHeader: string
  readonly #recorded = new WeakMap<SeenRequest, Recorded>()
  readonly #listeners = new Set<() => void>()
  /** #open holds the running requests of this run. */
  readonly #open = new Set<SeenRequest>()
  #entries: SeenRequest[]
  #last: number

  /** `secretHeader` is the name of the header whose value is a key. */
  constructor(clock: Clock, database: SandboxDatabase, secretHeader: string) {
    this.#clock = clock
    this.#database = database
    this.#secretHeader = secretHeader.toLowerCase()
    database.trimRequests(MOST_REQUESTS)
    this.#entries = database.requests()
    this.#last = this.#entries.at(-1)?.n ?? 0
  }

  /** open lists a request that has arrived under the next number, tells the listeners, and returns its entry. */
  open(facts: ArrivedRequest): SeenRequest {
    const [n, startedAt] = [++this.#last, this.#clock.now()]
    const entry = Object.assign(new SeenRequest(), { ...facts, n, startedAt })
    this.#entries.push(entry)
    this.#open.add(entry)
    // The list is trimmed rarely, because a trim moves all remaining entries.
    if (this.#entries.length >= 2 * MOST_REQUESTS) this.#entries.splice(0, MOST_REQUESTS)
    this.update(entry, {})
    return entry
  }

  /** update adds facts to an entry and tells the listeners. */
  update(entry: SeenRequest, patch: Partial<SeenRequest>): void {
    Object.assign(entry, patch)
    for (const listener of [...this.#listeners]) listener()
  }

  /** onChange calls `listener` after each step of a request, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** record keeps parts of what a request sent and was answered. Parts that were recorded earlier stay. */
  record(entry: SeenRequest, part: Partial<Recorded>): void {
    const empty: Recorded = {
      ...{ path: '', query: '', rawHeaders: [], body: Buffer.alloc(0) },
      ...{ answerHeaders: {}, answer: Buffer.alloc(0) },
    }
    this.#recorded.set(entry, { ...(this.#recorded.get(entry) ?? empty), ...part })
  }

  /** recordBody adds the next bytes of the request's body. It ignores them once 64 KiB are recorded. */
  recordBody(entry: SeenRequest, bytes: Buffer): void {
    const { body } = this.#recorded.get(entry) ?? { body: Buffer.alloc(0) }
    if (body.length >= LONGEST_BODY) return
    this.record(entry, { body: Buffer.concat([body, bytes.subarray(0, LONGEST_BODY)]) })
  }

  /**
   * close ends an entry and saves it, unless it is a control request or arrived in an earlier run. If the entry cannot
   * be saved, `problem` says why.
   */
  close(entry: SeenRequest): void {
    this.update(entry, { endedAt: this.#clock.now() })
    if (!this.#open.delete(entry) || entry.route === 'control') return
    try {
      this.#database.saveRequest(entry, this.#detailsOf(entry), MOST_DETAILS)
      this.problem = null
    } catch (error) {
      this.problem = `the newest request could not be saved: ${messageOf(error)}`
    }
  }

  /** list returns copies of all entries except control requests, oldest first. */
  list(): SeenRequest[] {
    return this.#entries.filter(({ route }) => route !== 'control').map((entry) => ({ ...entry }))
  }

  /** find returns a copy of the first entry that `predicate` accepts, or undefined. */
  find(predicate: (request: SeenRequest) => boolean): SeenRequest | undefined {
    return structuredClone(this.#entries.find(predicate))
  }

  /** details returns what request `n` sent and was answered, or null if the journal does not keep its details. */
  details(n: number): RequestDetails | null {
    const entry = this.#entries.findLast((one) => one.n === n)
    const running = entry?.endedAt === null ? this.#detailsOf(entry) : null
    return running ?? this.#database.details(n)
  }

  /** clear begins a new run without requests. The caller has cleared the database before. */
  clear(): void {
    this.run++
    this.#open.clear()
    this.#entries = []
    this.#last = 0
    this.problem = null
  }

  /** #detailsOf returns what was recorded of a request, without API keys, or null if nothing was recorded. */
  #detailsOf(entry: SeenRequest): RequestDetails | null {
    const recorded = this.#recorded.get(entry)
    if (recorded === undefined) return null
    const { path, query, rawHeaders, body, answerHeaders, answer } = recorded
    const headers = rawHeaders.flatMap((name, i): [string, string][] => {
      if (i % 2 === 1) return []
      const isSecret = name.toLowerCase() === this.#secretHeader
      return [[name, isSecret ? '(hidden)' : (rawHeaders[i + 1] ?? '')]]
    })
    return {
      ...{ path, query, headers, body: textOf(body), answerHeaders },
      answerBody: textOf(answer),
    }
  }
}

const textOf = (bytes: Buffer) => bytes.toString('utf8', 0, LONGEST_BODY)
