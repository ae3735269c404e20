// Turns figures into the table on stdout, the page docs/performance.md, and JSON for comparisons over time.

import { type Figure, isMet, median, ratioOf, type Target, type Unit } from './figures.ts'
import { SHAPES } from './generator.ts'

export interface Result {
  name: string
  title: string
  figures: Figure[]
}

const COLUMNS = ['what', 'value', 'range', 'peer', 'ratio', 'target', '', 'note'] as const

export function tableOf(results: readonly Result[]): string {
  const rows = [[...COLUMNS], ...results.flatMap(({ figures }) => figures.map(cellsOf))]
  const widths = COLUMNS.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/**
 * pageOf returns the page in Markdown. `facts` are about the machine, `runs` is the number of runs of each figure, and
 * `reasons` is Markdown about the missed targets.
 */
export function pageOf(
  results: readonly Result[],
  { facts, runs, reasons }: { facts: Record<string, string>; runs: number; reasons: string },
): string {
  const factLines = Object.entries(facts).map(([name, fact]) => `- ${name}: ${fact}`)
  const sections = results.map(({ title, figures }) => sectionOf(title, figures.map(cellsOf)))
  return `# Performance

${digestOf(results)}

The rest of this page is for engineers. \`npm run bench -- --docs\` writes it, so do not edit it. Each figure is the median
of ${runs} runs. Each run stands beside a run of its peer on the same data, and a ratio is the median of the ratios of these
pairs. Compare ratios: seconds depend on the machine. In a table with a column for each shape of feed, the ratio to the peer
follows the figure.

${factLines.join('\n')}

${sections.join('\n\n')}

${reasons}`
}

/** sectionOf returns a section of the page. Figures of all shapes of feeds get a table with a column for each shape. */
function sectionOf(title: string, rows: readonly string[][]): string {
  const shapes = Object.keys(SHAPES)
  const shapeOf = ([what = '']: readonly string[]) => what.split(', ').find(isShape)
  const shaped = Map.groupBy(
    rows.filter((row) => shapeOf(row) !== undefined),
    (row) => (row[0] ?? '').replace(`, ${shapeOf(row)}`, ''),
  )
  const inShapes = [...shaped].map(([what, group]) => {
    const [, , , , , target = ''] = group[0] ?? []
    const cells = shapes.map((shape) => cellOf(group.find((row) => shapeOf(row) === shape)))
    return [what, ...cells, target]
  })
  const others = rows.filter((row) => shapeOf(row) === undefined)
  const tables = [
    ...(shaped.size > 0 ? [markdownTable(['what', ...shapes, 'target'], inShapes)] : []),
    ...(others.length > 0 ? [markdownTable(COLUMNS, others)] : []),
  ]
  return [`## ${title}`, ...tables].join('\n\n')
}

const isShape = (word: string): boolean => word in SHAPES

/** cellOf shortens a row to one cell: the figure, the ratio to the peer, and whether the target was missed. */
function cellOf(row: readonly string[] | undefined): string {
  const [, value = '', , , ratio = '', , met] = row ?? []
  return [value, ratio && `(${ratio} x)`, met === 'missed' && '**missed**']
    .filter(Boolean)
    .join(' ')
}

function markdownTable(head: readonly string[], rows: readonly string[][]): string {
  return [head, head.map(() => '---'), ...rows].map(markdownRow).join('\n')
}

/** digestOf returns what a reader asks first: how much time and memory a feed of each size needs, over all shapes. */
function digestOf(results: readonly Result[]): string {
  const figures = results.flatMap((result) => result.figures)
  const sizes = figures.flatMap(({ what }) => /^drop to stored, ([^,]+)/.exec(what)?.[1] ?? [])
  const rows = [...new Set(sizes)].map((size) => {
    const of = (what: string) => figures.filter((each) => each.what.startsWith(`${what}, ${size},`))
    const stored = of('drop to stored')
    const ratios = stored.flatMap((each) => ratioOf(each) ?? [])
    return [
      size,
      spread(
        stored.map(({ ours }) => median(ours)),
        's',
      ),
      spread(
        of('first feed after a start').map(({ ours }) => median(ours)),
        's',
      ),
      ratios.length === 0 ? '' : spread(ratios, 'x'),
      spread(
        of('peak memory of the daemon').map(({ ours }) => median(ours)),
        'MB',
      ),
    ]
  })
  const head = ['feed', 'takes', 'the first one after a start', 'beside a shell script', 'memory']
  return `How long does my feed take, and how much memory? The time is from the drop until storage has confirmed the feed. The quiet
period comes on top. The range is over seven shapes of feeds. The script does the same work with \`cp\`, \`xmllint\`,
\`sha256sum\` and \`curl\`.

${markdownTable(head, rows)}`
}

function spread(values: readonly number[], unit: string): string {
  const [low, high] = [digits(Math.min(...values)), digits(Math.max(...values))]
  return low === high ? `${low} ${unit}` : `${low} to ${high} ${unit}`
}

export function jsonOf(results: readonly Result[], facts: Record<string, string>): string {
  const benchmarks = results.map(({ name, figures }) => ({
    name,
    figures: figures.map((figure) => ({
      ...figure,
      median: median(figure.ours),
      ratio: ratioOf(figure),
      met: isMet(figure),
    })),
  }))
  return `${JSON.stringify({ schemaVersion: 1, facts, benchmarks }, null, 2)}\n`
}

function cellsOf(figure: Figure): string[] {
  const { what, unit, ours, peer, target, note } = figure
  const ratio = ratioOf(figure)
  const met = isMet(figure)
  return [
    what,
    written(median(ours), unit),
    ours.length > 1 ? `${digits(Math.min(...ours))} to ${digits(Math.max(...ours))}` : '',
    peer === null ? '' : `${written(median(peer.runs), unit)} (${peer.name})`,
    ratio === null ? '' : ratio.toFixed(2),
    target === null ? '' : limitOf(target, unit),
    met === null ? '' : met ? 'ok' : 'missed',
    note,
  ]
}

function limitOf({ of, atMost, atLeast }: Target, unit: string): string {
  const scale = of === 'ratio' ? 'x' : unit
  return (
    atMost === undefined ? `at least ${atLeast} ${scale}` : `at most ${atMost} ${scale}`
  ).trim()
}

function written(value: number, unit: Unit): string {
  return unit === '' ? String(value) : `${digits(value)} ${unit}`
}

const markdownRow = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
