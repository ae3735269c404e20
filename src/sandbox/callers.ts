// Who may call the service: read from a file, or one of each kind with a key of their own.

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import type { KnownCaller } from './authentication.ts'
import { readJson } from './json-file.ts'
import { ALGORITHMS } from './signature.ts'

export interface CallerWithKeyFile extends KnownCaller {
  /** Absolute path of its key. */
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
        const expected = `expected other accounts: "${id}" belongs to two owners`
        addIssue({ code: 'custom', params: { expected } })
      }
      owners.set(id, owner)
    }
  })

function accountsOf(one: z.infer<typeof entry>): [account: string, owner: string][] {
  const { account, partner, partnerAccounts = [] } = one
  const own: [string, string][] = account === undefined ? [] : [[account, `account ${account}`]]
  return [...own, ...partnerAccounts.map((id): [string, string] => [id, `partner ${partner}`])]
}

/** The callers of a file. The paths of their keys are relative to it. */
export function readCallers(file: string): CallerWithKeyFile[] {
  const hint = 'docs/sandbox.md shows a file of callers'
  const entries = readJson(readFileSync(file, 'utf8'), ENTRIES, { what: 'callers', hint })
  return entries.map((one) => {
    const keyFile = resolve(dirname(file), one.keyFile)
    return { ...one, keyFile, secret: secretIn(keyFile) }
  })
}

/** An account, and a partner with one account, whose key is made when there is none yet. */
export function defaultCaller(keyFile: string): CallerWithKeyFile {
  if (!existsSync(keyFile)) {
    writeFileSync(keyFile, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 })
  }
  const secret = secretIn(keyFile)
  return { account: '123', partner: 'acme', partnerAccounts: ['42'], keyFile, secret }
}

/** One line break at the end is no part of a secret. */
const secretIn = (keyFile: string) => readFileSync(keyFile, 'utf8').replace(/\r?\n$/, '')
