// As far as statfs(2) says, every folder lies on NFS for the rest of a test: the daemon polls it.

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
