// Checks what the daemon needs from its host. The daemon runs these checks at its start and each hour, and writes the
// findings to its file. If no daemon runs, `doctor` runs the same checks.

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

/** checkHost yields what each check finds, for the user of this process. With `offline` it sends no requests. */
export async function* checkHost(
  config: Config,
  { clock, env, http, offline }: CheckParts & { offline: boolean },
  signal: AbortSignal,
): AsyncGenerator<CheckFinding> {
  const { alerts, inbox, service, state } = config
  const { afterReject, afterUpload, archiveDirectory, quarantineDirectory, receipts } = inbox
  const isInboxWritten = receipts || afterUpload !== 'keep' || afterReject !== 'keep'
  const use = isInboxWritten ? 'write' : 'read'
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

/** checkKey checks the mode and the bytes of the key file. Throws `FeedsyncError` if the key cannot sign. */
export function checkKey({ service }: Config, { clock, env, http }: CheckParts) {
  const { algorithm, keyFile, method } = service.auth
  // The constructor reads the key and throws if the key cannot sign.
  new ServiceClient({ http, clock, log: silentLog, ...service })
  const isSharedSecret = method === 'apiKey' || algorithm.startsWith('hmac')
  const secret = isSharedSecret ? readKeyFile(keyFile, { dropNewline: true }).reveal() : null
  return checkKeyFile(keyFile, { isHandedOver: isHandedOver(keyFile, env), secret })
}

/**
 * watchHost writes what the checks of the host find to the daemon's file, at once and then each hour, or each minute
 * while a check finds a problem, until it is disposed. While a check hangs, as on a dead file server, no check starts.
 */
export function watchHost(
  config: Config,
  { clock, daemonFile, env, http }: CheckParts & { daemonFile: DaemonFile },
): Disposable {
  const ended = new AbortController()
  const { signal } = ended
  const look = async () => {
    const findings: CheckFinding[] = []
    const parts = { clock, env, http, offline: false }
    for await (const finding of checkHost(config, parts, signal)) findings.push(finding)
    if (signal.aborted) return
    daemonFile.update({ checks: { at: clock.now(), findings } })
    const hasProblem = findings.some(({ verdict }) => verdict === 'problem')
    timer = clock.after(hasProblem ? MINUTE : HOUR, look)
  }
  let timer = clock.after(0, look)
  return {
    [Symbol.dispose]: () => {
      ended.abort()
      timer[Symbol.dispose]()
    },
  }
}
