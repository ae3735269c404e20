// What the rest of the program knows of the spool, where the private copies of feeds are kept.

/** Private copies of what was taken. Every method rejects with a `FeedsyncError` that names the system's code. */
export interface Spool {
  /** Absolute path of a new file, not created yet: its writer creates it exclusively and fsyncs it. */
  prepare(): string
  /** Absolute path of the posting index that belongs to a prepared or kept file; it lives as long as this. */
  indexOf(path: string): string
  /** Removes a prepared file and its index, whether they were written or not. */
  discard(prepared: string): Promise<void>
  /** Gives a prepared file and its index their lasting name, durably, and answers the name. */
  keep(prepared: string, id: number): Promise<string>
  /** Absolute path of a kept copy. */
  path(name: string): string
  /** Removes a kept copy, with its index; not an error where it is not there. */
  remove(name: string): Promise<void>
  /** Names of all its files. */
  names(): Promise<string[]>
  /** Removes what no name in `keep` accounts for, prepared files included: at start, before anything is prepared. Answers how many files. */
  sweep(keep: ReadonlySet<string>): Promise<number>
  /** Bytes that its file system has left for us; infinite where it does not tell. */
  freeBytes(): Promise<number>
}
