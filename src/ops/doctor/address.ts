// Checks whether this process can reach an address through its proxy, name server and firewall.

import { SECOND } from '../../lib/clock.ts'
import { EXIT } from '../../lib/errors.ts'
import type { HttpClient } from '../../lib/http.ts'
import type { NoAnswer } from '../../lib/http-errors.ts'
import { readNoProxy } from '../../lib/no-proxy.ts'
import { type CheckAnswer, ok, problem, warning } from './finding.ts'

const TIMEOUT = 10 * SECOND

/** checkAddress sends an unsigned HEAD, which changes nothing at the service, and accepts any answer. */
export async function checkAddress(
  origin: string,
  http: HttpClient,
  signal: AbortSignal,
): Promise<CheckAnswer> {
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

export function notReached({ reason, why }: NoAnswer): CheckAnswer {
  const fix =
    why === 'certificate'
      ? 'check the clock of this machine (timedatectl); if a proxy of yours inspects TLS, set NODE_EXTRA_CA_CERTS to its CA; otherwise report it to the service operator'
      : 'check the address, the name server, the firewall and HTTPS_PROXY'
  const says = why === 'unreadable' ? reason : `no answer: ${reason}`
  return problem(says, fix, EXIT.temporary)
}

/** checkNoProxy names entries of NO_PROXY that cannot be used; null if all can be used, or no proxy is set. */
export function checkNoProxy(env: NodeJS.ProcessEnv): CheckAnswer | null {
  const { unusable } = readNoProxy(env)
  const hasProxy = ['HTTPS_PROXY', 'HTTP_PROXY'].some(
    (name) => env[name.toLowerCase()] ?? env[name],
  )
  if (unusable.length === 0 || !hasProxy) return null
  // An entry can be the address of a proxy by mistake, with a password in it.
  const shown = unusable.map((entry) => `"${entry.replace(/^.*@/, '…@')}"`).join(', ')
  return warning(
    `NO_PROXY has entries that mean nothing to feedsyncd, so these hosts are reached through the proxy: ${shown}`,
    'write each as a host (example.com, with all hosts below it), an address, a network (10.0.0.0/8), or * for all hosts, with commas between them; host and address may have a port (example.com:8443)',
  )
}
