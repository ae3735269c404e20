// What stops or slows the daemon as a whole: one named condition for each cause, in the same words wherever
// it is shown. Whoever sees the cause sets it and clears it; listeners write it down and pass it on.

import type { Clock } from './clock.ts'
import { printable } from './printable.ts'

export type Severity = 'warning' | 'critical'

/** All conditions. Critical: feeds are not taken or not sent, or nobody can know. */
const SEVERITY = {
  /** A listing of the folder does not end. */
  'scan-stuck': 'critical',
  'inbox-missing': 'critical',
  'inbox-unreadable': 'critical',
  'state-full': 'critical',
  'state-read-only': 'critical',
  /** The disk reports errors, or the state directory cannot be used for another reason. */
  'state-failing': 'critical',
  /** The open database is not the file at its path any more. */
  'database-lost': 'critical',
  'database-damaged': 'critical',
  'database-locked': 'critical',
  /** The service rejects the key; a warning where it rejects some accounts and takes others. */
  credentials: 'critical',
  /** The key file changed and cannot be used; the key before stays in use. */
  'key-unreadable': 'warning',
  /** An error that feedsyncd does not know. */
  'internal-error': 'critical',
  /** The daemon was told to stop and cannot. */
  'stop-stuck': 'critical',
  /** Files cannot be archived, quarantined or deleted, or receipts cannot be written. */
  'dispositions-failing': 'warning',
  /** An alert's program does not end. */
  'hook-stuck': 'warning',
  'alerts-failing': 'warning',
  /** The configuration file has mistakes: seen by `status`, since no daemon starts with it. */
  'config-broken': 'critical',
} as const satisfies Record<string, Severity>

export type ConditionCode = keyof typeof SEVERITY

export const CONDITION_CODES = Object.keys(SEVERITY) as ConditionCode[]

export interface Condition {
  code: ConditionCode
  severity: Severity
  /** What happened and why, one plain sentence without a full stop. */
  message: string
  /** What to do next; null where nothing is to be done. */
  hint: string | null
  /** Wall ms at which it began. */
  since: number
}

export interface ConditionChange {
  /** `set`: it began, or has other words. `rated`: its severity alone is another. */
  kind: 'set' | 'rated' | 'cleared'
  condition: Condition
}

type Words = { message: string; hint?: string | null }

interface Held {
  condition: Condition
  /** Monotonic ms at which it is over unless it is set again; null: `clear` ends it. */
  until: number | null
}

export class Conditions {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>
  readonly #held = new Map<ConditionCode, Held>()
  readonly #listeners: ((change: ConditionChange) => void)[] = []

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock
  }

  /** Listeners must not throw. They hear of each change once, in the order in which they were added. */
  onChange(listener: (change: ConditionChange) => void): void {
    this.#listeners.push(listener)
  }

  /**
   * Sets a condition, or renews it with other words: `since` stays. `lastsMs`: it is over if it is not set again
   * within this time, for causes whose end nobody sees (`expire` looks). Several may see such a cause: the words
   * of the first one stay.
   */
  set(
    code: ConditionCode,
    words: Words & { severity?: Severity },
    lastsMs: number | null = null,
  ): void {
    const { severity = SEVERITY[code] } = words
    // They may hold a name that somebody chose, and go to terminals, to systemd and into alerts. Of an error, whose
    // message no spread copies.
    const message = printable(words.message)
    const hint = words.hint == null ? null : printable(words.hint)
    const known = this.#held.get(code)?.condition
    const until = lastsMs === null ? null : this.#clock.monotonic() + lastsMs
    if (known !== undefined && until !== null) {
      this.#held.set(code, { condition: known, until })
      return
    }
    const since = known?.since ?? this.#clock.now()
    const condition: Condition = { code, severity, message, hint, since }
    this.#held.set(code, { condition, until })
    if (known?.message !== message || known.hint !== hint) this.#announce('set', condition)
    else if (known.severity !== severity) this.#announce('rated', condition)
  }

  clear(code: ConditionCode): void {
    const known = this.#held.get(code)
    if (!this.#held.delete(code) || known === undefined) return
    this.#announce('cleared', known.condition)
  }

  /** Clears what was not set again in time. */
  expire(): void {
    const now = this.#clock.monotonic()
    for (const [code, { until }] of this.#held) if (until !== null && now >= until) this.clear(code)
  }

  has(code: ConditionCode): boolean {
    return this.#held.has(code)
  }

  /** The critical ones first, then the oldest. */
  current(): Condition[] {
    const all = [...this.#held.values()].map(({ condition }) => condition)
    const rank = ({ severity }: Condition) => (severity === 'critical' ? 0 : 1)
    return all.sort((a, b) => rank(a) - rank(b) || a.since - b.since)
  }

  #announce(kind: ConditionChange['kind'], condition: Condition): void {
    for (const listener of this.#listeners) listener({ kind, condition })
  }
}

/** The folder of feeds cannot be listed: nothing is known of what lies in it. */
export function isInboxCondition(code: ConditionCode): code is 'inbox-missing' | 'inbox-unreadable' {
  return code === 'inbox-missing' || code === 'inbox-unreadable'
}

const OF_STATE: Readonly<Record<string, ConditionCode>> = {
  ENOSPC: 'state-full',
  EDQUOT: 'state-full',
  EROFS: 'state-read-only',
}

/** A condition in one sentence: the same words everywhere. */
export function conditionText({ hint, message }: Pick<Condition, 'message' | 'hint'>): string {
  return hint === null ? message : `${message}; ${hint}`
}

/** What a failed system call on our own files means: `ENOSPC`, `EROFS`. */
export function stateCondition(code: string | null): ConditionCode {
  return OF_STATE[code ?? ''] ?? 'state-failing'
}
