// The port of the spool, which keeps the private copies of feeds.

export type { Spool } from './spool.ts'
