// What people see of a service that refuses, of a key that cannot be read, and of copies that cannot be read.

import type { ConditionCode, Conditions } from '../domain/conditions.ts'
import type { Failure } from '../domain/decision-table.ts'
import type { Version } from '../history/port.ts'
import { MINUTE } from '../lib/clock.ts'
import { LONGEST_ATTEMPT_WAIT_MS } from '../lib/due.ts'
import { FeedsyncError } from '../lib/errors.ts'
import type { SendGate } from '../upload/send-gate.ts'

interface SendConditionsParts {
  conditions: Conditions
  gate: SendGate
  /** reloadKey reads the service key again. Returns whether it has changed. */
  reloadKey: () => boolean
}

export class SendConditions {
  readonly #conditions: Conditions
  readonly #gate: SendGate
  readonly #reloadKey: () => boolean
  /** The condition of each copy that could not be read at the last attempt, by the id of its version. */
  readonly #unreadable = new Map<number, ConditionCode>()

  constructor({ conditions, gate, reloadKey }: SendConditionsParts) {
    this.#conditions = conditions
    this.#gate = gate
    this.#reloadKey = reloadKey
  }

  /** useNewKey ends the holds of refused credentials when the key file has a new key. */
  useNewKey(): void {
    const { accounts } = this.#gate
    const isKeyWanted = accounts.firstRefusal !== null || this.#conditions.has('key-unreadable')
    if (isKeyWanted && this.#readNewKey()) accounts.startWithNewKey()
  }

  /** showHold sets the condition of refused credentials or a refused account, and clears both after a try succeeds. */
  showHold(): void {
    const { isKeySuspect, isTrusted, markedRefusal } = this.#gate.accounts
    if (markedRefusal !== null) {
      const { reason: message, hint, mark } = markedRefusal
      this.#conditions.clear(isKeySuspect ? 'account-refused' : 'credentials')
      this.#conditions.set(isKeySuspect ? 'credentials' : 'account-refused', {
        message,
        hint,
        mark,
      })
    } else if (isTrusted) {
      this.#conditions.clear('credentials')
      this.#conditions.clear('account-refused')
    }
  }

  /**
   * showUnreadable sets the condition of a copy that an attempt could not read, which is a fault of our own disk. It
   * clears the condition when no other version has it.
   */
  showUnreadable({ id }: Version, failure: Failure | null): void {
    const known = this.#unreadable.get(id)
    this.#unreadable.delete(id)
    if (failure?.condition !== undefined) {
      const { condition, hint, reason: message } = failure
      this.#unreadable.set(id, condition)
      // The condition expires, because a newer version can replace this one, and then nobody reads its copy again.
      this.#conditions.set(condition, { message, hint }, LONGEST_ATTEMPT_WAIT_MS + MINUTE)
    } else if (known !== undefined && ![...this.#unreadable.values()].includes(known)) {
      this.#conditions.clear(known)
    }
  }

  /**
   * #readNewKey reads the key file and returns whether it has a new key, which clears the condition of an unusable key.
   * An unusable key sets the condition, and the current key stays in use until the file changes again.
   */
  #readNewKey(): boolean {
    try {
      const isNew = this.#reloadKey()
      if (isNew) this.#conditions.clear('key-unreadable')
      return isNew
    } catch (error) {
      if (!(error instanceof FeedsyncError)) throw error
      this.#conditions.set('key-unreadable', error)
      return false
    }
  }
}
