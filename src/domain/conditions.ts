// Conditions: the named causes that stop or slow the whole daemon, shown in the same words everywhere. The code that
// sees a cause sets its condition and clears it; listeners record each change and pass it on.

import type { Clock } from '../lib/clock.ts'
import { FeedsyncError } from '../lib/errors.ts'
import { printable } from '../lib/printable.ts'

/** CONDITION_CODES are all conditions. ops/problem-kinds.ts says how bad each one is. */
export const CONDITION_CODES = [
  /** Listing the folder does not end. */
  'scan-stuck',
  /** A read of a vendor's file does not end. */
  'read-stuck',
  'inbox-missing',
  'inbox-unreadable',
  /** Another file system, with files of its own, is now at the folder or at a folder below it. */
  'inbox-changed',
  'state-full',
  'state-read-only',
  /** The disk reports errors, or the state directory cannot be used for another reason. */
  'state-failing',
  /** The path of the open database now has another file, or no file. */
  'database-lost',
  'database-damaged',
  'database-locked',
  /** A reader with an old transaction lets the log of the database grow. */
  'database-log-large',
  /** The service rejects the key. */
  'credentials',
  /** The service rejects some accounts and accepts others. */
  'account-refused',
  /** The key file changed and cannot be used; the daemon goes on with the previous key. */
  'key-unreadable',
  /** An error that feedsyncd does not know. */
  'internal-error',
  /** The daemon had to stop and did not end by itself. */
  'stop-stuck',
  /** systemd restarted the daemon because its loop hung. */
  'watchdog-restart',
  /** Files cannot be archived, quarantined or deleted, or receipts cannot be written. */
  'dispositions-failing',
  /** The program of an alert does not end. */
  'hook-stuck',
  'alerts-failing',
  /** The configuration file has mistakes: `status` reports it, because no daemon starts with such a file. */
  'config-broken',
] as const

export type ConditionCode = (typeof CONDITION_CODES)[number]

/** ConditionError is an error that sets a condition if the daemon meets it. */
export class ConditionError extends FeedsyncError {
  readonly condition: ConditionCode

  constructor(
    condition: ConditionCode,
    message: string,
    options: ConstructorParameters<typeof FeedsyncError>[1],
  ) {
    super(message, options)
    this.condition = condition
  }
}

export interface Condition {
  code: ConditionCode
  /** One plain sentence without a full stop: what happened, and why. */
  message: string
  /** What to do next; null means nothing. */
  hint: string | null
  /** Wall ms at which the condition began. */
  since: number
  /** Alerts report the condition again when its mark changes; null if they report it once. */
  mark: string | null
}

export interface ConditionChange {
  /** `set` means that the condition began, or that its words changed. */
  kind: 'set' | 'cleared'
  condition: Condition
}

interface ConditionWords {
  message: string
  hint?: string | null
  mark?: string | null
}

interface Active {
  condition: Condition
  /** Monotonic ms at which `expire` ends the condition if nobody set it again; null if only `clear` ends it. */
  until: number | null
}

export class Conditions {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>
  readonly #active = new Map<ConditionCode, Active>()
  readonly #listeners: ((change: ConditionChange) => void)[] = []

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock
  }

  /** onChange adds a listener, which must not throw. Each change calls all listeners, in the order they were added. */
  onChange(listener: (change: ConditionChange) => void): void {
    this.#listeners.push(listener)
  }

  /**
   * set begins a condition, or gives an active condition new words and keeps its `since`. `lastsMs` is for a cause
   * whose end nobody sees: `expire` ends the condition if nobody set it again within this time. Several parts of the
   * daemon can report such a cause, and the condition keeps the words of the first report.
   */
  set(code: ConditionCode, words: ConditionWords, lastsMs: number | null = null): void {
    // The words can contain a file name, and they go to terminals, systemd and alerts. Read each property on its own:
    // `words` can be an Error, and a spread does not copy an Error's message.
    const message = printable(words.message)
    const hint = words.hint == null ? null : printable(words.hint)
    const known = this.#active.get(code)?.condition
    const until = lastsMs === null ? null : this.#clock.monotonic() + lastsMs
    if (known !== undefined && until !== null) {
      this.#active.set(code, { condition: known, until })
      return
    }
    const since = known?.since ?? this.#clock.now()
    const mark = words.mark ?? null
    const condition: Condition = { code, message, hint, since, mark }
    this.#active.set(code, { condition, until })
    if (known?.message !== message || known.hint !== hint || known.mark !== mark)
      this.#announce('set', condition)
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

  /** current returns the active conditions, oldest first. */
  current(): Condition[] {
    const all = [...this.#active.values()].map(({ condition }) => condition)
    return all.sort((a, b) => a.since - b.since)
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

const STATE_CONDITIONS: Readonly<Record<string, ConditionCode>> = {
  ENOSPC: 'state-full',
  EDQUOT: 'state-full',
  EROFS: 'state-read-only',
}

/**
 * stateCondition returns the condition for a failed system call on our own files, by the code of the error (`ENOSPC`,
 * `EROFS`). For any other code, or null, it is `state-failing`.
 */
export function stateCondition(code: string | null): ConditionCode {
  return STATE_CONDITIONS[code ?? ''] ?? 'state-failing'
}
