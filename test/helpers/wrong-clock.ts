// Preloaded into a child (`--import`, in each of its threads): its wall clock is ahead by the number of ms in the file
// FEEDSYNCD_CLOCK_FILE, which a test can change while the child runs. Intervals do not change.

import { readFileSync } from 'node:fs'

const { now } = Date
const file = process.env.FEEDSYNCD_CLOCK_FILE

if (file) Date.now = () => now() + aheadMs(file)

function aheadMs(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch {
    return 0
  }
}
