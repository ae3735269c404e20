// Reads where the health endpoint listens: `127.0.0.1:9464`, `[::1]:9464` or the path of a socket.
// A port alone is refused: which addresses are opened must stand in the file.

import type { Listen } from '../ops/port.ts'

export const LISTEN_EXPECTED =
  'expected host:port such as 127.0.0.1:9464, the path of a socket, or "" for off'

/** null for anything else. What holds a slash is a path. */
export function parseListen(value: string): Listen | null {
  if (/^[^\x00-\x1f\x7f]*\/[^\x00-\x1f\x7f]*[^/\x00-\x1f\x7f]$/.test(value)) {
    return { kind: 'unix', path: value }
  }
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(value)
  const host = match?.[1] ?? match?.[2]
  const port = Number(match?.[3])
  return host === undefined || port > 65_535 ? null : { kind: 'tcp', host, port }
}
