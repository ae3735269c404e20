// Played knows the faults that one request meets. It plays the faults that service and storage have in common: drops,
// gates, and how the answer is sent.

import { type Answer, Refusal } from '../http/answer.ts'
import type { Exchange } from '../http/exchange.ts'
import { replacementAnswer } from './fault-answers.ts'
import type { FaultKind, FaultOf, GatePoint, Stage } from './fault-types.ts'
import { type Fault, type FaultBook, ruleOf } from './faults.ts'

type FaultPoint = NonNullable<FaultOf<'answer'>['point']>

export class Played {
  readonly #exchange: Exchange
  readonly #book: FaultBook
  #faults: readonly Fault[] = []

  constructor(exchange: Exchange, book: FaultBook) {
    this.#exchange = exchange
    this.#book = book
  }

  /** begin records route and account, and plays the faults before the body. Throws if it ends the connection. */
  async begin(facts: { route: string; account?: string | null }): Promise<void> {
    this.#exchange.update(facts)
    this.choose('headers')
    const drop = this.fault('drop')
    if (drop !== undefined) await this.#exchange.cut(drop.how)
    await this.waitAtGate('headers')
  }

  /** choose replaces the chosen faults by the faults of this stage, records them, and sets how the answer is sent. */
  choose(stage: Stage): void {
    const { entry, reused } = this.#exchange
    const { side, route, account, key } = entry
    this.#faults = this.#book.choose(side, stage, { route, account, key, reused })
    const kinds = this.#faults.map(({ rule }) => rule.kind)
    this.#exchange.update({ faults: [...entry.faults, ...kinds] })
    this.#setDelivery()
  }

  fault<K extends FaultKind>(kind: K): FaultOf<K> | undefined {
    return ruleOf(this.#faults, kind)
  }

  /** waitAtGate resolves once no gate at this point holds the request. The gate at `file` is `gate-at-byte`. */
  async waitAtGate(point: GatePoint | 'file'): Promise<void> {
    const gate = this.#faults.find(({ rule }) =>
      point === 'file'
        ? rule.kind === 'gate-at-byte'
        : rule.kind === 'gate' && rule.point === point,
    )
    if (gate === undefined || gate.isRemoved) return
    const passed = gate.hold(this.#exchange.closed)
    this.#exchange.update({ held: true })
    await passed
    this.#exchange.update({ held: false })
  }

  /** replacement returns the answer of a chosen fault, or null. With `point`, it ignores a fault with another point. */
  replacement(point?: FaultPoint): Answer | null {
    const fault = this.fault('answer') ?? this.fault('redirect') ?? this.fault('s3-error')
    if (fault === undefined || (point !== undefined && (fault.point ?? 'end') !== point))
      return null
    return replacementAnswer(fault, this.#exchange.url, this.#exchange.now())
  }

  /** refuseAt refuses the request if a fault answers at this point of the body. */
  refuseAt(point: FaultPoint): void {
    const answer = this.replacement(point)
    if (answer !== null) throw new Refusal(answer)
  }

  /** cutAndWait ends the connection and resolves `ms` later. Throws `ConnectionClosed` if the sandbox was reset. */
  async cutAndWait(how: FaultOf<'commit-drop'>['how'], ms: number): Promise<void> {
    await this.#exchange.cut(how).catch(() => {})
    await this.#exchange.sleep(ms)
    this.#exchange.checkRun()
  }

  #setDelivery(): void {
    const interim = this.fault('interim')
    const transfer = this.fault('transfer')
    const keepAlive = this.fault('keep-alive')
    const date = this.fault('date')
    const rate = this.fault('slow')?.bytesPerSecond
    this.#exchange.delivery = {
      ...(interim && { interim: interim.status }),
      ...(transfer && { transfer: transfer.how }),
      ...(rate !== undefined && { bytesPerSecond: rate }),
      ...(this.fault('connection-close') && { close: true }),
      ...(keepAlive && { idle: { ...keepAlive, how: keepAlive.how ?? 'fin' } }),
      ...(date?.skewMs !== undefined && { skewMs: date.skewMs }),
      ...(date?.omit && { withoutDate: true }),
      ...(date?.ageSeconds !== undefined && { ageSeconds: date.ageSeconds }),
    }
  }
}
