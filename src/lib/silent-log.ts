// A log that says nothing, without the library that the other one needs: a command that only reads the
// history starts without it.

import type { Log } from './log.ts'

const nothing = () => {}

export const silentLog: Log = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  level: 'silent',
}
