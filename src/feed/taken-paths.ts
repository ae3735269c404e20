// Which path each field of a feed was read from: the one that most of its first postings have.

import { FIELDS, type Field } from './field-paths.ts'
import type { FoundPaths } from './port.ts'
import { SAMPLE } from './posting-reader.ts'
import type { PostingValues } from './posting-values.ts'

export class TakenPaths {
  #postings = 0
  /** By the number of the field: how many postings have its value at each path. */
  readonly #counts = FIELDS.map(() => new Map<string, number>())

  add(values: PostingValues): void {
    const isSample = this.#postings++ < SAMPLE
    for (let field = 0; field < FIELDS.length; field++) {
      const counts = this.#counts[field] as Map<string, number>
      if (!values.has(field) || !(isSample || counts.size === 0)) continue
      const path = values.path(field)
      counts.set(path, (counts.get(path) ?? 0) + 1)
    }
  }

  /** Null: no posting has it. */
  of(field: Field): string | null {
    const paths = [...(this.#counts[FIELDS.indexOf(field)] ?? [])]
    return paths.sort(([, a], [, b]) => b - a)[0]?.[0] ?? null
  }

  all(): FoundPaths {
    return Object.fromEntries(FIELDS.map((field) => [field, this.of(field)])) as FoundPaths
  }
}
