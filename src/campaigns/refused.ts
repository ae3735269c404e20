// Turns a failed call of the service into the error that ends a command, with its exit code.

import { EXIT, FeedsyncError } from '../lib/errors.ts'
import type { CampaignFailure } from './service/port.ts'

/** refused returns an error with a reason, a hint and an exit code. */
export const refused = (reason: string, hint: string, exitCode: number = EXIT.failed) =>
  new FeedsyncError(reason, { hint, exitCode })

/** valueOrThrow returns a good answer of the service. Throws `FeedsyncError` for a failure. */
export function valueOrThrow<A extends { kind: string }>(answer: A | CampaignFailure) {
  if (!isFailure(answer)) return answer as Exclude<A, CampaignFailure>
  const { class: cause, reason, hint } = answer
  const exitCode = {
    configuration: EXIT.config,
    credentials: EXIT.credentials,
    temporary: EXIT.temporary,
    refused: EXIT.failed,
    missing: EXIT.failed,
    unreadable: EXIT.failed,
  }[cause]
  throw refused(reason, hint, exitCode)
}

const isFailure = (answer: { kind: string }): answer is CampaignFailure => answer.kind === 'failure'
