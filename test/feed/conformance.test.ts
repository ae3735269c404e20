import { describe, expect, it } from 'vitest'
import { checkBytes, verdictOf } from './helpers/verdicts.ts'
import { hasDoctype, suiteTests } from './helpers/w3c-suite.ts'

const all = suiteTests()
const withoutDtd = all.filter((test) => !hasDoctype(test.bytes))

/** Their fault lies in an external entity, and nothing external is ever read. */
const EXTERNAL_FAULT = [
  /^xmltest\/not-wf\/not-sa\/00[1346789]\.xml$/,
  /^oasis\/p(09fail[12]|30fail1|31fail1|61fail1|62fail[12]|63fail[12]|64fail[12])\.xml$/,
  /^ibm\/not-wf\/P(30\/ibm30n01|31\/ibm31n01|61\/ibm61n01|62\/ibm62n0[1-8])\.xml$/,
]

/** Well-formed without namespaces alone: names such as `A:.-`. */
const NAMESPACE_ERRORS = ['oasis/p04pass1.xml', 'oasis/p05pass1.xml']

describe('the W3C suite, XML 1.0 fifth edition', () => {
  it('is there in full', () => {
    expect(all.length).toBe(2001)
    expect(withoutDtd.filter((test) => test.type === 'not-wf')).toHaveLength(243)
    expect(withoutDtd.filter((test) => test.type !== 'not-wf')).toHaveLength(73)
  })

  it('has no not-well-formed document that passes, but for faults in external entities', () => {
    const passed = all
      .filter((test) => test.type === 'not-wf' && verdictOf(test.bytes) === 'complete')
      .map((test) => test.path)

    const unexplained = passed.filter((path) => !EXTERNAL_FAULT.some((known) => known.test(path)))
    expect(unexplained).toEqual([])
    expect(passed).toHaveLength(29)
  })

  it('has no well-formed document without DTD that is refused, but for namespace errors', () => {
    const refused = withoutDtd
      .filter((test) => test.type !== 'not-wf' && verdictOf(test.bytes) !== 'complete')
      .map((test) => test.path)

    expect(refused).toEqual(NAMESPACE_ERRORS)
  })

  it('gets the same verdict at the same place however the input is cut', () => {
    const different = all.flatMap(({ path, bytes }) => {
      const whole = JSON.stringify(checkBytes(bytes))
      const sizes = bytes.length > 20_000 ? [7] : [1, 2, 3, 5, 7]
      return sizes
        .filter((size) => JSON.stringify(checkBytes(bytes, size)) !== whole)
        .map((size) => `${path} in pieces of ${size}`)
    })

    expect(different).toEqual([])
  })
})
