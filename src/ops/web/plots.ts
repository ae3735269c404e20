// Plots of a feed's size over time, as SVG without text: the page has the figures beside them. Lines keep their width,
// and dots stay round, at any size of the plot.

import { html, type Markup } from './html.ts'

interface TimedValue {
  /** Wall ms. */
  at: number
  /** Not below 0. */
  value: number
}

export interface Point extends TimedValue {
  /** The tooltip. */
  title: string
  /** `good`, `warn`, `bad` or `dim`. */
  tone: string
}

/** Space at the edges, so that dots there are not cut. */
const MARGIN = 4

/** sparkline draws values as a line as small as a word, from 0 to the largest; null if fewer than two are known. */
export function sparkline(values: readonly (number | null)[]): Markup | null {
  const known = values.filter((value) => value !== null)
  if (known.length < 2) return null
  const points = known.map((value, at) => ({ at, value }))
  const { curve } = place(points, 100, 24)
  return html`<svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">${curve}</svg>`
}

/** plot draws points over time, with a dot for each. Screen readers read `label`. */
export function plot(points: readonly Point[], label: string): Markup {
  const { curve, placed } = place(points, 600, 120)
  const dots = placed.map(
    ({ x, y, title, tone }) =>
      html`<path class="dot ${tone}" d="M${x} ${y}h0"><title>${title}</title></path>`,
  )
  return html`<svg class="plot" viewBox="0 0 600 120" preserveAspectRatio="none" role="img" aria-label="${label}"><path class="grid" d="M0 ${MARGIN}H600M0 60H600M0 ${120 - MARGIN}H600"/>${curve}${dots}</svg>`
}

interface Bar {
  /** Not below 0. */
  value: number
  /** The number of postings that would vanish. It is drawn above the value. */
  lost: number
  /** The tooltip. */
  title: string
}

/** bars draws one bar for each version, the oldest first. Screen readers read `label`. */
export function bars(all: readonly Bar[], label: string): Markup {
  const most = Math.max(...all.map(({ lost, value }) => value + lost), 1)
  const width = Math.min(60, 600 / all.length)
  const drawn = all.map(({ lost, title, value }, n) => {
    const [kept, gone] = [round((value / most) * 116), round((lost / most) * 116)]
    const [x, wide] = [round(n * width + width * 0.15), round(width * 0.7)]
    const above =
      lost === 0
        ? null
        : html`<path class="lost" d="M${x} ${round(120 - kept)}v${-gone}h${wide}v${gone}Z"/>`
    return html`<g><title>${title}</title>${above}<path class="bar" d="M${x} 120v${-kept}h${wide}v${kept}Z"/></g>`
  })
  return html`<svg class="plot" viewBox="0 0 600 120" preserveAspectRatio="none" role="img" aria-label="${label}"><path class="grid" d="M0 120H600"/>${drawn}</svg>`
}

/**
 * paceBar draws the spent part of a budget as a bar, with a line at the passed part of the period. The bar is `warn` if
 * 90 % of the budget, or a larger part of it than of the period, is spent. It is `bad` if the whole budget is spent.
 * Screen readers read `label`.
 */
export function paceBar({
  spent,
  passed,
  label,
}: {
  /** The spent part of the budget, from 0. 1 is the whole budget, and more can be spent. */
  spent: number
  /** From 0 to 1; null if the period has no end. */
  passed: number | null
  label: string
}): Markup {
  const tone =
    spent >= 1 ? 'bad' : spent >= 0.9 || (passed !== null && spent > passed) ? 'warn' : 'good'
  const at = (share: number) => round(Math.min(1, share) * 100)
  const line = passed === null ? null : html`<path class="now" d="M${at(passed)} 0V10"/>`
  return html`<svg class="pace ${tone}" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="${label}"><title>${label}</title><path class="track" d="M0 5H100"/><path class="part" d="M0 5H${at(spent)}"/>${line}</svg>`
}

/** place computes the positions of at least one point, the line through them, and the area below it. */
function place<T extends TimedValue>(points: readonly T[], width: number, height: number) {
  const times = points.map(({ at }) => at)
  const first = Math.min(...times)
  const span = Math.max(...times) - first
  const most = Math.max(...points.map(({ value }) => value), 1)
  const placed = points.map((point) => {
    const x = span === 0 ? width / 2 : MARGIN + ((point.at - first) / span) * (width - 2 * MARGIN)
    const y = height - MARGIN - (point.value / most) * (height - 2 * MARGIN)
    return { ...point, x: round(x), y: round(y) }
  })
  const line = `M${placed.map(({ x, y }) => `${x} ${y}`).join('L')}`
  const area = `${line}V${height - MARGIN}H${placed[0]?.x}Z`
  return { placed, curve: html`<path class="area" d="${area}"/><path class="line" d="${line}"/>` }
}

const round = (value: number) => Number(value.toFixed(1))
