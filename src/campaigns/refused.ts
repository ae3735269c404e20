// Turns a failed call of the service into the error that ends a command, with its exit code.

import { EXIT, FeedsyncError } from '../lib/errors.ts'
import type { CampaignFailure } from './service/port.ts'

/** refused returns the error that ends a command, with exit code 1 unless another one is given. */
export const refused = (reason: string, hint: string, exitCode: number = EXIT.failed) =>
  new FeedsyncError(reason, { hint, exitCode })

/** valueOrThrow returns an answer that is not a failure. Throws `FeedsyncError` for a failure, with its exit code. */
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
