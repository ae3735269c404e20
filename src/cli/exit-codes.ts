// Every exit code of the program, as documented in the README. A code that is not
// listed here must be treated as a failure.

export const EXIT = {
  ok: 0,
  failed: 1,
  changesPending: 2,
  notAllOk: 3,
  credentials: 4,
  usage: 64,
  temporary: 75,
  config: 78,
  interrupted: 130,
  terminated: 143,
} as const
