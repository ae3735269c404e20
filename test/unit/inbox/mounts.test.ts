import type { BigIntStats } from 'node:fs'
import { expect, it } from 'vitest'
import { Mounts } from '../../../src/inbox/mounts.ts'

const on = (dev: number) => ({ dev: BigInt(dev) }) as BigIntStats
const HOST = on(1)
const SHARE = on(2)

/** The folder, with a file system mounted at `acme/` that has a directory of its own. */
function mounted(): Mounts {
  const mounts = new Mounts()
  mounts.begin()
  mounts.admit('', HOST, false)
  mounts.admit('acme/', SHARE, false)
  mounts.admit('acme/old/', SHARE, true)
  return mounts
}

it('does not take the empty place of a file system that went away for that file system', () => {
  const mounts = mounted()

  mounts.begin()
  mounts.admit('', HOST, true)

  expect(mounts.admit('acme/', HOST, true)).toBe(false)
  expect(mounts.admit('acme/', HOST, true)).toBe(false)
  expect(mounts.admit('acme/', SHARE, true)).toBe(true)
})

it('misses a mount point that is not even a directory any more, until it is back', () => {
  const mounts = mounted()

  mounts.begin()
  mounts.admit('', HOST, true)
  const missing = mounts.missing()
  mounts.admit('acme/', SHARE, true)

  expect([missing, mounts.missing()]).toEqual([['acme/'], []])
})

it('believes a directory that is not a mount point, and one that has files of its own by now', () => {
  const mounts = mounted()

  mounts.begin()
  mounts.admit('', HOST, true)
  const replaced = mounts.admit('acme/', HOST, false)

  expect(replaced).toBe(true)
  expect(mounts.missing()).toEqual([])
})

it('says nothing of what lies below a directory that could not be read', () => {
  const mounts = mounted()

  mounts.begin()

  expect(mounts.missing()).toEqual([])
})
