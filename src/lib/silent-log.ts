// A log that says nothing, without the library that the other one needs: a command that only reads the
// history starts without it.

import type { Log } from './log.ts'

const nothing = () => {}
const levels = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing }

export const silentLog = {
  ...{ ...levels, fatal: nothing, silent: nothing, level: 'silent' },
  child: () => silentLog,
} as unknown as Log
