// `doctor` asks whether the service accepts the key and gives a form, and whether storage can be reached. These checks
// store nothing.

import type { Config } from '../config/config.ts'
import { type Clock, SECOND } from '../lib/clock.ts'
import { EXIT } from '../lib/errors.ts'
import { hasPlaceholder } from '../lib/glob.ts'
import type { HttpClient } from '../lib/http.ts'
import { silentLog } from '../lib/log.ts'
import { formatDuration } from '../lib/units.ts'
import { checkAddress, notReached } from '../ops/doctor/address.ts'
import {
  type CheckAnswer,
  type CheckFinding,
  check,
  ok,
  problem,
  skipped,
  warning,
} from '../ops/doctor/finding.ts'
import { ServiceClient } from '../service/client.ts'
import { createFormSource } from '../service/form-source.ts'
import { keyAdvice } from '../service/key-file.ts'
import type { FormAnswer } from '../service/port.ts'

/** If the clocks of host and service differ by more, the client dates refused requests anew. `doctor` warns at half. */
const SKEW_MS = 60 * SECOND

/** askService yields what the checks of service and storage find. Call it only with a key that can sign. */
export async function* askService(
  config: Config,
  { clock, http }: { clock: Clock; http: HttpClient },
  signal: AbortSignal,
): AsyncGenerator<CheckFinding> {
  const account = accountOfRules(config.feeds)
  const options = { http, clock, log: silentLog, ...config.service }
  const client = new ServiceClient(options)
  const { keyFile } = config.service.auth
  const authorization = await checkCredentials(client, { account, keyFile }, signal)
  yield* check('service', () => authorization)
  yield* check('clock', () => checkClock(client))
  if (authorization.verdict === 'problem') return
  if (client.lacksAccount(config.service.presignPath, account)) {
    const reason = 'the partner account depends on the feed, so doctor asks for no form'
    return yield* check('upload form', () => skipped(reason))
  }
  // Nothing is posted with this form, so nothing is stored.
  const answer = await createFormSource(options).requestForm(account, signal)
  yield* check('upload form', () => judgeForm(answer))
  if (answer.kind === 'form') {
    const { origin } = new URL(answer.form.url)
    yield* check('storage', () => checkAddress(origin, http, signal))
  }
}

/** checkCredentials calls the service with the credentials, which changes nothing (specification, "Other facts"). */
async function checkCredentials(
  client: ServiceClient,
  { account, keyFile }: { account: string | null; keyFile: string },
  signal: AbortSignal,
): Promise<CheckAnswer> {
  const path = '/v1/public-api/validate-authorization'
  if (client.lacksAccount(path, account)) {
    const reason =
      'the credentials cannot be checked: service.partner is set, and service.partnerAccount is not'
    return problem(reason, 'set service.partnerAccount', EXIT.config)
  }
  const call = { method: 'POST', path, body: null, account, maxAnswerBytes: 64 * 1024 }
  const answer = await client.call(call, signal)
  if (answer.kind === 'no-answer') return notReached(answer)
  const { status } = answer
  if (status === 200) return ok(`${client.origin} accepts the credentials`)
  if (status === 401 || status === 403) {
    const hint = `${keyAdvice(keyFile)}; check service.auth and the account or partner`
    return problem(`the credentials are refused with ${status}`, hint, EXIT.credentials)
  }
  if (status >= 500)
    return problem(`the service answered ${status}`, 'try again later', EXIT.temporary)
  const hint = 'check that service.baseUrl names the service, with its path prefix'
  return warning(`${client.origin} has no way to check credentials (${status})`, hint)
}

/** accountOfRules returns the first partner account of a rule that has no placeholder; null if no rule has one. */
function accountOfRules(feeds: Config['feeds']): string | null {
  const ruled = feeds.map(({ partnerAccount }) => partnerAccount)
  return ruled.find((name) => name !== null && !hasPlaceholder(name)) ?? null
}

function checkClock(client: ServiceClient): CheckAnswer {
  const ms = client.clockSkewMs()
  if (ms === null) return skipped('the service sent no date')
  const reason = `this clock is ${formatDuration(Math.abs(ms))} ${ms > 0 ? 'behind' : 'ahead of'} the service's`
  return Math.abs(ms) > SKEW_MS / 2
    ? warning(reason, 'synchronise this clock: timedatectl set-ntp true')
    : ok(reason)
}

function judgeForm(answer: FormAnswer): CheckAnswer {
  if (answer.kind === 'form')
    return ok(`the service gave a form with ${answer.form.fields.length} fields`)
  const { class: kind, hint, reason } = answer.failure
  const exitCode =
    kind === 'credentials' ? EXIT.credentials : kind === 'transient' ? EXIT.temporary : 1
  return problem(reason, hint, exitCode)
}
