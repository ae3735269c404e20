// A sandbox with a place to live: its key, its objects and a configuration that a daemon can be
// started with, all below one directory. Started again there, it is the same service with the same key.

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { parseFaults } from './fault-file.ts'
import { type Sandbox, startSandbox } from './sandbox.ts'

export interface SandboxHome extends AsyncDisposable {
  /** Base address of the service. */
  url: string
  storageUrl: string
  /** Absolute path of the configuration that fits this sandbox. */
  configFile: string
  /** Absolute path of the folder that objects land in. */
  objects: string
  sandbox: Sandbox
}

const ACCOUNT = '123'

export async function startSandboxIn(
  directory: string,
  options: { port: number; clock: Clock /** JSON, see fault-file.ts. */; faults?: string | null },
): Promise<SandboxHome> {
  const objects = join(directory, 'objects')
  const keyFile = join(directory, 'service.key')
  mkdirSync(join(directory, 'inbox'), { recursive: true })
  if (!existsSync(keyFile)) {
    writeFileSync(keyFile, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 })
  }
  const sandbox = await startSandbox({
    port: options.port,
    clock: options.clock,
    directory: objects,
    basePath: '/api',
    identity: { account: ACCOUNT, secret: readFileSync(keyFile, 'utf8').trimEnd() },
  })
  for (const rule of options.faults ? parseFaults(options.faults) : []) sandbox.faults.add(rule)
  const configFile = join(directory, 'feedsyncd.yaml')
  writeFileSync(configFile, configuration(sandbox.url))
  return {
    url: sandbox.url,
    storageUrl: sandbox.storageUrl,
    ...{ configFile, objects, sandbox },
    [Symbol.asyncDispose]: () => sandbox.close(),
  }
}

const configuration = (
  url: string,
) => `# Written by the sandbox at each start: it names the address of this run.
version: 1
service:
  baseUrl: ${url}
  account: "${ACCOUNT}"
  auth: { keyFile: service.key }
inbox: { directory: ./inbox, rescan: 5s, quietPeriod: 500ms }
state: { directory: ./state }
`
