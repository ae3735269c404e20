// What the rest of the program knows of the spool, where the private copies of feeds are kept.

export type { Spool } from './spool.ts'
