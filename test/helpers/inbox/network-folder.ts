// Makes statfs(2) report NFS for every folder until the end of a test, so that the daemon polls it.

import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { onTestFinished } from 'vitest'

const NFS = 0x6969

export function onNetwork(): void {
  const { statfs } = promises
  const use = (one: typeof statfs) => {
    promises.statfs = one
    syncBuiltinESMExports()
  }
  const asNetwork = async (path: string) => Object.assign(await statfs(path), { type: NFS })
  use(asNetwork as typeof statfs)
  onTestFinished(() => use(statfs))
}
