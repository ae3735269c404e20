// The crash matrix as a document: one table a story, one row a durable step, one column for each moment
// at which the process dies.

const MOMENTS = ['before', 'half of', 'after'] as const
const HEAD = `# What a crash leaves

Written by \`npx vitest run test/nightly/crash-matrix.test.ts -u\`; not by hand.

A pass of the daemon (\`run --once\`) is killed with SIGKILL before, half way through, or after each durable
step, and started again. A cell is what its feed has come to then: the state, and how its attempts ended.
Beside that, each cell stands for these facts, which the test checks: no version is owed anything that was
not owed before; every object in the storage is a whole, checked file; a version is stored knowingly once,
and again only after an attempt whose end is \`unknown\` and recorded so; the spool holds what the versions name
and nothing else; the vendor's folder holds nothing of ours; the database passes its integrity check.
`

export class CrashTable {
  readonly #stories = new Map<string, Map<string, string>>()

  /** Reads what \`text\` wrote. */
  static parse(document: string): CrashTable {
    const table = new CrashTable()
    for (const section of document.split('\n## ').slice(1)) {
      const [story = '', ...lines] = section.split('\n')
      const rows = lines.filter((line) => line.startsWith('| `')).map(cells)
      const outcomes = rows.flatMap(([step = '', ...ends]) =>
        MOMENTS.map((moment, n) => [`${moment} ${step.slice(1, -1)}`, ends[n] ?? ''] as const),
      )
      table.#stories.set(story, new Map(outcomes.filter(([, end]) => end !== '')))
    }
    return table
  }

  /** What became of each point of a story, by point. */
  record(story: string, outcomes: ReadonlyMap<string, string>): void {
    this.#stories.set(story, new Map(outcomes))
  }

  outcome(story: string, point: string): string | undefined {
    return this.#stories.get(story)?.get(point)
  }

  /** The document with these stories, in this order. */
  text(stories: string[]): string {
    const sections = stories.map((story) => {
      const outcomes = this.#stories.get(story) ?? new Map<string, string>()
      const steps = [...new Set([...outcomes.keys()].map(stepOf))]
      const rows = steps.map((step) => {
        const ends = MOMENTS.map((moment) => outcomes.get(`${moment} ${step}`) ?? '')
        return `| \`${step}\` | ${ends.join(' | ')} |`
      })
      return `\n## ${story}\n\n| step | killed before | half way | after |\n|---|---|---|---|\n${rows.join('\n')}\n`
    })
    return HEAD + sections.join('')
  }
}

/** Steps may overlap; what counts is which there are, and the order in which they begin. */
export function inOrder(points: string[]): string[] {
  const steps = [...new Set(points.map(stepOf))]
  return steps.flatMap((step) =>
    MOMENTS.map((moment) => `${moment} ${step}`).filter((point) => points.includes(point)),
  )
}

function stepOf(point: string): string {
  const moment = MOMENTS.find((one) => point.startsWith(`${one} `)) ?? ''
  return point.slice(moment.length + 1)
}

function cells(row: string): string[] {
  return row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim())
}
