// This file starts a sandbox in a directory. The directory holds the key, the objects, the database, and a
// configuration for a daemon. The next sandbox that starts in the directory continues with the same data.

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseFaults } from './faults/fault-types.ts'
import { readKnobs } from './knobs.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from './sandbox.ts'
import { type CallerWithKeyFile, defaultCaller, ensureKey, readCallers } from './service/callers.ts'
import { readMapping } from './service/posting-reader.ts'
import { type SandboxFile, sandboxFileIn } from './sign.ts'

interface HomeOptions
  extends Omit<SandboxOptions, 'database' | 'directory' | 'callers' | 'fields' | 'firstFaults'> {
  /** callersFile is the path of a file of callers; null means one account, and one partner with one account. */
  callersFile?: string | null
  /** key is the key of the account and the partner; null means the key of the last run, in the first run a new key. */
  key?: string | null
  /** keyFile is the absolute path of the file of the key; null means `service.key` in the directory. */
  keyFile?: string | null
  /** faults are rules as JSON text. */
  faults?: string | null
  /** knobsText is an object of knobs as JSON text. */
  knobsText?: string | null
  /** mapping is a field mapping as JSON text; null means the usual names of fields. */
  mapping?: string | null
  /** readyFile is the path of a file that exists while the sandbox runs; null means none. */
  readyFile?: string | null
}

/**
 * startSandboxIn starts a sandbox in an absolute directory, and returns it with its first caller and its paths. It
 * makes `inbox/`, `sandbox.json` and `feedsyncd.yaml` there, and a key if neither `callersFile` nor `keyFile` is given.
 */
export async function startSandboxIn(directory: string, options: HomeOptions) {
  const { callersFile = null, key = null, keyFile = null, readyFile = null, ...rest } = options
  const { faults = null, mapping = null, knobsText = null, ...others } = rest
  const objectsDirectory = join(directory, 'objects')
  mkdirSync(join(directory, 'inbox'), { recursive: true })
  const ownKeyFile = join(directory, 'service.key')
  if (callersFile === null && keyFile === null) ensureKey(ownKeyFile, key)
  const callers =
    callersFile === null ? [defaultCaller(keyFile ?? ownKeyFile)] : readCallers(callersFile)
  const [first] = callers as [CallerWithKeyFile]
  const { account = null, partner = null, partnerAccounts } = first
  const caller = {
    ...{ account, partner, partnerAccount: partnerAccounts?.[0] ?? null },
    keyFile: first.keyFile,
  }
  // A reset during the start also sets the clock. Nobody needs sandbox.json before the start is complete.
  let onClock = () => {}
  const knobs = { ...(knobsText !== null && readKnobs(knobsText)), ...others.knobs }
  const sandbox = await startSandbox({
    ...{ basePath: '/api', ...others, knobs },
    firstFaults: faults === null ? [] : parseFaults(faults),
    ...(mapping !== null && { fields: readMapping(mapping) }),
    ...{ directory: objectsDirectory, database: join(directory, 'sandbox.db'), callers },
    onClock: () => onClock(),
  })
  // If a later step fails, the sandbox must close. Otherwise it would keep listening and the command would never end.
  await using stack = new AsyncDisposableStack()
  stack.use(sandbox)
  const configFile = join(directory, 'feedsyncd.yaml')
  onClock = () => writeSandboxFile(directory, callers, sandbox)
  onClock()
  const secondFeed = knobs.accountKeeps === 'all' ? 'pass' : 'hold'
  writeFileSync(configFile, configuration(sandbox.url, secondFeed, first))
  const { url, storageUrl } = sandbox
  const facts = { url, storageUrl, ...caller, configFile, objects: objectsDirectory }
  if (readyFile !== null) {
    replaceFile(readyFile, `${JSON.stringify(facts)}\n`)
    stack.defer(() => rmSync(readyFile, { force: true }))
  }
  const running = stack.move()
  const close = () => running.disposeAsync()
  return { ...sandbox, facts, ...caller, configFile, close, [Symbol.asyncDispose]: close }
}

/** writeSandboxFile writes sandbox.json, which `feedsyncd sandbox sign` reads. */
function writeSandboxFile(
  directory: string,
  callers: readonly CallerWithKeyFile[],
  { url, stringToSign, headerPrefix, clock }: Sandbox,
): void {
  const signers = callers.map((one) => ({
    ...{ account: one.account ?? null, partner: one.partner ?? null },
    ...{ partnerAccounts: [...(one.partnerAccounts ?? [])], keyFile: one.keyFile },
    algorithm: one.algorithm ?? ('hmac-sha1' as const),
  }))
  const [{ partnerAccounts, ...first }] = signers as [(typeof signers)[number]]
  const file: SandboxFile = {
    ...{ url, ...first, partnerAccount: partnerAccounts[0] ?? null },
    ...{ stringToSign, headerPrefix, clockAheadMs: clock.aheadMs },
    callers: signers,
  }
  replaceFile(sandboxFileIn(directory), `${JSON.stringify(file, null, 2)}\n`)
}

/** replaceFile writes a file beside `path` and renames it to `path`, so that nobody reads half of it. */
function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.part`, text)
  renameSync(`${path}.part`, path)
}

/** configuration returns the text of a configuration for `feedsyncd run`, for the first caller. */
const configuration = (
  url: string,
  secondFeed: 'hold' | 'pass',
  { account, partner, ...first }: CallerWithKeyFile,
) => {
  const { partnerAccounts: [partnerAccount] = [], algorithm = 'hmac-sha1', keyFile } = first
  const identity = account === undefined ? { partner, partnerAccount } : { account }
  const service = { baseUrl: url, ...identity, auth: { algorithm, keyFile } }
  // JSON is valid YAML, so special characters in ids and paths need no further quoting.
  return `# The sandbox writes this file at each start, with the address of that run.
version: 1
service: ${JSON.stringify(service)}
inbox: { directory: ./inbox, rescan: 5s, quietPeriod: 500ms }
# pass if the knob accountKeeps is all: the sandbox then keeps all feeds of an account.
guards: { secondFeed: ${secondFeed} }
state: { directory: ./state }
`
}
