// Hashes a large feed in the main thread while the checking thread checks it. The main thread has little else to do
// then, and another thread would need 11 MB of memory. It uses the same descriptor, and reads from the kernel's cache what
// the checking thread has just read or copied.

import { on } from 'node:events'
import { read } from 'node:fs'
import { promisify } from 'node:util'
import { MessageChannel, type MessagePort, parentPort } from 'node:worker_threads'
import { type Digests, Hashing, type HashJob, hashFile } from './hashes.ts'

/** HashFollower hashes a file while another thread reads or writes it. */
export interface HashFollower extends AsyncDisposable {
  /** advanceTo reports how many bytes of the file, or of its copy, can be hashed now. */
  advanceTo(bytes: number): void
  /** digest resolves after the last byte. Rejects with `Unreadable`. */
  digest(): Promise<Digests>
}

/** HashOrder asks the main thread to follow a file. The port brings numbers of bytes, and takes the answer. */
interface HashOrder {
  job: HashJob
  port: MessagePort
}

/** GIVEN_UP stands for a number of bytes, and tells the main thread to stop. */
const GIVEN_UP = -1

/** PIECE is how many bytes the main thread reads and hashes at once. It answers nothing else for about 2 ms. */
const PIECE = 2 ** 20

/**
 * hashInMain asks the main thread to hash a file. Only a thread of a pool with `answerHashOrder` can call it. The caller
 * keeps the descriptor open until it has disposed of the follower.
 */
export function hashInMain(job: HashJob): HashFollower {
  const { port1: port, port2 } = new MessageChannel()
  const { promise: answer, resolve } = Promise.withResolvers<Digests | null>()
  port.once('message', resolve)
  parentPort?.postMessage({ job, port: port2 } satisfies HashOrder, [port2])
  return {
    advanceTo: (bytes) => port.postMessage(bytes),
    // If the main thread cannot read the file, this thread says why.
    digest: async () => (await answer) ?? hashFile(job),
    [Symbol.asyncDispose]: async () => {
      port.postMessage(GIVEN_UP)
      await answer
    },
  }
}

/**
 * answerHashOrder follows a file for another thread, and sends it the hashes, which it returns. They are null if that
 * thread gave up or has ended, or if a read fails.
 */
export async function answerHashOrder({ job, port }: HashOrder): Promise<Digests | null> {
  const digests = await follow(job, port).catch(() => null)
  port.postMessage(digests)
  port.close()
  return digests
}

async function follow(
  { descriptor, isCopied, size }: HashJob,
  port: MessagePort,
): Promise<Digests | null> {
  const hashing = new Hashing({ isCopied })
  const memory = Buffer.allocUnsafeSlow(Math.min(PIECE, size))
  let at = 0
  // The port closes when the other thread ends.
  for await (const [end] of on(port, 'message', { close: ['close'] })) {
    if (end === GIVEN_UP) return null
    while (at < end) {
      const length = Math.min(memory.length, end - at)
      const { bytesRead } = await promisify(read)(descriptor, memory, 0, length, at)
      if (bytesRead === 0) return null
      hashing.update(memory.subarray(0, bytesRead))
      at += bytesRead
    }
    if (at === size) return hashing.digest()
  }
  return null
}
