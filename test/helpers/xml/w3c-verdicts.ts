// Compares the checker's verdicts on the W3C suite with the expectations of the suite.

import { checkBytes, verdictOf } from './verdicts.ts'
import { hasDoctype, suiteTests } from './w3c-suite.ts'

/** The fault of these documents is in an external entity, which the checker never reads. */
const EXTERNAL_FAULT = [
  /^xmltest\/not-wf\/not-sa\/00[1346789]\.xml$/,
  /^oasis\/p(09fail[12]|30fail1|31fail1|61fail1|62fail[12]|63fail[12]|64fail[12])\.xml$/,
  /^ibm\/not-wf\/P(30\/ibm30n01|31\/ibm31n01|61\/ibm61n01|62\/ibm62n0[1-8])\.xml$/,
]

/** These documents are well-formed only without namespaces: they have names such as `A:.-`. */
const NAMESPACE_ERRORS = ['oasis/p04pass1.xml', 'oasis/p05pass1.xml']

/** Differences are the paths of documents whose verdict differs from the suite. */
interface Differences {
  unexplained: string[]
  /** With a reason above. */
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

  /** unlikeInPieces returns documents whose verdict or place changes when they arrive in pieces. */
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
