// Reads the service's key from its file into a Secret. Messages name the file, never its content.

import { join } from 'node:path'
import { errnoText } from '../lib/errno.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { LONGEST_SECRET, readRegular, stampOf, withoutNewline } from '../lib/files.ts'
import { registerSecret, Secret } from '../lib/secrets.ts'
import type { FormSource } from './port.ts'

/**
 * Keys that were read, with the stamps of their files. A process of root reads the key, then becomes the owner of the
 * state directory (`becomeOwnerOf`), who might be unable to read the file.
 */
const known = new Map<string, { stamp: string | undefined; secret: Secret }>()

const OWNERSHIP_HINT =
  'make the user that runs feedsyncd its owner, or let systemd provide it (LoadCredential=)'

/**
 * readKeyFile returns the bytes of the file, and registers them as a secret, so that no message shows them.
 * `dropNewline` removes one newline at the end. An unchanged file is read only once in the life of the process.
 * @throws FeedsyncError (78) if the file is missing, unreadable, empty or too large for a key.
 */
export function readKeyFile(path: string, { dropNewline }: { dropNewline: boolean }): Secret {
  const missing = isHandedOver(path)
    ? keyAdvice(path)
    : 'put the key that the service operator issued there, or set service.auth.keyFile'
  const knownAs = `${dropNewline} ${path}`
  const stamp = stampOf(path)?.stamp
  const before = known.get(knownAs)
  if (before !== undefined && before.stamp === stamp) return before.secret
  try {
    const bytes = readRegular(path, LONGEST_SECRET)
    const key = dropNewline ? withoutNewline(bytes) : bytes
    if (key.length === 0) throw new Error('is empty')
    registerSecret(key)
    const secret = new Secret(key)
    known.set(knownAs, { stamp, secret })
    return secret
  } catch (error) {
    const subject = { name: `the key file ${path}`, setting: 'service.auth.keyFile' }
    const { code, reason } = errnoText(error, { ...subject, use: 'read' })
    const hint = code === 'EACCES' ? OWNERSHIP_HINT : missing
    throw new FeedsyncError(reason, { hint, exitCode: EXIT.config, cause: error })
  }
}

/** KeyReloader remembers which content of the key file is in use. */
export class KeyReloader {
  readonly #forms: FormSource
  readonly #keyFile: string
  #stamp: string | undefined

  constructor(forms: FormSource, keyFile: string) {
    this.#forms = forms
    this.#keyFile = keyFile
    this.#stamp = stampOf(keyFile)?.stamp
  }

  /**
   * reloadIfChanged reads the key again if its file changed, and returns whether it did. A missing file counts as
   * unchanged. Throws `FeedsyncError` (78) if the key cannot be used; the file then has to change again.
   */
  reloadIfChanged(): boolean {
    const stamp = stampOf(this.#keyFile)?.stamp
    if (stamp === this.#stamp || stamp === undefined) return false
    this.#stamp = stamp
    this.#forms.reloadKey()
    return true
  }
}

// Under systemd, the daemon reads a copy of root's file that systemd made at the start (LoadCredential=). Advice must
// name the file that a person edits, not the copy.

/**
 * CREDENTIALS_OF finds the unit and the instance in the name of the folder of credentials, which ends with the name of
 * the unit. Each instance has a folder with its own key.
 */
const CREDENTIALS_OF = /\/(feedsyncd(?:@([^/]+))?)\.service\/?$/

/** isHandedOver returns whether systemd provides this key. */
export function isHandedOver(keyFile: string, env: NodeJS.ProcessEnv = process.env): boolean {
  const folder = env.CREDENTIALS_DIRECTORY
  return folder !== undefined && folder !== '' && keyFile.startsWith(join(folder, '/'))
}

/** keyAdvice returns what to do about a key that the service refuses or that cannot be used: `check the key in …`. */
export function keyAdvice(keyFile: string, env: NodeJS.ProcessEnv = process.env): string {
  if (!isHandedOver(keyFile, env)) return `check the key in ${keyFile}`
  const [, unit = 'feedsyncd', instance] =
    CREDENTIALS_OF.exec(env.CREDENTIALS_DIRECTORY ?? '') ?? []
  const file = join('/etc/feedsyncd', instance ?? '', 'service.key')
  return `write the right key to ${file}, then: systemctl restart ${unit}`
}
