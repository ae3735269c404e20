// What ends a person's word or direct call: the error of the command, with the exit code that scripts go by.

import { EXIT, FeedsyncError } from '../lib/errors.ts'
import type { CampaignFailure } from '../service/port.ts'
import type { Plan } from './plan.ts'
import type { ReconcilerParts } from './send.ts'

/** `exitCode`: `EXIT.temporary` where it may be said later. */
export const refused = (reason: string, hint: string, exitCode: number = EXIT.failed) =>
  new FeedsyncError(reason, { hint, exitCode })

/** The answer of the service. Throws `FeedsyncError` where there is none to go on with. */
export function answered<A extends { kind: string }>(answer: A | CampaignFailure) {
  if (!isFailure(answer)) return answer as Exclude<A, CampaignFailure>
  const { class: cause, reason, hint } = answer
  const exitCode = {
    ...{ configuration: EXIT.config, credentials: EXIT.credentials, temporary: EXIT.temporary },
    ...{ refused: EXIT.failed, missing: EXIT.failed, unreadable: EXIT.failed },
  }[cause]
  throw refused(reason, hint, exitCode)
}

const isFailure = (answer: { kind: string }): answer is CampaignFailure => answer.kind === 'failure'

export function whyStopped(account: string, known: string | undefined): Plan['stopped'] {
  if (known === undefined || account === known) return null
  return {
    reason: `the database belongs to the account ${known}, the configuration names ${account}`,
    needs: 'give each account a state.directory of its own',
  }
}

/** Throws where the database is about another account. */
export function checkAccount({ account, store }: Pick<ReconcilerParts, 'account' | 'store'>): void {
  const stopped = whyStopped(account, store.account()?.account)
  if (stopped !== null) throw refused(stopped.reason, stopped.needs)
}
