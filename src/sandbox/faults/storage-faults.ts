// This file is a layer around the storage that plays its faults: the layer watches an upload step by step, and ends,
// delays, loses or changes the upload.

import type { Answer } from '../http/answer.ts'
import type { Exchange, Screen } from '../http/exchange.ts'
import type { AcceptedForm } from '../storage/form-check.ts'
import { refuseAsS3 } from '../storage/s3-answer.ts'
import {
  objectAt,
  type Storage,
  storedAnswer,
  storedXml,
  type UploadWatch,
} from '../storage/storage.ts'
import { rawBytes } from './fault-answers.ts'
import type { FaultOf } from './fault-types.ts'
import type { FaultBook } from './faults.ts'
import { Played } from './played.ts'

/** withStorageFaults returns a function that has the storage answer a request, and plays the faults of the request. */
export function withStorageFaults(storage: Storage, faults: FaultBook) {
  return async (exchange: Exchange): Promise<void> => {
    const { method } = exchange.entry
    const played = new Played(exchange, faults)
    await played.begin({ route: method === 'GET' || method === 'HEAD' ? 'fetch' : 'store' })
    played.refuseAt('headers')
    const watch = new FaultyUpload(exchange, played)
    const answer = await storage(exchange, watch)
    if (answer === null) return
    await played.waitAtGate('answer')
    const raw = played.fault('raw')
    if (raw !== undefined) return exchange.answerRaw(rawBytes(raw, answer))
    const lost = played.fault('lose-answer')
    if (lost !== undefined) return exchange.cut(lost.how)
    return exchange.answer(watch.changed(answer))
  }
}

/** storageScreen returns a screen that plays the fault `refuse` of the storage, or null if there is no such fault. */
export function storageScreen(faults: FaultBook): Screen | null {
  if (!faults.has('storage', 'refuse')) return null
  return { isPatient: false, judge: () => faults.chooseRefusal('storage') }
}

class FaultyUpload implements UploadWatch {
  readonly #exchange: Exchange
  readonly #played: Played
  #form: AcceptedForm | null = null
  /** #expected is the size of the file in bytes. */
  #expected = 0
  #hasPassedGate = false
  #hasStalled = false

  constructor(exchange: Exchange, played: Played) {
    this.#exchange = exchange
    this.#played = played
  }

  onForm(form: AcceptedForm, expected: number): void {
    this.#form = form
    this.#expected = expected
    this.#played.choose('fields')
    this.#played.refuseAt('fields')
  }

  async onFile(bytes: number, fresh: number): Promise<void> {
    const { drop, gate, stall, throttle } = {
      drop: this.#played.fault('drop-at-byte'),
      gate: this.#played.fault('gate-at-byte'),
      stall: this.#played.fault('stall'),
      throttle: this.#played.fault('throttle'),
    }
    const reached = (fileByte: number) =>
      bytes >= (fileByte < 0 ? this.#expected + fileByte : fileByte)
    if (throttle !== undefined && fresh > 0) {
      await this.#exchange.sleep((1000 * fresh) / throttle.bytesPerSecond)
    }
    if (gate !== undefined && !this.#hasPassedGate && reached(gate.fileByte)) {
      this.#hasPassedGate = true
      await this.#played.waitAtGate('file')
    }
    if (drop !== undefined && reached(drop.fileByte)) await this.#exchange.cut(drop.how)
    if (reached(this.#expected >> 1)) this.#played.refuseAt('middle')
    if (stall === undefined || this.#hasStalled || !reached(stall.fileByte)) return
    this.#hasStalled = true
    await this.#exchange.sleep(stall.ms)
    if (stall.afterwards === 'rst') await this.#exchange.cut('rst')
    if (stall.afterwards === 'request-timeout') refuseAsS3({ code: 'RequestTimeout' })
  }

  async onEnd(): Promise<Answer | null> {
    const replaced = this.#played.replacement('end')
    if (replaced !== null) await this.#played.waitAtGate('end')
    return replaced
  }

  async onStore(commit: () => Promise<void>): Promise<void> {
    const lost = this.#played.fault('lose-answer')
    await this.#played.waitAtGate('end')
    if (lost?.afterMs !== undefined) await this.#played.cutAndWait(lost.how, lost.afterMs)
    if (lost?.stored ?? this.#played.fault('success')?.stored ?? true) await commit()
  }

  /** changed returns the answer as the fault `success` changes it. A refusal stays as it is. */
  changed(answer: Answer): Answer {
    const fault = this.#played.fault('success')
    if (fault === undefined || this.#form === null || answer.code !== null) return answer
    const md5 = (answer.headers.etag ?? '').replaceAll('"', '')
    const status = fault.status ?? answer.status
    const etag = fault.etag === undefined ? `"${md5}"` : ETAGS[fault.etag](md5)
    const object = { ...objectAt(this.#exchange, this.#form.key), etag }
    const { headers } = storedAnswer({ ...object, status })
    const kind = fault.body ?? (status === 201 ? 'xml' : 'none')
    const xml = storedXml(object)
    const bodies = {
      none: '',
      xml,
      cut: xml,
      truncated: xml.slice(0, xml.length >> 1),
      html: '<!doctype html><html><title>Log in</title><form></form></html>',
    }
    const type = kind === 'html' ? 'text/html' : 'application/xml'
    const { 'content-type': _, ...others } = headers
    return {
      status,
      headers: {
        ...others,
        ...(fault.checksum === 'wrong' && { 'x-store-checksum-crc64nvme': 'AAAAAAAAAAA=' }),
        ...(kind !== 'none' && { 'content-type': type }),
      },
      body: Buffer.from(bodies[kind]),
      code: null,
      ending: kind === 'cut' ? kind : undefined,
    }
  }
}

/** ETAGS make the value of the header ETag from an object's MD5. Null sends no header. */
const ETAGS: Record<NonNullable<FaultOf<'success'>['etag']>, (md5: string) => string | null> = {
  wrong: (md5) => `"${[...md5].reverse().join('')}"`,
  opaque: (md5) => `"${md5.slice(0, 20)}-opaque-1"`,
  missing: () => null,
  weak: (md5) => `W/"${md5}"`,
  unquoted: (md5) => md5,
}
