// The checker's verdicts on the W3C suite, held against what the suite says of its documents.

import { checkBytes, verdictOf } from './verdicts.ts'
import { hasDoctype, suiteTests } from './w3c-suite.ts'

/** Their fault lies in an external entity, and nothing external is ever read. */
const EXTERNAL_FAULT = [
  /^xmltest\/not-wf\/not-sa\/00[1346789]\.xml$/,
  /^oasis\/p(09fail[12]|30fail1|31fail1|61fail1|62fail[12]|63fail[12]|64fail[12])\.xml$/,
  /^ibm\/not-wf\/P(30\/ibm30n01|31\/ibm31n01|61\/ibm61n01|62\/ibm62n0[1-8])\.xml$/,
]

/** Well-formed without namespaces alone: names such as `A:.-`. */
const NAMESPACE_ERRORS = ['oasis/p04pass1.xml', 'oasis/p05pass1.xml']

/** Paths of documents that were judged unlike the suite does. */
interface Differences {
  unexplained: string[]
  /** For a reason that is named above. */
  explained: string[]
}

export class W3cSuite {
  readonly all = suiteTests()
  readonly #withoutDtd = this.all.filter((test) => !hasDoctype(test.bytes))
  readonly wrongWithoutDtd = this.#withoutDtd.filter((test) => test.type === 'not-wf')
  readonly rightWithoutDtd = this.#withoutDtd.filter((test) => test.type !== 'not-wf')

  passedThoughWrong(): Differences {
    const passed = this.all
      .filter((test) => test.type === 'not-wf' && verdictOf(test.bytes) === 'complete')
      .map((test) => test.path)
    return parted(passed, (path) => EXTERNAL_FAULT.some((known) => known.test(path)))
  }

  refusedThoughRight(): Differences {
    const refused = this.rightWithoutDtd
      .filter((test) => verdictOf(test.bytes) !== 'complete')
      .map((test) => test.path)
    return parted(refused, (path) => NAMESPACE_ERRORS.includes(path))
  }

  /** Documents with another verdict, or the same one at another place, when they arrive in pieces. */
  unlikeInPieces(): string[] {
    return this.all.flatMap(({ path, bytes }) => {
      const whole = JSON.stringify(checkBytes(bytes))
      const sizes = bytes.length > 20_000 ? [7] : [1, 2, 3, 5, 7]
      return sizes
        .filter((size) => JSON.stringify(checkBytes(bytes, size)) !== whole)
        .map((size) => `${path} in pieces of ${size}`)
    })
  }
}

function parted(paths: string[], isKnown: (path: string) => boolean): Differences {
  return {
    explained: paths.filter(isKnown),
    unexplained: paths.filter((path) => !isKnown(path)),
  }
}
