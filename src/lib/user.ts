// Names the user that runs this process, and the person who typed the command.

import { userInfo } from 'node:os'

/** userName returns the name of the user, or the number if the system has no name for it, as in many containers. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}`
  }
}

/**
 * personName names the person who typed a command, also behind sudo. It reads the environment, because a command of
 * root becomes another user before it writes.
 */
export function personName({ LOGNAME, SUDO_USER, USER }: NodeJS.ProcessEnv): string {
  return SUDO_USER || USER || LOGNAME || userName()
}
