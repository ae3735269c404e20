// Which fault is played on which request: by count, share, route, account or key. The sides of the sandbox
// play them.

import { hash } from 'node:crypto'
import type { FaultKind, FaultOf, FaultRule, FaultSubject, Side } from './fault-types.ts'
import type { Journal } from './journal.ts'

/** When a rule can be chosen: on accept, with the request's head, or once the form's fields are read. */
export type Stage = 'connect' | 'headers' | 'fields'

/** One rule with its counters, and with its gate if it is one. */
export class Fault {
  readonly id: number
  readonly rule: FaultRule
  /** Whether it was removed: requests pass this gate. */
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

  /** How often the fault was played so far. */
  played(): number {
    return this.#played
  }

  /** Resolves once `n` requests (default 1) wait at this gate; rejects once no request has moved for 30 s. */
  async held(n = 1): Promise<void> {
    await this.#journal.waitFor(
      `${n} requests at the gate ${JSON.stringify(this.rule)}`,
      () => this.#held >= n || undefined,
      () => `${this.#held} held, ${this.#matched} matched`,
    )
  }

  /** Lets the requests go that wait at this gate now; later ones are held. */
  release(): void {
    this.#released.resolve()
    this.#released = Promise.withResolvers()
  }

  /** No request meets this fault from now on; those that wait at this gate go on. */
  remove(): void {
    this.isOpen = true
    this.release()
  }

  /** Holds a request at this gate until it is released, or until `over` resolves. */
  async hold(over: Promise<void>): Promise<void> {
    this.#held++
    await Promise.race([this.#released.promise, over])
    this.#held--
  }

  /** Whether this request meets the fault. Counts the match, and the play if it does. */
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

/** The rule of this kind, if it is among those that are played. */
export function ruleOf<K extends FaultKind>(played: readonly Fault[], kind: K) {
  return played.find(({ rule }) => rule.kind === kind)?.rule as FaultOf<K> | undefined
}

export class FaultBook {
  readonly #journal: Journal
  #faults: Fault[] = []
  #lastId = 0

  /** `journal`: tells when a request is held. */
  constructor(journal: Journal) {
    this.#journal = journal
  }

  /** The first rule that matches wins its slot, so rules with `times` make a sequence. */
  add(rule: FaultRule): Fault {
    if (stageOf(rule) !== 'fields' && rule.key !== undefined) {
      throw new Error(`the fault ${rule.kind} comes before the key is known: leave out "key"`)
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

  /**
   * What is played on one request from this stage on: at most one outcome, and one of each modifier. A rule that is
   * chosen counts as played.
   */
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

/** Faults that decide the request's end exclude each other; the others add to it. */
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

/** 0 to below 1, the same for the same seed and count. */
function draw(seed: number, nth: number): number {
  return Number.parseInt(hash('md5', `${seed} ${nth}`).slice(0, 8), 16) / 2 ** 32
}
