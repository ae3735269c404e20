// Where the key is put, and what follows. Under systemd the daemon has a copy that root's file was made into at
// the start (LoadCredential=): advice about that copy, or about its mode, would help nobody.

import { join } from 'node:path'

/** Of the packaged unit: LoadCredential=service-key:… */
export const UNIT_KEY_FILE = '/etc/feedsyncd/service.key'

/** Whether systemd hands this key over. */
export function isHandedOver(keyFile: string, env: NodeJS.ProcessEnv = process.env): boolean {
  const folder = env.CREDENTIALS_DIRECTORY
  return folder !== undefined && folder !== '' && keyFile.startsWith(join(folder, '/'))
}

/** What to do about a key that is refused or cannot be used: `check the key in …`. */
export function keyAdvice(keyFile: string, env: NodeJS.ProcessEnv = process.env): string {
  return isHandedOver(keyFile, env)
    ? `write the right key to ${UNIT_KEY_FILE}, then: systemctl restart feedsyncd`
    : `check the key in ${keyFile}`
}
