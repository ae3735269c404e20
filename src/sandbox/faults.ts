// FaultBook decides which request meets which fault, by count, share, route, account or key. The service and the
// storage play the faults.

import { hash } from 'node:crypto'
import type { FaultKind, FaultOf, FaultRule, FaultSubject, Side } from './fault-types.ts'
import type { Journal } from './journal.ts'

/** Stage says when faults are chosen: at the accept, after the request's head, or after the form's fields. */
export type Stage = 'connect' | 'headers' | 'fields'

/** Fault is a rule with its counters. A fault that is a gate also holds requests. */
export class Fault {
  readonly id: number
  readonly rule: FaultRule
  /** isOpen is true once the fault is removed, so that its gate holds no request. */
  isOpen = false
  readonly #journal: Journal
  #matched = 0
  #played = 0
  #held = 0
  #released = Promise.withResolvers<void>()

  constructor(id: number, rule: FaultRule, journal: Journal) {
    this.id = id
    this.rule = rule
    this.#journal = journal
  }

  /** played returns how often the fault was played so far. */
  played(): number {
    return this.#played
  }

  /** held resolves once `n` requests wait at this gate. It rejects after 30 s without progress of any request. */
  async held(n = 1): Promise<void> {
    await this.#journal.waitFor(
      `${n} requests at the gate ${JSON.stringify(this.rule)}`,
      () => this.#held >= n || undefined,
      () => `${this.#held} held, ${this.#matched} matched`,
    )
  }

  /** release lets the waiting requests go on. The gate holds later requests again. */
  release(): void {
    this.#released.resolve()
    this.#released = Promise.withResolvers()
  }

  /** remove ends the fault: no further request meets it, and the waiting requests go on. */
  remove(): void {
    this.isOpen = true
    this.release()
  }

  /** hold holds a request at this gate until the release, or until `over` resolves. */
  async hold(over: Promise<void>): Promise<void> {
    this.#held++
    await Promise.race([this.#released.promise, over])
    this.#held--
  }

  /** takes returns whether this request meets the fault, and counts the request. */
  takes(subject: FaultSubject): boolean {
    const { times, after = 0, every = 1, percent = 100, seed = 1 } = this.rule
    if (!matches(this.rule, subject)) return false
    if (times !== undefined && this.#played >= times) return false
    const nth = this.#matched++ - after
    if (nth < 0 || nth % every !== 0) return false
    if (draw(seed, nth) * 100 >= percent) return false
    this.#played++
    return true
  }

  toJSON(): object {
    const { id, rule } = this
    return { id, rule, matched: this.#matched, played: this.#played, held: this.#held }
  }
}

/** ruleOf returns the rule of this kind, if it is among the chosen faults. */
export function ruleOf<K extends FaultKind>(chosen: readonly Fault[], kind: K) {
  return chosen.find(({ rule }) => rule.kind === kind)?.rule as FaultOf<K> | undefined
}

export class FaultBook {
  readonly #journal: Journal
  #faults: Fault[] = []
  #lastId = 0

  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** add adds a rule. An earlier rule of the same slot is chosen first, so that rules with `times` make a sequence. */
  add(rule: FaultRule): Fault {
    if (stageOf(rule) !== 'fields' && rule.key !== undefined) {
      throw new Error(`the fault ${rule.kind} is chosen before the key is known: leave out "key"`)
    }
    const fault = new Fault(++this.#lastId, rule, this.#journal)
    this.#faults.push(fault)
    return fault
  }

  clear(): void {
    for (const fault of this.list()) fault.remove()
  }

  list(): Fault[] {
    this.#faults = this.#faults.filter(({ isOpen }) => !isOpen)
    return this.#faults
  }

  /** choose returns the faults of one request from this stage on: at most one outcome, and one of each modifier. */
  choose(at: Side, stage: Stage, subject: FaultSubject): Fault[] {
    const chosen: Fault[] = []
    for (const fault of this.list()) {
      const { rule } = fault
      if (rule.at !== at || stageOf(rule) !== stage) continue
      const isTaken = chosen.some((other) => slotOf(other.rule.kind) === slotOf(rule.kind))
      if (!isTaken && fault.takes(subject)) chosen.push(fault)
    }
    return chosen
  }
}

function matches(rule: FaultRule, subject: FaultSubject): boolean {
  return (
    (rule.route === undefined || rule.route === subject.route) &&
    (rule.account === undefined || rule.account === subject.account) &&
    (rule.key === undefined || (subject.key?.includes(rule.key) ?? false)) &&
    (rule.kind !== 'drop' || rule.point !== 'reuse' || subject.reused) &&
    (rule.where?.(subject) ?? true)
  )
}

function stageOf(rule: FaultRule): Stage {
  if (rule.kind === 'refuse') return 'connect'
  if (rule.at === 'service' || rule.kind === 'drop') return 'headers'
  return 'point' in rule && rule.point === 'headers' ? 'headers' : 'fields'
}

/** MODIFIERS can be combined. All other faults decide the outcome of a request, so only one of them is chosen. */
const MODIFIERS: ReadonlySet<FaultKind> = new Set([
  'connection-close',
  'date',
  'form',
  'gate',
  'gate-at-byte',
  'interim',
  'keep-alive',
  'slow',
  'stall',
  'throttle',
  'transfer',
])

function slotOf(kind: FaultKind): string {
  return MODIFIERS.has(kind) ? kind : 'outcome'
}

/** draw returns a number from 0 to below 1, always the same for the same seed and count. */
function draw(seed: number, nth: number): number {
  return Number.parseInt(hash('md5', `${seed} ${nth}`).slice(0, 8), 16) / 2 ** 32
}
