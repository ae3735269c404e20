// Records the end of a delivery: each result leads to one state of the version. The uploader runs the delivery.

import type { Ledger } from '../history/ledger.ts'
import type { Reason, Version } from '../history/port.ts'
import { FAULT, STOPPED, UNUSUAL_ANSWER } from '../history/reason-codes.ts'
import { errorCode, isRetryable, messageOf } from '../lib/errors.ts'
import type { DeliveryResult, Failure } from '../upload/port.ts'

export const DAEMON_STOPPED: Reason = { code: STOPPED, text: 'the daemon stopped' }

/** faultReason explains that an error in feedsyncd itself failed the version. */
export function faultReason(error: unknown): Reason {
  return {
    code: FAULT,
    text: `an internal error of feedsyncd: ${messageOf(error)}`,
    hint: 'report this with the daemon’s log; a newer feedsyncd may accept the file',
  }
}

/** reasonOf returns the reason of a refusal by the service or storage. */
export function reasonOf({ code, reason: text, hint }: Failure): Reason {
  return { code, text, hint }
}

export function recordDelivery(ledger: Ledger, id: number, result: DeliveryResult): Version {
  switch (result.kind) {
    case 'stored': {
      const { fileUrl, etagVerified, warning } = result
      const reason = warning === null ? null : { code: UNUSUAL_ANSWER, text: warning }
      return ledger.move(id, 'uploaded', reason, { fileUrl, etagVerified })
    }
    case 'later':
      return ledger.waitAgain(id, reasonOf(result.failure), result.at)
    case 'credentials':
      return ledger.waitAgain(id, reasonOf(result.failure), null)
    case 'aborted':
      return ledger.waitAgain(id, DAEMON_STOPPED, null)
    case 'refused':
      // `failed`, not `rejected`: the bytes are right, and the other side may accept them tomorrow.
      return ledger.fail(id, reasonOf(result.failure))
    default:
      return result satisfies never
  }
}

/** recordError requeues a version after a full disk or a locked database, and fails it after a fault of ours. */
export function recordError(ledger: Ledger, id: number, error: unknown): Version {
  if (!isRetryable(error)) return ledger.fail(id, faultReason(error))
  const { condition, hint, message: text } = error
  const code = condition ?? errorCode(error) ?? 'temporary'
  return ledger.waitAgain(id, { code, text, hint }, null)
}
