// Counts where the first postings of a feed have each field, and names the most frequent path.

import { FIELDS, type Field } from './field-paths.ts'
import type { FoundPaths } from './port.ts'
import { SAMPLE } from './posting-reader.ts'
import type { PostingValues } from './posting-values.ts'

export class PathCounts {
  #postings = 0
  /** #counts has, for each field, the number of postings that have the field at each path. */
  readonly #counts = FIELDS.map(() => new Map<string, number>())

  /** add counts the fields of the first `SAMPLE` postings, and of each later posting the fields that no posting had. */
  add(values: PostingValues): void {
    const isSample = this.#postings++ < SAMPLE
    for (let field = 0; field < FIELDS.length; field++) {
      const counts = this.#counts[field] as Map<string, number>
      if (!values.has(field) || !(isSample || counts.size === 0)) continue
      const path = values.path(field)
      counts.set(path, (counts.get(path) ?? 0) + 1)
    }
  }

  /** of returns the most frequent path of a field, or null if no posting has the field. */
  of(field: Field): string | null {
    const paths = [...(this.#counts[FIELDS.indexOf(field)] ?? [])]
    return paths.sort(([, a], [, b]) => b - a)[0]?.[0] ?? null
  }

  all(): FoundPaths {
    return Object.fromEntries(FIELDS.map((field) => [field, this.of(field)])) as FoundPaths
  }
}
