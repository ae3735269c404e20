// Counts which postings of feeds are selected by many questions at once: each posting is seen once, and
// only the questions are asked that its ids can belong to.

import type { SelectionCounts, SelectionQuestion, TargetedPosting } from './port.ts'

/** Pairs of questions that share postings and are told apart. */
const MOST_PAIRS = 100

export const NO_POSTING: TargetedPosting = {
  ...{ externalCampaignId: '', requisitionId: '', title: '', description: '' },
  ...{ city: '', state: '', postalCode: '' },
}

interface Counted extends SelectionQuestion {
  postings: number
}

export class SelectionCount {
  readonly fields: readonly (keyof TargetedPosting)[]
  readonly #questions = new Map<string, Counted>()
  /** Wanted ids whose postings are all selected. */
  readonly #plain: ReadonlySet<string>
  readonly #byId = new Map<string, Counted[]>()
  readonly #byRequisition = new Map<string, Counted[]>()
  readonly #overlaps = new Map<string, number>()
  readonly #seen = new Set<string>()

  constructor(questions: readonly SelectionQuestion[]) {
    for (const question of questions) {
      const known = this.#questions.get(question.name)
      if (question.isPlain) continue
      if (known === undefined) this.#questions.set(question.name, { ...question, postings: 0 })
      else known.wanted ||= question.wanted
    }
    this.#plain = new Set(questions.flatMap((q) => (q.isPlain && q.wanted ? [q.id] : [])))
    for (const one of this.#questions.values()) {
      group(this.#byId, one.id, one)
      for (const requisition of one.pinned) group(this.#byRequisition, requisition, one)
    }
    const used = [...this.#questions.values()].flatMap(({ fields }) => fields)
    this.fields = [...new Set(['externalCampaignId', 'requisitionId', ...used] as const)]
  }

  add(values: Partial<TargetedPosting>): void {
    const posting = { ...NO_POSTING, ...values }
    const { externalCampaignId: id, requisitionId } = posting
    const pinned = this.#byRequisition.get(requisitionId) ?? []
    if (pinned.length > 0) this.#seen.add(requisitionId)
    const owners = new Set(this.#plain.has(id) ? [id] : [])
    for (const one of new Set([...(this.#byId.get(id) ?? []), ...pinned])) {
      if (!one.selects(posting)) continue
      one.postings++
      if (one.wanted) owners.add(one.key)
    }
    if (owners.size < 2) return
    const pair = [...owners].sort().join(' and ')
    const known = this.#overlaps.get(pair)
    if (known !== undefined || this.#overlaps.size < MOST_PAIRS)
      this.#overlaps.set(pair, (known ?? 0) + 1)
  }

  finish(problems: readonly string[]): SelectionCounts {
    const all = [...this.#questions.values()]
    const stale = new Map<string, string[]>()
    for (const { key, wanted, pinned } of problems.length > 0 ? [] : all) {
      const gone = wanted ? pinned.filter((requisition) => !this.#seen.has(requisition)) : []
      if (gone.length > 0) stale.set(key, gone)
    }
    const postings = new Map(all.map((one) => [one.name, one.postings]))
    return { postings, overlaps: this.#overlaps, stale, problems }
  }
}

function group<T>(groups: Map<string, T[]>, key: string, value: T): void {
  const known = groups.get(key)
  if (known === undefined) groups.set(key, [value])
  else known.push(value)
}
