// This file signs a request to the sandbox in a directory, for the command `feedsyncd sandbox sign`.

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

/** SandboxFile is the content of sandbox.json. A sandbox writes it at each start and after each change of its clock. */
export interface SandboxFile extends Omit<SandboxSigner, 'partnerAccounts'> {
  url: string
  partnerAccount: string | null
  stringToSign: string
  headerPrefix: string
  /** clockAheadMs is the time of the sandbox minus the time of its host, in ms. */
  clockAheadMs: number
  /** callers are all callers. The fields account to algorithm repeat the first caller. */
  callers: readonly SandboxSigner[]
}

export const sandboxFileIn = (directory: string) => join(directory, 'sandbox.json')

interface RequestToSign {
  method: string
  /** path is relative to the base address and includes the query. */
  path: string
  body: Buffer | null
  /** asPartner signs as the partner, even if the caller also has an account. */
  asPartner: boolean
  /** account, partner and partnerAccount choose the first caller that has all of them. Null matches every caller. */
  account: string | null
  partner: string | null
  partnerAccount: string | null
  /** now is the host's wall-clock time in ms. */
  now: number
}

/**
 * curlConfiguration signs a request, and returns it as a configuration file of curl (`curl -K`).
 * @throws FeedsyncError (64) if the directory has no sandbox, the sandbox has no such caller, or the caller's key file
 * is not a private key.
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
  const signature = signatureMakerFor(signer)(expectedBytes(stringToSign, facts))
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

/** callerOf returns the caller that signs, and the values of the headers that name the caller. */
function callerOf(home: SandboxFile, request: RequestToSign) {
  const { account, partner, partnerAccount } = request
  const mustBePartner = request.asPartner || partner !== null || partnerAccount !== null
  const isWanted = (one: SandboxSigner) =>
    (account === null || one.account === account) &&
    (partner === null || one.partner === partner) &&
    (partnerAccount === null || one.partnerAccounts.includes(partnerAccount)) &&
    (!mustBePartner || one.partner !== null)
  const signer = home.callers.find(isWanted)
  if (signer === undefined) {
    const known = home.callers.map((one) =>
      [one.account, one.partner && `${one.partner} (${one.partnerAccounts.join(', ')})`]
        .filter(Boolean)
        .join(' and '),
    )
    throw usageError('the sandbox has no such caller', `its callers are ${known.join('; ')}`)
  }
  const identity: Record<string, string> =
    signer.account !== null && !mustBePartner
      ? { account: signer.account }
      : {
          partner: signer.partner ?? '',
          partnerAccount: partnerAccount ?? signer.partnerAccounts[0] ?? '',
        }
  return { signer, identity }
}

/** signatureMakerFor reads the caller's key file, and returns a function that signs with its key. */
function signatureMakerFor({ keyFile, algorithm }: SandboxSigner) {
  const key = secretIn(keyFile)
  if (algorithm.startsWith('hmac-')) return signatureMaker(algorithm, key)
  try {
    createPrivateKey(key)
  } catch (error) {
    throw /PUBLIC KEY/.test(key)
      ? usageError(
          `${keyFile} is a public key, which can only verify signatures`,
          'sign with your own program, or name the private key in the file of callers',
        )
      : usageError(`${keyFile} is not a private key: ${messageOf(error)}`, 'put a PEM file there')
  }
  return signatureMaker(algorithm, key)
}

const usageError = (message: string, hint: string) =>
  new FeedsyncError(message, { hint, exitCode: EXIT.usage })

function readSandboxFile(directory: string): SandboxFile {
  try {
    return JSON.parse(readFileSync(sandboxFileIn(directory), 'utf8'))
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    throw usageError(
      `no sandbox was started in ${directory}`,
      'name its directory with --dir, or start one: feedsyncd sandbox',
    )
  }
}

/** quoted writes a value in the quotes of a configuration file of curl. */
const quoted = (text: string) =>
  `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}"`
