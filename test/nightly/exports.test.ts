// Random stories of a vendor's folder, many of them. FEEDSYNCD_SEED is their seed (default: today's date), and
// FEEDSYNCD_STORIES their number. A failure prints the seed and the shortest story.

import { expect, it } from 'vitest'
import { playStories } from '../helpers/pipeline/exports.ts'

const SEED = Number(
  process.env.FEEDSYNCD_SEED ?? new Date().toISOString().slice(0, 10).replaceAll('-', ''),
)
const STORIES = Number(process.env.FEEDSYNCD_STORIES ?? 3000)

it('no export replaces an export of a later day on the service, unless a person restores it', () => {
  expect(playStories(STORIES, SEED)).toBeGreaterThan(STORIES / 2)
})
