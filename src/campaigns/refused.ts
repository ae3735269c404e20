// What ends a person's command about campaigns: the error, with the exit code that scripts go by.

import { EXIT, FeedsyncError } from '../lib/errors.ts'
import type { CampaignFailure } from '../service/port.ts'

/** `exitCode`: `EXIT.temporary` where it may be said later. */
export const refused = (reason: string, hint: string, exitCode: number = EXIT.failed) =>
  new FeedsyncError(reason, { hint, exitCode })

/** The answer of the service. Throws `FeedsyncError` where there is none to go on with. */
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
