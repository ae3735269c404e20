// Random stories of a vendor's folder. test/nightly/exports.test.ts plays many more.

import { expect, it } from 'vitest'
import { playStories } from '../../../helpers/pipeline/exports.ts'

it('no export goes over one of a later day on the service, unless a person restores it', () => {
  expect(playStories(150, 20_261_128)).toBeGreaterThan(100)
})
