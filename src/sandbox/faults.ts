// Owns the rules that say which fault is played when: by count, by share, by route, account or key.
// Knows nothing of how a fault is played.

import { MINUTE, systemClock } from '../lib/clock.ts'
import { Changes } from './changes.ts'
import type {
  FaultKind,
  FaultRule,
  FaultSubject,
  GatePoint,
  ServiceFault,
  Side,
  StorageFault,
} from './fault-types.ts'
import { Gate } from './gate.ts'

type AnyFault = ServiceFault | StorageFault

/** When a rule can be chosen: on accept, with the request's head, or once the form's fields are read. */
export type Stage = 'connect' | 'headers' | 'fields'

export interface FaultHandle {
  readonly id: number
  /** How often the fault was played so far. */
  played(): number
  /** Resolves once `n` requests (default 1) wait at this gate; rejects after `timeoutMs` (default 1 min). */
  held(n?: number, timeoutMs?: number): Promise<void>
  /** Lets the requests go that wait at this gate now; later ones are held. */
  release(): void
  /** No request meets this fault from now on; those that wait at this gate go on. */
  remove(): void
}

interface Entry {
  readonly id: number
  readonly rule: FaultRule
  readonly draw: () => number
  readonly gate: Gate
  matched: number
  played: number
}

/** What is played on one request: at most one outcome, and one of each modifier. */
export class Plan {
  readonly #chosen: ReadonlyMap<string, Pick<Entry, 'rule' | 'gate'>>

  constructor(chosen: ReadonlyMap<string, Pick<Entry, 'rule' | 'gate'>> = new Map()) {
    this.#chosen = chosen
  }

  get<K extends FaultKind>(kind: K): Extract<AnyFault, { kind: K }> | undefined {
    const fault: AnyFault | undefined = this.#chosen.get(slotOf(kind))?.rule
    return fault?.kind === kind ? (fault as Extract<AnyFault, { kind: K }>) : undefined
  }

  /** The gate that holds the request at this point; `file`: at the byte that `gate-at-byte` names. */
  gate(point: GatePoint | 'file'): Gate | undefined {
    if (point === 'file') return this.#chosen.get('gate-at-byte')?.gate
    return this.get('gate')?.point === point ? this.#chosen.get('gate')?.gate : undefined
  }

  get kinds(): FaultKind[] {
    return [...this.#chosen.values()].map(({ rule }) => rule.kind)
  }
}

export class FaultBook {
  readonly #changes: Changes
  #entries: Entry[] = []
  #lastId = 0

  /** `changes`: tells when a request is held. */
  constructor(changes = new Changes(systemClock)) {
    this.#changes = changes
  }

  /** The first rule that matches wins its slot, so rules with `times` make a sequence. */
  add(rule: FaultRule): FaultHandle {
    const stage = stageOf(rule)
    if (stage !== 'fields' && rule.key !== undefined) {
      throw new Error(`the fault ${rule.kind} comes before the key is known: leave out "key"`)
    }
    const entry: Entry = {
      id: ++this.#lastId,
      rule,
      draw: generator(rule.seed ?? 1),
      gate: new Gate(),
      matched: 0,
      played: 0,
    }
    this.#entries.push(entry)
    return {
      id: entry.id,
      played: () => entry.played,
      held: async (n = 1, timeoutMs = MINUTE) => {
        await this.#changes.waitFor(
          `${n} requests at the gate ${JSON.stringify(rule)}`,
          () => entry.gate.held >= n || undefined,
          () => `${entry.gate.held} held, ${entry.matched} matched`,
          timeoutMs,
        )
      },
      release: () => entry.gate.release(),
      remove: () => this.remove(entry.id),
    }
  }

  remove(id: number): void {
    this.#find(id)?.gate.open()
    this.#entries = this.#entries.filter((entry) => entry.id !== id)
  }

  /** As `FaultHandle.release`. */
  release(id: number): void {
    this.#find(id)?.gate.release()
  }

  clear(): void {
    for (const { id } of this.#entries) this.remove(id)
  }

  list(): { id: number; rule: FaultRule; matched: number; played: number; held: number }[] {
    return this.#entries.map(({ id, rule, matched, played, gate }) => {
      return { id, rule, matched, played, held: gate.held }
    })
  }

  /** Chooses for one request at one stage; a rule that is chosen counts as played. */
  plan(at: Side, stage: Stage, subject: FaultSubject): Plan {
    const chosen = new Map<string, Entry>()
    for (const entry of this.#entries) {
      const { rule } = entry
      const slot = slotOf(rule.kind)
      if (rule.at !== at || stageOf(rule) !== stage || chosen.has(slot)) continue
      if (matches(rule, subject) && takes(entry)) chosen.set(slot, entry)
    }
    return new Plan(chosen)
  }

  #find(id: number): Entry | undefined {
    return this.#entries.find((entry) => entry.id === id)
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

/** Counts a match, and the play that it becomes. */
function takes(entry: Entry): boolean {
  const { times, after = 0, every = 1, percent = 100 } = entry.rule
  if (times !== undefined && entry.played >= times) return false
  const nth = entry.matched++ - after
  if (nth < 0 || nth % every !== 0) return false
  if (percent < 100 && entry.draw() * 100 >= percent) return false
  entry.played++
  return true
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

/** mulberry32: small, seeded, good enough to scatter faults. Answers 0 to below 1. */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
