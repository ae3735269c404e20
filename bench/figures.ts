// The results of a benchmark: figures with all their runs, the runs of a peer that did the same work, and the target
// (docs/design.md, Numbers).

/** Unit is empty for a count. */
export type Unit = 'ms' | 's' | 'MB' | 'MB/s' | 'x' | '%' | ''

export interface Target {
  /** What the limits apply to: the value, or the ratio of the value to the peer's value. */
  of: 'value' | 'ratio'
  atMost?: number
  atLeast?: number
}

/** Series has one number for each run, in the order of the runs. */
export interface Series {
  name: string
  runs: readonly number[]
}

export interface Figure {
  what: string
  unit: Unit
  ours: readonly number[]
  peer: Series | null
  target: Target | null
  /** note has what a reader must know about the figure, or why a peer is missing. */
  note: string
}

type Optional = Partial<Pick<Figure, 'peer' | 'target' | 'note'>>

export function figure(
  { what, unit }: Pick<Figure, 'what' | 'unit'>,
  ours: readonly number[],
  { peer = null, target = null, note = '' }: Optional = {},
): Figure {
  return { what, unit, ours, peer, target, note }
}

export function median(numbers: readonly number[]): number {
  return percentile(numbers, 50)
}

/** percentile interpolates between the two nearest numbers. `rank` is 0 to 100. Throws `RangeError` without numbers. */
export function percentile(numbers: readonly number[], rank: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const place = ((sorted.length - 1) * rank) / 100
  const low = sorted[Math.floor(place)]
  const high = sorted[Math.ceil(place)]
  if (low === undefined || high === undefined) throw new RangeError('there are no numbers')
  return low + (high - low) * (place - Math.floor(place))
}

/** ratioOf returns the median of the ratios of paired runs, so that the host's noise cancels out; null without peer. */
export function ratioOf({ ours, peer }: Figure): number | null {
  if (peer === null) return null
  return median(ours.map((value, run) => value / (peer.runs[run] ?? Number.NaN)))
}

/** isMet returns whether the figure meets its target; null if it has no target, or no peer that the target needs. */
export function isMet(figure: Figure): boolean | null {
  const { target } = figure
  const found = target?.of === 'ratio' ? ratioOf(figure) : median(figure.ours)
  if (target === null || found === null) return null
  const { atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY } = target
  return found <= atMost && found >= atLeast
}
