import { describe, expect, it } from 'vitest'
import { W3cSuite } from '../../helpers/xml/w3c-verdicts.ts'

const suite = new W3cSuite()

describe('the W3C suite, XML 1.0 fifth edition', () => {
  it('is complete', () => {
    expect(suite.all).toHaveLength(2001)
    expect(suite.wrongWithoutDtd).toHaveLength(243)
    expect(suite.rightWithoutDtd).toHaveLength(73)
  })

  it('has no wrong document that passes, except 29 documents with faults in external entities', () => {
    const { unexplained, explained } = suite.passedThoughWrong()

    expect(unexplained).toEqual([])
    expect(explained).toHaveLength(29)
  })

  it('has no well-formed document without DTD that is refused, except two documents with namespace errors', () => {
    const { unexplained, explained } = suite.refusedThoughRight()

    expect(unexplained).toEqual([])
    expect(explained).toHaveLength(2)
  })

  it('gets the same verdict at the same place with pieces of any size', () => {
    expect(suite.unlikeInPieces()).toEqual([])
  })
})
