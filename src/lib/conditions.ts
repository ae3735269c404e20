// Conditions: the named causes that stop or slow the whole daemon, shown in the same words everywhere. The code that
// sees a cause sets its condition and clears it; listeners record each change and pass it on.

import type { Clock } from './clock.ts'
import { printable } from './printable.ts'

export type Severity = 'warning' | 'critical'

/** SEVERITY lists all conditions. Critical: feeds are not read or not sent, or nobody can know. */
const SEVERITY = {
  /** Listing the folder does not end. */
  'scan-stuck': 'critical',
  'inbox-missing': 'critical',
  'inbox-unreadable': 'critical',
  'state-full': 'critical',
  'state-read-only': 'critical',
  /** The disk reports errors, or the state directory cannot be used for another reason. */
  'state-failing': 'critical',
  /** Another file, or none, is now at the path of the open database. */
  'database-lost': 'critical',
  'database-damaged': 'critical',
  'database-locked': 'critical',
  /** The service rejects the key; a warning if it rejects some accounts and accepts others. */
  credentials: 'critical',
  /** The key file changed and cannot be used; the daemon goes on with the previous key. */
  'key-unreadable': 'warning',
  /** An error that feedsyncd does not know. */
  'internal-error': 'critical',
  'stop-stuck': 'critical',
  /** Files cannot be archived, quarantined or deleted, or receipts cannot be written. */
  'dispositions-failing': 'warning',
  /** The program of an alert does not end. */
  'hook-stuck': 'warning',
  'alerts-failing': 'warning',
  /** The configuration file has mistakes: `status` reports it, because no daemon starts with such a file. */
  'config-broken': 'critical',
} as const satisfies Record<string, Severity>

export type ConditionCode = keyof typeof SEVERITY

export const CONDITION_CODES = Object.keys(SEVERITY) as ConditionCode[]

export interface Condition {
  code: ConditionCode
  severity: Severity
  /** One plain sentence without a full stop: what happened, and why. */
  message: string
  /** What to do next; null: nothing. */
  hint: string | null
  /** Wall ms of its beginning. */
  since: number
}

export interface ConditionChange {
  /** `set`: the condition began, or its words changed. `rated`: only its severity changed. */
  kind: 'set' | 'rated' | 'cleared'
  condition: Condition
}

type Words = { message: string; hint?: string | null }

interface Active {
  condition: Condition
  /** Monotonic ms at which it ends unless it is set again; null: `clear` ends it. */
  until: number | null
}

export class Conditions {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>
  readonly #active = new Map<ConditionCode, Active>()
  readonly #listeners: ((change: ConditionChange) => void)[] = []

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock
  }

  /** onChange adds a listener, which must not throw. Listeners get each change once, in the order of their adding. */
  onChange(listener: (change: ConditionChange) => void): void {
    this.#listeners.push(listener)
  }

  /**
   * set begins a condition, or gives an active one new words and keeps its `since`. `lastsMs` is for causes whose end
   * nobody sees: `expire` ends the condition if it was not set again within this time. Several parts may report such a
   * cause; the words of the first one stay.
   */
  set(
    code: ConditionCode,
    words: Words & { severity?: Severity },
    lastsMs: number | null = null,
  ): void {
    const { severity = SEVERITY[code] } = words
    // The words may contain a file name, and they go to terminals, systemd and alerts. Read each property on its own:
    // `words` may be an Error, and a spread does not copy an Error's message.
    const message = printable(words.message)
    const hint = words.hint == null ? null : printable(words.hint)
    const known = this.#active.get(code)?.condition
    const until = lastsMs === null ? null : this.#clock.monotonic() + lastsMs
    if (known !== undefined && until !== null) {
      this.#active.set(code, { condition: known, until })
      return
    }
    const since = known?.since ?? this.#clock.now()
    const condition: Condition = { code, severity, message, hint, since }
    this.#active.set(code, { condition, until })
    if (known?.message !== message || known.hint !== hint) this.#announce('set', condition)
    else if (known.severity !== severity) this.#announce('rated', condition)
  }

  clear(code: ConditionCode): void {
    const known = this.#active.get(code)
    if (!this.#active.delete(code) || known === undefined) return
    this.#announce('cleared', known.condition)
  }

  /** expire clears each condition that was not set again in time. */
  expire(): void {
    const now = this.#clock.monotonic()
    for (const [code, { until }] of this.#active)
      if (until !== null && now >= until) this.clear(code)
  }

  has(code: ConditionCode): boolean {
    return this.#active.has(code)
  }

  /** current returns the critical conditions first, then the oldest. */
  current(): Condition[] {
    const all = [...this.#active.values()].map(({ condition }) => condition)
    const rank = ({ severity }: Condition) => (severity === 'critical' ? 0 : 1)
    return all.sort((a, b) => rank(a) - rank(b) || a.since - b.since)
  }

  #announce(kind: ConditionChange['kind'], condition: Condition): void {
    for (const listener of this.#listeners) listener({ kind, condition })
  }
}

/** isInboxCondition returns whether the inbox cannot be listed, so that nothing is known of the files in it. */
export function isInboxCondition(
  code: ConditionCode,
): code is 'inbox-missing' | 'inbox-unreadable' {
  return code === 'inbox-missing' || code === 'inbox-unreadable'
}

const OF_STATE: Readonly<Record<string, ConditionCode>> = {
  ENOSPC: 'state-full',
  EDQUOT: 'state-full',
  EROFS: 'state-read-only',
}

/** conditionText writes a condition as one sentence, the same everywhere. */
export function conditionText({ hint, message }: Pick<Condition, 'message' | 'hint'>): string {
  return hint === null ? message : `${message}; ${hint}`
}

/** stateCondition returns the condition for a failed system call on our own files, by its code (`ENOSPC`, `EROFS`). */
export function stateCondition(code: string | null): ConditionCode {
  return OF_STATE[code ?? ''] ?? 'state-failing'
}
