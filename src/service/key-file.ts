// Owns reading the service's key from its file into a Secret. Messages name the file, never its content.

import { join } from 'node:path'
import { errnoText } from '../lib/errno.ts'
import { EXIT, FeedsyncError } from '../lib/errors.ts'
import { LONGEST_SECRET, readRegular, stampOf, withoutNewline } from '../lib/files.ts'
import { registerSecret, Secret } from '../lib/secrets.ts'
import type { FormSource } from './port.ts'

/** What was read, by its stamp: root reads it, and becomes the owner of the state directory, who may not (connection.ts). */
const known = new Map<string, { stamp: string | undefined; secret: Secret }>()

const OWNERSHIP_HINT =
  'make the user that runs feedsyncd its owner, or let systemd hand it over (LoadCredential=)'

/**
 * The file's bytes; of a secret (`dropNewline`) one newline at the end is not part of it.
 * @throws FeedsyncError (78) when the file is missing, unreadable, empty or no key by its size.
 */
export function readKeyFile(path: string, dropNewline: boolean): Secret {
  const missing = isHandedOver(path)
    ? keyAdvice(path)
    : 'put the key that the service operator issued there, or set service.auth.keyFile'
  const name = `${dropNewline} ${path}`
  const stamp = stampOf(path)?.text
  const before = known.get(name)
  if (before !== undefined && before.stamp === stamp) return before.secret
  try {
    const bytes = readRegular(path, LONGEST_SECRET)
    const key = dropNewline ? withoutNewline(bytes) : bytes
    if (key.length === 0) throw new Error('is empty')
    registerSecret(key)
    const secret = new Secret(key)
    known.set(name, { stamp, secret })
    return secret
  } catch (error) {
    const subject = { name: `the key file ${path}`, setting: 'service.auth.keyFile' }
    const { code, reason } = errnoText(error, { ...subject, use: 'read' })
    const hint = code === 'EACCES' ? OWNERSHIP_HINT : missing
    throw new FeedsyncError(reason, { hint, exitCode: EXIT.config, cause: error })
  }
}

/** Reads the key again when its file changed, and says whether it did. Throws what `reloadKey` throws. */
export function keyReloader(forms: Pick<FormSource, 'reloadKey'>, keyFile: string): () => boolean {
  const stamp = () => stampOf(keyFile)?.text
  let known = stamp()
  return () => {
    const now = stamp()
    if (now === known || now === undefined) return false
    known = now
    forms.reloadKey()
    return true
  }
}

// Under systemd the daemon reads a copy that systemd made of root's file at the start (LoadCredential=). Advice about
// that copy would help nobody, so advice names the file that a person edits.

/** The folder of credentials has the name of the unit, and an instance has the key in a folder of its own. */
const CREDENTIALS_OF = /\/(feedsyncd(?:@([^/]+))?)\.service\/?$/

/** Whether systemd hands this key over. */
export function isHandedOver(keyFile: string, env: NodeJS.ProcessEnv = process.env): boolean {
  const folder = env.CREDENTIALS_DIRECTORY
  return folder !== undefined && folder !== '' && keyFile.startsWith(join(folder, '/'))
}

/** What to do about a key that is refused or cannot be used: `check the key in …`. */
export function keyAdvice(keyFile: string, env: NodeJS.ProcessEnv = process.env): string {
  if (!isHandedOver(keyFile, env)) return `check the key in ${keyFile}`
  const [, unit = 'feedsyncd', instance] =
    CREDENTIALS_OF.exec(env.CREDENTIALS_DIRECTORY ?? '') ?? []
  const file = join('/etc/feedsyncd', instance ?? '', 'service.key')
  return `write the right key to ${file}, then: systemctl restart ${unit}`
}
