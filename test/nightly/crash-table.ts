// Owns the page of the crash matrix: a table for each story, a row for each durable step, and a column for each moment
// of the kill.

const MOMENTS = ['before', 'half of', 'after'] as const
const HEAD = `# What a crash leaves

This page is for the person on call. It says what becomes of a feed when feedsyncd is killed in the middle of its work.

**What to do:** start feedsyncd again. The start repairs what the kill left, and no feed is lost. If a feed needs a
person afterwards, \`feedsyncd status\` says so, as it would without a crash.

## How to read the tables

Each table is the story of one feed. A row is a step that writes to the disk or opens a connection, in the order in
which the steps begin. The columns say when the process was killed: before, half way through, or after that step. A
cell shows the state of the feed after feedsyncd ran again, with the outcomes of its attempts in parentheses.

| cell | what happened |
| --- | --- |
| uploaded (stored) | One attempt stored the version. |
| uploaded (unknown, stored) | The kill cut off an attempt, which the history records as unknown. The next attempt stored the version. Each further \`unknown\` is another attempt that a kill cut off. |
| uploaded (unknown, stored), stored 2 times | Storage had the file already, but the kill came before the history recorded this. The next attempt stored the same bytes again, under a second key. |
| rejected, held, incomplete, gone | The feed ended as it does without a crash. Nothing was sent of this version. |
| (empty) | This moment does not exist. Only a write can be half done, and a file that exists is not created again. |

In a step, \`*\` stands for characters that differ in each run, and \`(2)\` marks the second step of the same name. A
\`commit\` is one transaction on the history, with a list of its changes.

## What is true in every cell

- Only the newest version of the feed can still need a step.
- Every object in storage is a whole, checked file.
- The history records one stored attempt of a version. Storage has another object of it only after an attempt that the
  history records as unknown.
- The spool holds the copies that the versions name, and no others.
- The vendor's folder holds no temporary file of feedsyncd.
- The database passes its integrity check.

\`npx vitest run test/nightly/crash-matrix.test.ts -u\` writes this page; do not edit it. The test kills
\`feedsyncd run --once\` with SIGKILL and runs it again.
`

export class CrashTable {
  readonly #stories = new Map<string, Map<string, string>>()

  /** parse reads a page that `text` wrote. */
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

  /** record sets the outcome of each point of a story. */
  record(story: string, outcomes: ReadonlyMap<string, string>): void {
    this.#stories.set(story, new Map(outcomes))
  }

  /** outcome returns the outcome of a point, or undefined if the page does not have the point. */
  outcome(story: string, point: string): string | undefined {
    return this.#stories.get(story)?.get(point)
  }

  /** text returns the page with these stories, in this order. */
  text(stories: string[]): string {
    const sections = stories.map((story) => {
      const outcomes = this.#stories.get(story) ?? new Map<string, string>()
      const steps = [...new Set([...outcomes.keys()].map(stepOf))]
      const rows = steps.map((step) => {
        const ends = MOMENTS.map((moment) => outcomes.get(`${moment} ${step}`) ?? '')
        return `| \`${step}\` | ${ends.join(' | ')} |`
      })
      return `\n## ${story}\n\n| step | killed before | killed half way | killed after |\n|---|---|---|---|\n${rows.join('\n')}\n`
    })
    return HEAD + sections.join('')
  }
}

/** inOrder sorts points by the order in which their steps begin, because steps can overlap. */
export function inOrder(points: string[]): string[] {
  const steps = [...new Set(points.map(stepOf))]
  return steps.flatMap((step) =>
    MOMENTS.map((moment) => `${moment} ${step}`).filter((point) => points.includes(point)),
  )
}

function stepOf(point: string): string {
  const moment = MOMENTS.find((each) => point.startsWith(`${each} `)) ?? ''
  return point.slice(moment.length + 1)
}

function cells(row: string): string[] {
  return row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim())
}
