// Who runs this process.

import { userInfo } from 'node:os'

/** The name; the number where the system has no name for it, as in many containers. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}`
  }
}
