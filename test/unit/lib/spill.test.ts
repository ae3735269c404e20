import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { Spill } from '../../../src/lib/spill.ts'

it('a spill gives back texts of any number and size, in any order and line by line, and leaves no file behind', () => {
  const folder = mkdtempSync(join(tmpdir(), 'spill-'))
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })
  vi.stubEnv('TMPDIR', folder)
  // The next file of this process makes its folder before vitest restores the variable.
  onTestFinished(() => void vi.unstubAllEnvs())
  const texts = Array.from({ length: 3_000 }, (_, n) => `${n} ${'ö'.repeat((n * 7_919) % 2_000)}\n`)
  texts.push(`${'x'.repeat(3_000_000)}\n`, 'last\n')

  using spill = new Spill()
  const places = texts.map((text) => spill.append(text))

  expect(places.toReversed().map((place) => spill.read(place))).toEqual(texts.toReversed())
  expect([...spill.lines()]).toEqual(texts.map((text) => text.slice(0, -1)))
  expect(existsSync(folder) && readdirSync(folder)).toEqual([])
})
