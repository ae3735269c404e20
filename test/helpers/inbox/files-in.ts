import { readdirSync } from 'node:fs'

/** filesIn returns the names of all files below a directory, sorted. */
export const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort()
