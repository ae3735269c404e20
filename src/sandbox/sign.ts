// `feedsyncd sandbox sign` signs a request to the sandbox of a directory and prints options for curl.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EXIT, errorCode, FeedsyncError } from '../lib/errors.ts'
import { type Algorithm, expectedBytes, signatureMaker } from './signature.ts'

/** SandboxFile is the content of sandbox.json, which a sandbox writes at each start for its clients. */
export interface SandboxFile {
  url: string
  account: string | null
  partner: string | null
  partnerAccount: string | null
  keyFile: string
  algorithm: Algorithm
  stringToSign: string
  headerPrefix: string
}

export const sandboxFileIn = (directory: string) => join(directory, 'sandbox.json')

interface RequestToSign {
  method: string
  /** path is relative to the base address and includes the query. */
  path: string
  body: string | null
  /** asPartner signs as the partner, even if there is an account. */
  asPartner: boolean
  /** now is in wall-clock ms. */
  now: number
}

/** curlConfiguration returns curl's options for a request. Throws `FeedsyncError` if the directory has no sandbox. */
export function curlConfiguration(directory: string, request: RequestToSign): string {
  const home = readSandboxFile(directory)
  const { url, account, keyFile, algorithm, stringToSign, headerPrefix } = home
  const [path = '', query = ''] = request.path.split(/\?(.*)/s)
  const isAccount = account !== null && !request.asPartner
  const caller = {
    account: isAccount ? account : '',
    partner: isAccount ? '' : (home.partner ?? ''),
    partnerAccount: isAccount ? '' : (home.partnerAccount ?? ''),
  }
  const date = new Date(request.now).toUTCString()
  const { method, body } = request
  const facts = { method, path, query, body: body ?? '', date, host: new URL(url).host, ...caller }
  const key = readFileSync(keyFile, 'utf8').replace(/\r?\n$/, '')
  const signature = signatureMaker(algorithm, key)(expectedBytes(stringToSign, facts))
  const headers = {
    ...{ Account: caller.account, Partner: caller.partner, PartnerAccount: caller.partnerAccount },
    ...{ Date: date, Signature: signature },
  }
  const named = Object.entries(headers).filter(([, value]) => value !== '')
  const options = [
    ['url', url + request.path],
    ['request', method],
    ...named.map(([name, value]) => ['header', `${headerPrefix}${name}: ${value}`]),
    ...(body === null
      ? []
      : [
          ['header', 'Content-Type: application/json'],
          ['data-raw', body],
        ]),
  ]
  return options.map(([name, value = '']) => `${name} = ${quoted(value)}`).join('\n')
}

function readSandboxFile(directory: string): SandboxFile {
  try {
    return JSON.parse(readFileSync(sandboxFileIn(directory), 'utf8'))
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    throw new FeedsyncError(`no sandbox was started in ${directory}`, {
      hint: 'name its directory with --dir, or start one: feedsyncd sandbox',
      exitCode: EXIT.usage,
    })
  }
}

const quoted = (text: string) =>
  `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}"`
