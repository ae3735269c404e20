// The hashing thread: follows the file that another thread reads or writes, and answers with its hashes.

import { parentPort } from 'node:worker_threads'
import { type FollowedFile, GIVEN_UP, hashFile } from './hashes.ts'

parentPort?.on('message', (file: FollowedFile) => {
  const progress = new BigInt64Array(file.progress)
  const endAfter = (bytes: number): number => {
    Atomics.wait(progress, 0, BigInt(bytes))
    const end = Atomics.load(progress, 0)
    if (end === GIVEN_UP) throw new Error('given up')
    return Number(end)
  }
  hashFile(file, endAfter).then(
    (digests) => parentPort?.postMessage(digests),
    () => parentPort?.postMessage(null),
  )
})
