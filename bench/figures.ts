// What a benchmark answers: figures with all their runs, beside the same work done by a peer in the same
// run, and the target (docs/design.md, Numbers). Knows nothing of how they were measured.

/** Empty: a count. */
export type Unit = 'ms' | 's' | 'MB' | 'MB/s' | 'x' | '%' | ''

export interface Target {
  /** What the limit is held against: the value itself, or its ratio to the peer's. */
  of: 'value' | 'ratio'
  atMost?: number
  atLeast?: number
}

/** A series is one number a run, in the order of the runs. */
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
  /** What a reader must know to read it right; also why a peer is missing. */
  note: string
}

type Optional = Partial<Pick<Figure, 'peer' | 'target' | 'note'>>

export function figure(
  what: string,
  unit: Unit,
  ours: readonly number[],
  { peer = null, target = null, note = '' }: Optional = {},
): Figure {
  return { what, unit, ours, peer, target, note }
}

export function median(numbers: readonly number[]): number {
  return percentile(numbers, 50)
}

/** Interpolates between the two nearest; `rank` from 0 to 100. Throws `RangeError` without numbers. */
export function percentile(numbers: readonly number[], rank: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const place = ((sorted.length - 1) * rank) / 100
  const low = sorted[Math.floor(place)]
  const high = sorted[Math.ceil(place)]
  if (low === undefined || high === undefined) throw new RangeError('there are no numbers')
  return low + (high - low) * (place - Math.floor(place))
}

/** The median of the ratios of each run to the peer's run beside it: noise of the host cancels out. */
export function ratioOf({ ours, peer }: Figure): number | null {
  if (peer === null) return null
  return median(ours.map((value, run) => value / (peer.runs[run] ?? Number.NaN)))
}

/** Null: there is no target, or no peer to hold it against. */
export function isMet(figure: Figure): boolean | null {
  const { target } = figure
  const found = target?.of === 'ratio' ? ratioOf(figure) : median(figure.ours)
  if (target === null || found === null) return null
  const { atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY } = target
  return found <= atMost && found >= atLeast
}
