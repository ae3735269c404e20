// This file starts a sandbox in a directory. The directory holds the key, the objects, the database, and a
// configuration for a daemon. A sandbox that starts there again continues with the same data.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CallerWithKeyFile, defaultCaller, readCallers } from './callers.ts'
import { parseFaults } from './fault-types.ts'
import { readKnobs } from './knobs.ts'
import { readMapping } from './posting-reader.ts'
import { type SandboxOptions, startSandbox } from './sandbox.ts'
import { type SandboxFile, sandboxFileIn } from './sign.ts'

export interface HomeOptions
  extends Omit<SandboxOptions, 'database' | 'directory' | 'callers' | 'fields'> {
  /** callersFile is the path of a file of callers; null: one account, and one partner with one account. */
  callersFile?: string | null
  /** faults are rules as JSON text. */
  faults?: string | null
  /** knobsText is an object of knobs as JSON text. */
  knobsText?: string | null
  /** mapping is a field mapping as JSON text; null: the usual names of fields. */
  mapping?: string | null
}

/** startSandboxIn starts a sandbox in an absolute directory. Its result adds the first caller and useful paths. */
export async function startSandboxIn(directory: string, options: HomeOptions) {
  const { callersFile = null, faults = null, mapping = null, knobsText = null, ...others } = options
  const objectsDirectory = join(directory, 'objects')
  mkdirSync(join(directory, 'inbox'), { recursive: true })
  const callers =
    callersFile === null
      ? [defaultCaller(join(directory, 'service.key'))]
      : readCallers(callersFile)
  const sandbox = await startSandbox({
    ...{ basePath: '/api', ...others },
    knobs: { ...(knobsText !== null && readKnobs(knobsText)), ...others.knobs },
    ...(mapping !== null && { fields: readMapping(mapping) }),
    ...{ directory: objectsDirectory, database: join(directory, 'sandbox.db'), callers },
  })
  // If a later step fails, the sandbox must close. Otherwise it would listen on and the command would never end.
  await using stack = new AsyncDisposableStack()
  stack.use(sandbox)
  for (const rule of faults === null ? [] : parseFaults(faults)) sandbox.faults.add(rule)
  const configFile = join(directory, 'feedsyncd.yaml')
  const [first] = callers as [CallerWithKeyFile]
  const { account = null, partner = null, partnerAccounts, keyFile } = first
  const caller = { account, partner, partnerAccount: partnerAccounts?.[0] ?? null, keyFile }
  const file: SandboxFile = {
    ...{ url: sandbox.url, ...caller, algorithm: first.algorithm ?? 'hmac-sha1' },
    ...{ stringToSign: sandbox.stringToSign, headerPrefix: sandbox.headerPrefix },
  }
  writeFileSync(sandboxFileIn(directory), `${JSON.stringify(file, null, 2)}\n`)
  writeFileSync(configFile, configuration(sandbox.url, first))
  stack.move()
  return { ...sandbox, ...caller, configFile, objectsDirectory }
}

const configuration = (url: string, { account, partner, ...first }: CallerWithKeyFile) => {
  const { partnerAccounts: [partnerAccount] = [], algorithm = 'hmac-sha1', keyFile } = first
  const identity = account === undefined ? { partner, partnerAccount } : { account }
  const service = { baseUrl: url, ...identity, auth: { algorithm, keyFile } }
  // JSON is valid YAML, so special characters in ids and paths need no further quoting.
  return `# The sandbox writes this file at each start, with the address of that run.
version: 1
service: ${JSON.stringify(service)}
inbox: { directory: ./inbox, rescan: 5s, quietPeriod: 500ms }
state: { directory: ./state }
`
}
