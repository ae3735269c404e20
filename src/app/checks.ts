// Checks what the daemon needs from its host. The daemon runs these checks at its start and each hour, and publishes
// the findings. If no daemon runs, `doctor` runs the same checks.

import type { Config } from '../config/config.ts'
import { type Clock, HOUR, MINUTE } from '../lib/clock.ts'
import type { HttpClient } from '../lib/http.ts'
import { silentLog } from '../lib/log.ts'
import type { DaemonFile } from '../ops/daemon-file.ts'
import { checkFile, checkFolder, checkProgram } from '../ops/doctor/access.ts'
import { checkAddress, checkNoProxy } from '../ops/doctor/address.ts'
import { checkDiskSpace } from '../ops/doctor/disk-space.ts'
import { type CheckFinding, check } from '../ops/doctor/finding.ts'
import { checkKeyFile } from '../ops/doctor/key.ts'
import { ServiceClient } from '../service/client.ts'
import { isHandedOver, readKeyFile } from '../service/key-file.ts'

export interface CheckParts {
  clock: Clock
  env: NodeJS.ProcessEnv
  http: HttpClient
}

/** checkHost runs the checks as the user of this process, with its environment. With `offline` it sends no requests. */
export async function* checkHost(
  config: Config,
  { clock, env, http, offline }: CheckParts & { offline: boolean },
  signal: AbortSignal,
): AsyncGenerator<CheckFinding> {
  const { alerts, inbox, service, state } = config
  const { afterReject, afterUpload, archiveDirectory, quarantineDirectory, receipts } = inbox
  const isWritten = receipts || afterUpload !== 'keep' || afterReject !== 'keep'
  const use = isWritten ? 'write' : 'read'
  yield* check('inbox', () => checkFolder(inbox.directory, 'inbox.directory', use))
  if (afterUpload === 'archive')
    yield* check('archive', () => checkFolder(archiveDirectory, 'inbox.archiveDirectory', 'make'))
  if (afterReject === 'quarantine')
    yield* check('quarantine', () =>
      checkFolder(quarantineDirectory, 'inbox.quarantineDirectory', 'make'),
    )
  yield* check('state', () => checkFolder(state.directory, 'state.directory', 'make'))
  yield* check('room', () => checkDiskSpace(state.directory))
  yield* check('key', () => checkKey(config, { clock, env, http }))
  const actions = alerts.map(({ action }) => action)
  for (const action of actions) {
    if (action.kind === 'exec') {
      yield* check('alerts', () => checkFile(action.command[0] ?? '', 'alerts', 'run'))
      if (action.command.some((word) => word.endsWith('/alert-mail.sh')))
        yield* check('alerts', () => checkProgram('curl', env))
    } else if (action.secretFile !== null) {
      const { secretFile } = action
      yield* check('alerts', () => checkFile(secretFile, 'alerts', 'read'))
    }
  }
  yield* check('proxy', () => checkNoProxy(env))
  if (offline) return
  yield* check('address', () => checkAddress(new URL(service.baseUrl).origin, http, signal))
  for (const action of actions)
    if (action.kind === 'webhook')
      yield* check('alerts', () => checkAddress(action.origin, http, signal))
}

/** checkKey returns what the key file is like. Throws `FeedsyncError` if the key cannot sign. */
export function checkKey({ service }: Config, { clock, env, http }: CheckParts) {
  const { algorithm, keyFile, method } = service.auth
  new ServiceClient({ http, clock, log: silentLog, ...service })
  const isText = method === 'apiKey' || algorithm.startsWith('hmac')
  const secret = isText ? readKeyFile(keyFile, { dropNewline: true }).reveal() : null
  return checkKeyFile(keyFile, { isHandedOver: isHandedOver(keyFile, env), secret })
}

/**
 * watchHost checks the host at once and then each hour, or each minute while there is a problem. It ends when it is
 * disposed. The loop does not wait for it. A check that hangs (a dead file server) is not started a second time.
 */
export function watchHost(
  config: Config,
  { clock, daemonFile, env, http }: CheckParts & { daemonFile: DaemonFile },
): Disposable {
  const over = new AbortController()
  const { signal } = over
  const look = async () => {
    const findings: CheckFinding[] = []
    const parts = { clock, env, http, offline: false }
    for await (const finding of checkHost(config, parts, signal)) findings.push(finding)
    if (signal.aborted) return
    daemonFile.update({ checks: { at: clock.now(), findings } })
    const isWrong = findings.some(({ verdict }) => verdict === 'problem')
    timer = clock.after(isWrong ? MINUTE : HOUR, look)
  }
  let timer = clock.after(0, look)
  return {
    [Symbol.dispose]: () => {
      over.abort()
      timer[Symbol.dispose]()
    },
  }
}
