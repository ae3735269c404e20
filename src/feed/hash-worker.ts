// The hashing thread: follows a file that another thread reads or writes, and returns its hashes.

import { type Digests, type FollowedFile, GIVEN_UP, hashFile } from './hashes.ts'

/** answer hashes one file. `file` is null if the caller only wants to start the thread; then the result is null. */
export default async function answer(file: FollowedFile | null): Promise<Digests | null> {
  if (file === null) return null
  const progress = new BigInt64Array(file.progress)
  const endAfter = (bytes: number): number => {
    Atomics.wait(progress, 0, BigInt(bytes))
    const end = Atomics.load(progress, 0)
    if (end === GIVEN_UP) throw new Error('given up')
    return Number(end)
  }
  return hashFile(file, endAfter)
}
