// This file reads the callers of the service from a file. Without a file, an account and a partner share a new key.

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { readJson } from '../json-input.ts'
import type { KnownCaller } from './authentication.ts'
import { ALGORITHMS } from './signature.ts'

export interface CallerWithKeyFile extends KnownCaller {
  /** keyFile is an absolute path. */
  keyFile: string
}

const text = z.string().min(1)
const entry = z
  .strictObject({
    account: text.optional(),
    partner: text.optional(),
    partnerAccounts: z.array(text).min(1).optional(),
    keyFile: text,
    algorithm: z.enum(ALGORITHMS).optional(),
    apiKey: text.optional(),
  })
  .superRefine((one, { addIssue }) => {
    const wrong = (expected: string) => addIssue({ code: 'custom', params: { expected } })
    if (one.account === undefined && one.partner === undefined) {
      wrong('expected an account or a partner')
    }
    if ((one.partner === undefined) !== (one.partnerAccounts === undefined)) {
      wrong('expected "partner" and "partnerAccounts" together')
    }
  })

const ENTRIES = z
  .array(entry)
  .min(1)
  .superRefine((all, { addIssue }) => {
    const owners = new Map<string, string>()
    for (const [id, owner] of all.flatMap(accountsOf)) {
      if ((owners.get(id) ?? owner) !== owner) {
        const expected = `expected one owner for each account: "${id}" has two owners`
        addIssue({ code: 'custom', params: { expected } })
      }
      owners.set(id, owner)
    }
  })

/** accountsOf returns the ids of a caller's accounts, each with a name of its owner. */
function accountsOf(one: z.infer<typeof entry>): [account: string, owner: string][] {
  const { account, partner, partnerAccounts = [] } = one
  const own: [string, string][] = account === undefined ? [] : [[account, `account ${account}`]]
  return [...own, ...partnerAccounts.map((id): [string, string] => [id, `partner ${partner}`])]
}

/**
 * readCallers reads a file of callers, and their key files. A path of a key file is relative to the file of callers.
 * @throws FeedsyncError (64) if the file is not JSON or has a wrong caller.
 */
export function readCallers(file: string): CallerWithKeyFile[] {
  const hint = 'docs/sandbox.md shows a file of callers'
  const entries = readJson(readFileSync(file, 'utf8'), ENTRIES, { what: 'callers', hint })
  return entries.map((one) => {
    const keyFile = resolve(dirname(file), one.keyFile)
    return { ...one, keyFile, secret: secretIn(keyFile) }
  })
}

/** defaultCaller returns one caller that is both an account and a partner with one account, with the key in a file. */
export function defaultCaller(keyFile: string): CallerWithKeyFile {
  const secret = secretIn(keyFile)
  return { account: '123', partner: 'acme', partnerAccounts: ['42'], keyFile, secret }
}

/** ensureKey writes `key` into the file. If `key` is null and there is no file, it writes a new key. */
export function ensureKey(keyFile: string, key: string | null): void {
  if (key === null && existsSync(keyFile)) return
  writeFileSync(keyFile, `${key ?? randomBytes(24).toString('hex')}\n`, { mode: 0o600 })
}

/** secretIn reads a secret or a key as PEM from a file. A line break at the end is not part of it. */
export const secretIn = (keyFile: string) => readFileSync(keyFile, 'utf8').replace(/\r?\n$/, '')
