// A sandbox in a directory: its key, its objects and a configuration that a daemon can be started with. Started again
// there, it has the same key.

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { parseFaults } from './fault-types.ts'
import { startSandbox } from './sandbox.ts'

const ACCOUNT = '123'

/**
 * `directory`: absolute; `faults`: as JSON. Answers the sandbox with the paths of its configuration and of the folder
 * that objects land in.
 */
export async function startSandboxIn(
  directory: string,
  { port, clock, faults = null }: { port: number; clock: Clock; faults?: string | null },
) {
  const objectsDirectory = join(directory, 'objects')
  const keyFile = join(directory, 'service.key')
  mkdirSync(join(directory, 'inbox'), { recursive: true })
  if (!existsSync(keyFile)) {
    writeFileSync(keyFile, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 })
  }
  const sandbox = await startSandbox({
    port,
    clock,
    directory: objectsDirectory,
    basePath: '/api',
    identity: { account: ACCOUNT, secret: readFileSync(keyFile, 'utf8').trimEnd() },
  })
  // What fails from here on must not leave a sandbox that listens: the command would never end.
  await using stack = new AsyncDisposableStack()
  stack.use(sandbox)
  for (const rule of faults === null ? [] : parseFaults(faults)) sandbox.faults.add(rule)
  const configFile = join(directory, 'feedsyncd.yaml')
  writeFileSync(configFile, configuration(sandbox.url))
  stack.move()
  return { ...sandbox, configFile, objectsDirectory }
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
