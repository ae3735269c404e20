// Counts and lists the postings for `campaigns preview`, from the campaigns file, the targeting that was sent last and
// the last uploads.

import type { Config } from '../config/config.ts'
import type { FieldPaths } from '../domain/mapping.ts'
import type { Entry } from './desired.ts'
import type { Selection } from './effects.ts'
import { measure, NO_POSTING } from './effects.ts'
import { feedSideOf } from './feed-side.ts'
import { lastKnown } from './last-known.ts'
import { POSTING_FIELDS, type PostingRow, rowOf } from './posting-rows.ts'
import { verdictOf } from './reasons.ts'
import { type CanonicalTargeting, selector } from './targeting.ts'

export interface PreviewRow extends PostingRow {
  /** What happens to the posting when the file is applied. */
  change: 'stays' | 'comes' | 'goes'
  /**
   * For a posting that comes, why the targeting sent last leaves it out; if none was sent, which criterion takes it.
   * For a posting that goes, why the file leaves it out. null for a posting that stays.
   */
  why: string | null
}

/** previewAll counts what each entry selects: with the targeting sent last, and with the targeting in the file. */
export async function previewAll(config: Config, entries: readonly Entry[], signal: AbortSignal) {
  const sentTargetingOf = sentTargetings(config)
  const all = [
    ...entries.flatMap(({ key, targeting }) =>
      targeting === null ? [] : { key, targeting, wanted: true },
    ),
    ...entries.flatMap(({ key }) => {
      const targeting = sentTargetingOf(key)
      return targeting == null ? [] : { key, targeting, wanted: false }
    }),
  ]
  const effects = await measure(feedSideOf(config), all, signal)
  const rows = entries.map(({ key, targeting }) => {
    const sent = sentTargetingOf(key)
    const before = sent === undefined ? 0 : sent && effects.count(sent)
    // An entry without targeting leaves the targeting of its campaign as it is.
    const after = targeting === null ? before : effects.count(targeting)
    return { key, before, after }
  })
  const { postings, problems, latest } = effects
  return { feeds: latest.length, postings, problems, entries: rows }
}

/**
 * previewOne lists what one entry selects: with the targeting sent last, or with the targeting in the file. `isSent` is
 * false if no targeting was sent.
 */
export async function previewOne(
  config: Config,
  { entry: { key, targeting }, limit }: { entry: Entry; limit: number },
  signal: AbortSignal,
) {
  const sent = sentTargetings(config)(key)
  const applied = targeting ?? sent
  const selects = (one: typeof sent) => (one == null ? () => false : selector(one))
  const isBefore = selects(sent)
  const isAfter = selects(applied)
  const rows: PreviewRow[] = []
  const counts = { stays: 0, comes: 0, goes: 0 }
  let postings = 0
  const take = (values: FieldPaths) => {
    postings++
    const posting = { ...NO_POSTING, ...values }
    const [before, after] = [isBefore(posting), isAfter(posting)]
    if (!before && !after) return
    const change = before && after ? 'stays' : after ? 'comes' : 'goes'
    counts[change]++
    if (rows.length >= limit) return
    // A posting that comes is left out by the targeting that was sent last, if there is one.
    const deciding = change === 'comes' ? (sent ?? applied) : applied
    const isChange = change !== 'stays' && deciding != null
    const why = isChange ? verdictOf(deciding, posting).reason : null
    rows.push({ ...rowOf(values), change, why })
  }
  const problems = await feedSideOf(config).read(
    { fields: POSTING_FIELDS, needed: [], take },
    signal,
  )
  const { comes: gained, goes: lost, stays } = counts
  const selection: Selection = {
    before: sent === null ? null : stays + lost,
    after: applied === null ? null : stays + gained,
  }
  const listed = stays + gained + lost
  const shown = { key, ...selection, gained, lost, listed, postings, problems, rows }
  return { shown, isSent: sent != null }
}

/**
 * sentTargetings returns a function that gives the targeting sent last for a key. It gives null if none was sent, and
 * undefined if no campaign is bound to the key.
 */
function sentTargetings(config: Config) {
  const { bindings } = lastKnown(config)
  const sent = new Map(bindings.map((bound) => [bound.key, bound.sent.targeting]))
  return (key: string): CanonicalTargeting | null | undefined => sent.get(key)
}
