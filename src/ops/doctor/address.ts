// Checks whether this process can reach an address through its proxy, name server and firewall.

import { SECOND } from '../../lib/clock.ts'
import { EXIT } from '../../lib/errors.ts'
import type { HttpClient } from '../../lib/http.ts'
import type { NoAnswer } from '../../lib/http-errors.ts'
import { type Answer, ok, problem } from './finding.ts'

const TIMEOUT = 10 * SECOND

/** checkAddress accepts any answer. It sends an unsigned HEAD, which changes nothing at the service. */
export async function checkAddress(
  origin: string,
  http: HttpClient,
  signal: AbortSignal,
): Promise<Answer> {
  const answer = await http.request({
    method: 'HEAD',
    url: new URL(origin),
    headers: {},
    body: null,
    signal,
    headersTimeoutMs: TIMEOUT,
    bodyTimeoutMs: TIMEOUT,
    maxAnswerBytes: 1024,
  })
  return answer.kind === 'answer' ? ok(`${origin} answers`) : notReached(answer)
}

export function notReached({ reason, why }: NoAnswer): Answer {
  const fix =
    why === 'certificate'
      ? 'check the clock of this machine (timedatectl); if a proxy of yours inspects TLS, set NODE_EXTRA_CA_CERTS to its CA; otherwise report it to the service operator'
      : 'check the address, the name server, the firewall and HTTPS_PROXY'
  const says = why === 'unreadable' ? reason : `no answer: ${reason}`
  return problem(says, fix, EXIT.temporary)
}
