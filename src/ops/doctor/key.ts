// Checks a key file: who else may read it, and which invisible bytes an editor left in it.

import { stat } from 'node:fs/promises'
import { type CheckAnswer, ok, warning } from './finding.ts'

/**
 * checkKeyFile checks the file of a key that can sign. `secret` is the content if every byte of it counts, or null for
 * a PEM key. `isHandedOver` is true for a copy that systemd made for the unit: systemd sets its mode.
 */
export async function checkKeyFile(
  path: string,
  { isHandedOver, secret }: { isHandedOver: boolean; secret: Buffer | null },
): Promise<CheckAnswer> {
  const { mode } = await stat(path)
  if ((mode & 0o077) !== 0 && !isHandedOver) {
    const says = `${path} has the mode 0${(mode & 0o777).toString(8)}: others may read it`
    return warning(says, `chmod 0600 ${path}`)
  }
  const how = secret === null ? null : strayBytes(secret)
  if (how === null) return ok(`${path} holds a key that can sign`)
  const fix =
    'write the file again with only the key, unless the service operator issued the key like this'
  return warning(`${path} ${how}, which counts as a part of the key`, fix)
}

function strayBytes(key: Buffer): string | null {
  const text = key.toString('latin1')
  if (text.startsWith('\xef\xbb\xbf')) return 'begins with a byte order mark'
  if (/^\s/.test(text)) return 'begins with white space'
  return /\s$/.test(text) ? 'ends with white space' : null
}
