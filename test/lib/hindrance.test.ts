import { expect, it } from 'vitest'
import { Hindrance } from '../../src/lib/hindrance.ts'

const SECOND = 1000

it('is said once, however often it is met, also after a round that went well', () => {
  const hindrance = new Hindrance()

  const said = [0, 5.2, 10.4, 20].map((s) => {
    expect(hindrance.over(s * SECOND)).toEqual([])
    return hindrance.meet('the disk is full', s * SECOND)
  })

  expect(said).toEqual([true, false, false, false])
  expect(hindrance.trouble).toBe('the disk is full')
})

it('is over when it has stayed away for 15 s, and is said anew when it comes back', () => {
  const hindrance = new Hindrance()
  hindrance.meet('the disk is full', 0)

  const over = [14.9, 15, 15.1].map((s) => hindrance.over(s * SECOND))

  expect(over).toEqual([[], ['the disk is full'], []])
  expect(hindrance.trouble).toBeNull()
  expect(hindrance.meet('the disk is full', 16 * SECOND)).toBe(true)
})

it('says each of two troubles that take turns once', () => {
  const hindrance = new Hindrance()

  const said = ['full', 'locked', 'full', 'locked'].map((trouble, n) =>
    hindrance.meet(trouble, n * 5 * SECOND),
  )

  expect(said).toEqual([true, true, false, false])
})

it('lets nothing be tried for 5 s', () => {
  const hindrance = new Hindrance()

  hindrance.meet('the disk is full', 0)

  expect([0, 2, 5, 9].map((s) => hindrance.pauseLeft(s * SECOND))).toEqual([5000, 3000, 0, 0])
})
