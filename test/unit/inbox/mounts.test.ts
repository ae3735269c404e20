import type { BigIntStats } from 'node:fs'
import { expect, it } from 'vitest'
import { Mounts } from '../../../src/inbox/mounts.ts'

const on = (dev: number) => ({ dev: BigInt(dev) }) as BigIntStats
const HOST = on(1)
const SHARE = on(2)

/** mounted returns the mounts of a folder with a file system at `acme/`, which contains a directory. */
function mounted(): Mounts {
  const mounts = new Mounts()
  mounts.admit('', { ...HOST, isEmpty: false })
  mounts.admit('acme/', { ...SHARE, isEmpty: false })
  mounts.admit('acme/old/', { ...SHARE, isEmpty: true })
  return mounts
}

it('recognises the empty directory of a missing mount each time, until the mount is back', () => {
  const mounts = new Mounts(mounted().known)

  mounts.admit('', { ...HOST, isEmpty: true })

  expect(mounts.admit('acme/', { ...HOST, isEmpty: true })).toBe(false)
  expect(mounts.admit('acme/', { ...HOST, isEmpty: true })).toBe(false)
  expect(mounts.admit('acme/', { ...SHARE, isEmpty: true })).toBe(true)
})

it('reports a mount point as missing if its directory is gone, until it is back', () => {
  const mounts = new Mounts(mounted().known)

  mounts.admit('', { ...HOST, isEmpty: true })
  const missing = mounts.missing()
  mounts.admit('acme/', { ...SHARE, isEmpty: true })

  expect([missing, mounts.missing()]).toEqual([['acme/'], []])
})

it('accepts an empty ordinary directory', () => {
  const mounts = new Mounts(mounted().known)

  mounts.admit('', { ...HOST, isEmpty: true })

  expect(mounts.admit('beta/', { ...HOST, isEmpty: true })).toBe(true)
})

it('accepts a former mount point that now has files, and reports it as replaced, not as missing', () => {
  const mounts = new Mounts(mounted().known)

  mounts.admit('', { ...HOST, isEmpty: true })
  const isAccepted = mounts.admit('acme/', { ...HOST, isEmpty: false })

  expect(isAccepted).toBe(true)
  expect(mounts.missing()).toEqual([])
  // Its files may be old ones, which lay below the mount.
  expect(mounts.replaced).toEqual(['acme/'])
})

it('reports no missing mount below a directory that could not be read', () => {
  const mounts = new Mounts(mounted().known)

  expect(mounts.missing()).toEqual([])
})
