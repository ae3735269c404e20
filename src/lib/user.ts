// Who runs this process, and who asked for it.

import { userInfo } from 'node:os'

/** The name; the number where the system has no name for it, as in many containers. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}`
  }
}

/** Who typed a command, also behind sudo. The environment tells: a command of root's becomes another user before it writes. */
export function personName({ LOGNAME, SUDO_USER, USER }: NodeJS.ProcessEnv): string {
  return SUDO_USER || USER || LOGNAME || userName()
}
