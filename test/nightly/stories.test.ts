// All stories of one feed with up to five versions, and of two feeds with three. The search of fewer versions is in
// test/unit/pipeline/decide/stories.test.ts.

import { expect, it } from 'vitest'
import { searchStories } from '../helpers/pipeline/stories.ts'

it('no story of five versions breaks a promise', () => {
  const began = performance.now()
  const { broken, situations } = searchStories({ versions: 5 })
  console.info(`${situations} situations in ${Math.round(performance.now() - began)} ms`)

  expect(broken).toBeNull()
  expect(situations).toBeGreaterThan(50_000)
})

it('no story of three versions with dates in their names breaks a promise', () => {
  const paths = ['f.xml', 'f-20261122.xml', 'f-20261123.xml']
  const { broken, situations } = searchStories({ versions: 3, paths })
  console.info(`${situations} situations`)

  expect(broken).toBeNull()
})

it('no story of two feeds of one account with three versions breaks a promise', () => {
  const { broken, situations } = searchStories({ versions: 3, paths: ['f.xml', 'g.xml'] })
  console.info(`${situations} situations`)

  expect(broken).toBeNull()
})
