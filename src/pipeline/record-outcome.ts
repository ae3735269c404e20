// What the end of a delivery means for its version: every way to end leads to a state. Knows nothing of
// how a delivery goes; that is the uploader's.

import type { Ledger } from '../history/ledger.ts'
import type { Version } from '../history/port.ts'
import { isTrouble, messageOf } from '../lib/errors.ts'
import type { DeliveryResult } from '../upload/port.ts'

export const STOPPED = 'the daemon stopped'
export const FAULT_HINT = 'report this with the daemon’s log; a newer feedsyncd may take it'

/** Why a version failed that met an error which is neither its own nor anybody's trouble. */
export function faultReason(error: unknown): string {
  return `feedsyncd met an error of its own: ${messageOf(error)}`
}

export function recordDelivery(ledger: Ledger, id: number, result: DeliveryResult): Version {
  switch (result.kind) {
    case 'stored': {
      const { fileUrl, etagVerified, warning } = result
      return ledger.move(id, 'uploaded', warning, { fileUrl, etagVerified })
    }
    case 'later':
      return ledger.waitAgain(id, result.failure.reason, result.failure.hint, result.at)
    case 'credentials':
      return ledger.waitAgain(id, result.failure.reason, result.failure.hint, null)
    case 'aborted':
      return ledger.waitAgain(id, STOPPED, null, null)
    case 'refused': {
      // Never `rejected`: its bytes are right, and who refuses them today may take them tomorrow.
      const { reason, hint } = result.failure
      return ledger.move(id, 'failed', reason, { hint })
    }
    default:
      return result satisfies never
  }
}

/** The delivery met an error: trouble passes by itself, a fault of ours would only be met again. */
export function recordError(ledger: Ledger, id: number, error: unknown): Version {
  if (isTrouble(error)) return ledger.waitAgain(id, error.message, error.hint, null)
  return ledger.move(id, 'failed', faultReason(error), { hint: FAULT_HINT })
}
