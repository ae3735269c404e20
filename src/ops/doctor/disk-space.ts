// Checks the free space on the disk of the state directory.

import { statfs } from 'node:fs/promises'
import { EXIT, errorCode } from '../../lib/errors.ts'
import { formatBytes } from '../../lib/units.ts'
import { whyDiskFull } from '../disk.ts'
import { type CheckAnswer, ok, problem, skipped, warning } from './finding.ts'

const LITTLE_ROOM = 2 ** 30
const FREE_IT = 'free space: the spool holds upload.keepVersions copies of each feed'

export async function checkDiskSpace(directory: string): Promise<CheckAnswer> {
  try {
    const { bavail, bsize } = await statfs(directory)
    const free = bavail * bsize
    const says = `${formatBytes(free)} free on the disk of ${directory}`
    const full = whyDiskFull(directory)
    if (full !== null) return problem(full.message, FREE_IT, EXIT.temporary)
    return free < LITTLE_ROOM ? warning(says, FREE_IT) : ok(says)
  } catch (error) {
    return skipped(`the free space on the disk of ${directory} is unknown (${errorCode(error)})`)
  }
}
