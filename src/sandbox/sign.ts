// `feedsyncd sandbox sign` signs a request to the sandbox of a directory and prints options for curl.

import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EXIT, errorCode, FeedsyncError, messageOf } from '../lib/errors.ts'
import { secretIn } from './service/callers.ts'
import { type Algorithm, expectedBytes, signatureMaker } from './service/signature.ts'

interface SandboxSigner {
  account: string | null
  partner: string | null
  partnerAccounts: readonly string[]
  keyFile: string
  algorithm: Algorithm
}

/** SandboxFile is the content of sandbox.json, which a sandbox writes at each start for its clients. */
export interface SandboxFile extends Omit<SandboxSigner, 'partnerAccounts'> {
  url: string
  partnerAccount: string | null
  stringToSign: string
  headerPrefix: string
  /** clockAheadMs is the time of the sandbox minus the time of its host. */
  clockAheadMs: number
  /** callers are all callers; the first one is also above. */
  callers: readonly SandboxSigner[]
}

export const sandboxFileIn = (directory: string) => join(directory, 'sandbox.json')

export interface RequestToSign {
  method: string
  /** path is relative to the base address and includes the query. */
  path: string
  body: Buffer | null
  /** asPartner signs as the partner, even if the caller has an account, too. */
  asPartner: boolean
  /** account and partner choose the caller; null means the first one. */
  account: string | null
  partner: string | null
  partnerAccount: string | null
  /** now is the host's wall-clock time in ms. */
  now: number
}

/**
 * curlConfiguration returns curl's options for a request.
 * @throws FeedsyncError (64) if the directory has no sandbox, no such caller, or only a public key.
 */
export function curlConfiguration(directory: string, request: RequestToSign): string {
  const home = readSandboxFile(directory)
  const { url, stringToSign, headerPrefix } = home
  const [path = '', query = ''] = request.path.split(/\?(.*)/s)
  const { signer, identity } = callerOf(home, request)
  const date = new Date(request.now + home.clockAheadMs).toUTCString()
  const { method, body } = request
  const facts = {
    ...{ account: '', partner: '', partnerAccount: '', ...identity },
    ...{ method, path, query, body: body ?? '', date, host: new URL(url).host },
  }
  const signature = makerFor(signer)(expectedBytes(stringToSign, facts))
  const headers = {
    ...{ Account: facts.account, Partner: facts.partner, PartnerAccount: facts.partnerAccount },
    ...{ Date: date, Signature: signature },
  }
  const named = Object.entries(headers).filter(([, value]) => value !== '')
  const options = [
    ['url', url + request.path],
    ['request', method],
    ...(method === 'HEAD' ? [['head', '']] : []),
    ...named.map(([name, value]) => ['header', `${headerPrefix}${name}: ${value}`]),
    ...(body === null
      ? []
      : [
          ['header', 'Content-Type: application/json'],
          ['data-raw', body.toString('utf8')],
        ]),
  ]
  return options
    .map(([name, value = '']) => (value === '' ? `${name}` : `${name} = ${quoted(value)}`))
    .join('\n')
}

/** callerOf finds the caller, and the headers that name it. */
function callerOf(home: SandboxFile, request: RequestToSign) {
  const { account, partner, partnerAccount } = request
  const isWanted = (one: SandboxSigner) =>
    (account === null || one.account === account) &&
    (partner === null || one.partner === partner) &&
    (partnerAccount === null || one.partnerAccounts.includes(partnerAccount)) &&
    (!(request.asPartner || partner !== null || partnerAccount !== null) || one.partner !== null)
  const signer = home.callers.find(isWanted)
  if (signer === undefined) {
    const known = home.callers.map((one) =>
      [one.account, one.partner && `${one.partner} (${one.partnerAccounts.join(', ')})`]
        .filter(Boolean)
        .join(' and '),
    )
    throw usage('the sandbox has no such caller', `its callers are ${known.join('; ')}`)
  }
  const asAccount =
    signer.account !== null && !request.asPartner && partner === null && partnerAccount === null
  const identity: Record<string, string> = asAccount
    ? { account: signer.account ?? '' }
    : {
        partner: signer.partner ?? '',
        partnerAccount: partnerAccount ?? signer.partnerAccounts[0] ?? '',
      }
  return { signer, identity }
}

function makerFor({ keyFile, algorithm }: SandboxSigner) {
  const key = secretIn(keyFile)
  if (algorithm.startsWith('hmac-')) return signatureMaker(algorithm, key)
  try {
    createPrivateKey(key)
  } catch (error) {
    throw /PUBLIC KEY/.test(key)
      ? usage(
          `${keyFile} is a public key, which can only verify signatures`,
          'sign with your own program, or name the private key in the file of callers',
        )
      : usage(`${keyFile} is not a private key: ${messageOf(error)}`, 'put a PEM file there')
  }
  return signatureMaker(algorithm, key)
}

const usage = (message: string, hint: string) =>
  new FeedsyncError(message, { hint, exitCode: EXIT.usage })

function readSandboxFile(directory: string): SandboxFile {
  try {
    return JSON.parse(readFileSync(sandboxFileIn(directory), 'utf8'))
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    throw usage(
      `no sandbox was started in ${directory}`,
      'name its directory with --dir, or start one: feedsyncd sandbox',
    )
  }
}

const quoted = (text: string) =>
  `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}"`
