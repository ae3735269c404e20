// The hashing thread: follows the file that another thread reads or writes, and answers with its hashes.

import { parentPort, workerData } from 'node:worker_threads'
import type { FollowedFile } from './hash-thread.ts'
import { hashFile } from './hashes.ts'

const followed = workerData as FollowedFile
const progress = new BigInt64Array(followed.progress)

const digests = hashFile(followed, (bytes) => {
  Atomics.wait(progress, 0, BigInt(bytes))
  return Number(Atomics.load(progress, 0))
})
parentPort?.postMessage(await digests)
