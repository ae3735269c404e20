// FaultBook decides which request meets which fault, by count, share, route, account or key. The layers around the
// service (service-faults.ts) and around the storage (storage-faults.ts) play the faults.

import { hash } from 'node:crypto'
import type { Cut } from '../http/answer.ts'
import type { Side } from '../records.ts'
import {
  type FaultKind,
  type FaultOf,
  type FaultRule,
  type FaultSubject,
  type Stage,
  stageOf,
} from './fault-types.ts'

/** Fault is a rule with its counters. A fault that is a gate also holds requests. */
export class Fault {
  readonly id: number
  readonly rule: FaultRule
  /** The gate of a removed fault holds no request. */
  isRemoved = false
  #matched = 0
  #played = 0
  #held = 0
  #released = Promise.withResolvers<void>()
  #changed = Promise.withResolvers<void>()

  constructor(id: number, rule: FaultRule) {
    this.id = id
    this.rule = rule
  }

  /** played returns how often the fault was played so far. */
  played(): number {
    return this.#played
  }

  /** held resolves once `n` requests wait at this gate. */
  async held(n = 1): Promise<void> {
    while (this.#held < n) await this.#changed.promise
  }

  /** release lets the waiting requests go on. The gate holds later requests again. */
  release(): void {
    this.#released.resolve()
    this.#released = Promise.withResolvers()
  }

  /** remove ends the fault: no further request meets it, and the waiting requests go on. */
  remove(): void {
    this.isRemoved = true
    this.release()
  }

  /** hold counts one more held request until the next release of this gate, or until `over` resolves. */
  async hold(over: Promise<void>): Promise<void> {
    this.#held++
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
    await Promise.race([this.#released.promise, over])
    this.#held--
  }

  /** tryPlay returns whether this request meets the fault. It counts requests that match and requests that meet it. */
  tryPlay(subject: FaultSubject): boolean {
    const { times, after = 0, every = 1, percent = 100, seed = 1 } = this.rule
    if (!matches(this.rule, subject)) return false
    if (times !== undefined && this.#played >= times) return false
    const nth = this.#matched++ - after
    if (nth < 0 || nth % every !== 0) return false
    if (draw(seed, nth) * 100 >= percent) return false
    this.#played++
    return true
  }

  toJSON() {
    const { id, rule } = this
    return { id, rule, matched: this.#matched, played: this.#played, held: this.#held }
  }
}

/** ruleOf returns the rule of this kind among the chosen faults. */
export function ruleOf<K extends FaultKind>(chosen: readonly Fault[], kind: K) {
  return chosen.find(({ rule }) => rule.kind === kind)?.rule as FaultOf<K> | undefined
}

export class FaultBook {
  #faults: Fault[] = []
  #lastId = 0

  /**
   * add adds a rule. If several rules of the same slot (see `slotOf`) match a request, it meets the earliest, so that
   * rules with `times` make a sequence. Throws if a rule with a key is chosen before the key is known.
   */
  add(rule: FaultRule): Fault {
    if (stageOf(rule) !== 'fields' && rule.key !== undefined) {
      throw new Error(`the fault ${rule.kind} is chosen before the key is known: leave out "key"`)
    }
    const fault = new Fault(++this.#lastId, rule)
    this.#faults.push(fault)
    return fault
  }

  /** clear removes all faults; requests at gates go on. */
  clear(): void {
    for (const fault of this.list()) fault.remove()
  }

  /** has returns whether this side has a fault of this kind that is not removed. */
  has(at: Side, kind: FaultKind): boolean {
    return this.list().some(({ rule }) => rule.at === at && rule.kind === kind)
  }

  /** chooseRefusal returns how a fault `refuse` ends a new connection, or null. It counts the connection. */
  chooseRefusal(at: Side): Cut | null {
    const subject = { route: 'connect', account: null, key: null, reused: false }
    return ruleOf(this.choose(at, 'connect', subject), 'refuse')?.how ?? null
  }

  /** reset removes all faults and counts from the first id again. */
  reset(): void {
    this.clear()
    this.#lastId = 0
  }

  /** list returns the faults that are not removed, oldest first. */
  list(): Fault[] {
    this.#faults = this.#faults.filter(({ isRemoved }) => !isRemoved)
    return this.#faults
  }

  /** choose returns the faults that a request meets at this stage, at most one for each slot. It counts the request. */
  choose(at: Side, stage: Stage, subject: FaultSubject): Fault[] {
    const chosen: Fault[] = []
    for (const fault of this.list()) {
      const { rule } = fault
      if (rule.at !== at || stageOf(rule) !== stage) continue
      const isSlotTaken = chosen.some((other) => slotOf(other.rule.kind) === slotOf(rule.kind))
      if (!isSlotTaken && fault.tryPlay(subject)) chosen.push(fault)
    }
    return chosen
  }
}

function matches(rule: FaultRule, subject: FaultSubject): boolean {
  const needsReuse = rule.kind === 'drop' && rule.point === 'reuse'
  return (
    (rule.route === undefined || rule.route === subject.route) &&
    (rule.account === undefined || rule.account === subject.account) &&
    (rule.key === undefined || (subject.key?.includes(rule.key) ?? false)) &&
    (!needsReuse || subject.reused)
  )
}

/** MODIFIERS can be combined. All other faults decide the outcome of a request, so a request meets only one of them. */
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

/** slotOf returns what at most one fault of a request can fill: the kind of a modifier, or `outcome`. */
function slotOf(kind: FaultKind): string {
  return MODIFIERS.has(kind) ? kind : 'outcome'
}

/** draw returns a number from 0 to below 1 that looks random, and is the same for the same seed and `nth`. */
function draw(seed: number, nth: number): number {
  return Number.parseInt(hash('md5', `${seed} ${nth}`).slice(0, 8), 16) / 2 ** 32
}
