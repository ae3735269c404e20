import { describe, expect, it } from 'vitest'
import { markIn, markOf, nameWithoutMark, withMark } from '../../../src/campaigns/mark.ts'
import { entry, fileOf } from '../../helpers/campaigns/file.ts'
import { opened } from '../../helpers/campaigns/world.ts'

describe('the mark in a name', () => {
  it('is in the name of a new campaign, has ten characters, and differs for another account or key', async () => {
    const { world, host } = opened(fileOf(entry('A')))

    await host.apply()

    expect(world.all[0]?.name).toBe(`Campaign A [#${markOf('123', 'A')}]`)
    expect(markOf('123', 'A')).toMatch(/^[0-9a-hjkmnp-tv-z]{10}$/)
    expect(new Set([markOf('123', 'A'), markOf('123', 'B'), markOf('1', 'A')]).size).toBe(3)
    expect(markOf('12', '3A')).not.toBe(markOf('123', 'A'))
  })

  it.each([
    ['Nurses [#k7m2q9x4c1]', 'k7m2q9x4c1', 'Nurses'],
    ['Nurses [#K7M2Q9X4C1] spring', 'k7m2q9x4c1', 'Nurses spring'],
    ['Nurses [#k7m2q9x4', null, 'Nurses'],
    ['Nurses [', null, 'Nurses'],
    ['Nurses [#k7m2q9x4c1x]', null, 'Nurses'],
    ['Nurses [MA]', null, 'Nurses [MA]'],
  ])('in %j is %j, and the name without it is %j', (name, mark, bare) => {
    expect(markIn(name)).toBe(mark)
    expect(nameWithoutMark(name)).toBe(bare)
  })

  it('is not found if the campaign has no name', () => {
    expect(markIn(null)).toBeNull()
  })

  it('is added to a new name only if the campaign has a mark', () => {
    expect(withMark('Nurses', 'k7m2q9x4c1')).toBe('Nurses [#k7m2q9x4c1]')
    expect(withMark('Nurses', null)).toBe('Nurses')
  })
})
