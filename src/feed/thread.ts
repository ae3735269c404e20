// Starts the threads that read and hash feeds. piscina runs each one and ends it.

import { Piscina } from 'piscina'

/**
 * Without the first flag piscina loads our modules with require(), and Node 24.21 aborts the whole process if the
 * thread is stopped at that moment. piscina tries require() all the same, and the second flag hides the warning about
 * that.
 */
const FLAGS = ['--no-experimental-require-module', '--no-warnings']

type PiscinaOptions = NonNullable<ConstructorParameters<typeof Piscina>[0]>
type ThreadOptions = Pick<PiscinaOptions, 'argv' | 'concurrentTasksPerWorker' | 'resourceLimits'>

/**
 * startThread starts one thread with this module. If the thread dies, its running task fails. If no task runs, the next
 * task fails.
 */
export function startThread(module: URL, options: ThreadOptions): Piscina {
  const pool = new Piscina({
    ...options,
    filename: module.href,
    execArgv: FLAGS,
    minThreads: 1,
    maxThreads: 1,
    recordTiming: false,
  })
  // piscina reports here that an idle thread died. Nothing needs to be done, because the next task fails.
  return pool.on('error', () => {})
}
