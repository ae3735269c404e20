// Measures the delay of the daemon's event loop between two SIGUSR2, and writes the result, in ms, to the file that
// LOOP_MONITOR names. `--import` loads this file into the daemon.

import { renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

/** RESOLUTION_MS is the interval of the timer; the histogram records the time between two timer calls. */
const RESOLUTION_MS = 1

/** LoopDelay has delays in ms, without the interval of the timer. */
export interface LoopDelay {
  p50: number
  p99: number
  max: number
}

const file = process.env.LOOP_MONITOR

if (isMainThread && file !== undefined) {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  const late = (ns: number) => Math.max(0, ns / 1e6 - RESOLUTION_MS)
  process.on('SIGUSR2', () => {
    // `enable` returns false at the second signal, because the histogram is already enabled.
    if (histogram.enable()) return
    histogram.disable()
    const delay: LoopDelay = {
      p50: late(histogram.percentile(50)),
      p99: late(histogram.percentile(99)),
      max: late(histogram.max),
    }
    writeFileSync(`${file}.part`, JSON.stringify(delay))
    renameSync(`${file}.part`, file)
  })
}
