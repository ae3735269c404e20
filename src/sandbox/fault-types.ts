// The closed set of faults that the sandbox can play, as plain data: a test, a JSON file and the
// control route write the same thing. What each one does lives with the side that plays it.

import type { S3Code } from './s3-errors.ts'

export type Side = 'service' | 'storage'

/** How a connection ends: FIN, or RST. */
export type Cut = 'fin' | 'rst'

/** `headers`: no body byte read; `fields`: before the file; `middle`: half of the file read; `end`: all of it. */
export type Point = 'headers' | 'fields' | 'middle' | 'end'

/**
 * What happens after an answer that comes before the body's end: FIN and keep reading; close at once;
 * stop reading and hold; RST in the middle of the answer's body.
 */
export type Ending = 'drain' | 'destroy' | 'hold' | 'cut'

/**
 * Where a gate holds a request. `headers`: its head is read, of its body nothing; `end`: its body is read, nothing is
 * stored or carried out; `answer`: it is stored or carried out, and its answer is not sent.
 */
export type GatePoint = 'headers' | 'end' | 'answer'

/** A header's value, or an HTTP date this many ms from now. */
export type RetryAfter = string | { dateInMs: number }

export interface AnswerOptions {
  headers?: Record<string, string>
  retryAfter?: RetryAfter
  /** Storage only; default `end`. */
  point?: Point
  /** For an answer before the end; default `drain`. */
  ending?: Ending
}

/**
 * Faults of a connection or of an answer's bytes: both sides play them. Those that shape an answer
 * (`interim`, `transfer`, `connection-close`, `keep-alive`) do so where the whole body was read.
 */
export type SharedFault =
  /** The connection ends as soon as it is accepted. */
  | { kind: 'refuse'; how: Cut }
  /** `headers`: as soon as the request's head is read; `reuse`: only on a connection that served before. */
  | { kind: 'drop'; point: 'headers' | 'reuse'; how: Cut }
  /** Any answer in place of the right one; nothing is stored. */
  | ({ kind: 'answer'; status: number; body?: string } & AnswerOptions)
  /** 307, 301, 303, 308. `same-host`: another path; `loop`: the same address. Any other text is sent as it is. */
  | { kind: 'redirect'; status: number; location: string; point?: Point; ending?: Ending }
  /** Bytes that are no HTTP, two final answers, or a header of `bytes` bytes (default 256 KiB). */
  | { kind: 'raw'; what: 'garbage' | 'two-answers' | 'oversized-headers'; bytes?: number }
  /** An interim answer that nobody asked for, before the final one. */
  | { kind: 'interim'; status: 100 | 102 | 103 }
  /** How the bytes of the answer's body travel. */
  | { kind: 'transfer'; how: 'chunked' | 'gzip' | 'byte-by-byte' }
  /** `Connection: close` on the answer. */
  | { kind: 'connection-close' }
  /** Announces `Keep-Alive: timeout=seconds` and closes the idle connection after `closeAfterMs`. */
  | { kind: 'keep-alive'; seconds: number; closeAfterMs: number; how?: Cut }
  /**
   * The request waits until a program lets it go: see `FaultHandle`, or `POST /_sandbox/faults/ID/release` (those that
   * wait now) and `DELETE /_sandbox/faults/ID` (the gate is gone). `GET /_sandbox/faults` tells how many are held.
   * What a client sent before it went away is still read after a release, so its upload may come whole.
   */
  | { kind: 'gate'; point: GatePoint }

export type ServiceFault =
  | SharedFault
  /** The answer's head comes late, its body slowly, or nothing comes at all. */
  | { kind: 'slow'; headersAfterMs?: number; bytesPerSecond?: number; never?: boolean }
  /** A 200 whose JSON is not what was promised, or has more than that. */
  | {
      kind: 'json'
      variant:
        | 'truncated'
        | 'invalid'
        | 'empty'
        | 'empty-object'
        | 'no-url'
        | 'no-key'
        | 'more-fields'
    }
  /** The service's clock is `skewMs` ahead (negative: behind) in its `Date` and in what it accepts. */
  | { kind: 'date'; skewMs?: number; ageSeconds?: number; omit?: boolean }
  /** The request is carried out, then its answer is lost: the client cannot know whether it was. */
  | { kind: 'commit-drop'; how: Cut | 'silence' }
  /** A right signature is refused. */
  | { kind: 'signature-mismatch' }
  /** A form that is odd. The storage judges it as it judges any form. */
  | {
      kind: 'form'
      /** Negative: issued expired. */
      lifetimeMs?: number
      /** Life of the security token, when it is to die before the form. */
      tokenLifetimeMs?: number
      policy?: 'not-base64' | 'not-json' | 'no-expiration' | 'whole-seconds' | 'with-newlines'
      /** The key of the form that was issued before. */
      sameKey?: boolean
      successStatus?: string
      contentLengthRange?: readonly [number, number]
    }

export type StorageFault =
  | SharedFault
  /** A gate where this many bytes of the file are read; negative: counted from its end. */
  | { kind: 'gate-at-byte'; fileByte: number }
  /** The connection ends when this many bytes of the file are read; negative: counted from its end. */
  | { kind: 'drop-at-byte'; fileByte: number; how: Cut }
  /** One of S3's errors. `style` shapes the XML; `huge` is 10 MB, `entities` a billion laughs. */
  | ({
      kind: 's3-error'
      code: S3Code
      message?: string
      details?: Record<string, string>
      style?: 'plain' | 'bom' | 'namespace' | 'cdata' | 'entities' | 'huge' | 'truncated'
    } & AnswerOptions)
  /** The whole body is read, then the answer is lost: the client cannot know whether the object is stored. */
  | { kind: 'lose-answer'; stored: boolean; how: Cut | 'silence' }
  /** The body is read no faster than this. */
  | { kind: 'throttle'; bytesPerSecond: number }
  /** Reading stops at this byte of the file for `ms`. */
  | {
      kind: 'stall'
      fileByte: number
      ms: number
      afterwards: 'continue' | 'request-timeout' | 'rst'
    }
  /** The object is stored, and the answer is another one than expected. */
  | {
      kind: 'success'
      status?: number
      /** `truncated`: half of the XML, properly ended; `cut`: RST after half of it. */
      body?: 'xml' | 'none' | 'html' | 'truncated' | 'cut'
      etag?: 'wrong' | 'opaque' | 'missing' | 'weak' | 'unquoted'
      checksum?: 'wrong'
      /** false: the storage lies. */
      stored?: boolean
    }

export type FaultKind = ServiceFault['kind'] | StorageFault['kind']

/** When a fault is played: all that is given must hold. */
export interface Conditions {
  /** At most this often; default: always. */
  times?: number
  /** Not for the first so many requests that match. */
  after?: number
  /** Only each n-th request that matches, beginning with the first. */
  every?: number
  /** Of the requests that match, 0 to 100, drawn from `seed` (default 1). */
  percent?: number
  seed?: number
  /** As in `SeenRequest.route`. */
  route?: string
  account?: string
  /** Storage only: the object's key contains this. */
  key?: string
  /** Programs only. */
  where?: (request: FaultSubject) => boolean
}

export interface FaultSubject {
  route: string
  account: string | null
  key: string | null
  /** Whether the connection served a request before. */
  reused: boolean
}

export type FaultRule = Conditions &
  (({ at: 'service' } & ServiceFault) | ({ at: 'storage' } & StorageFault))
