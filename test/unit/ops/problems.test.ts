// The table of problems: each kind, alone and in pairs, in everything that shows problems.

import { describe, expect, it } from 'vitest'
import { findingOf } from '../../../src/app/doctor.ts'
import { statusLine } from '../../../src/app/status.ts'
import { statusCheck } from '../../../src/cli/status-check.ts'
import { statusText } from '../../../src/cli/status-view.ts'
import type { VersionReads } from '../../../src/history/port.ts'
import { printable } from '../../../src/lib/printable.ts'
import { stepText } from '../../../src/ops/advice.ts'
import { troublesOf } from '../../../src/ops/alerts/changes.ts'
import { alertMessage } from '../../../src/ops/alerts/message.ts'
import { firstLine, type Problem, subjectName } from '../../../src/ops/problem.ts'
import { KINDS, PROBLEM_CODES } from '../../../src/ops/problem-kinds.ts'
import { exitOf, problemReport } from '../../../src/ops/problems.ts'
import type { StatusReport } from '../../../src/ops/report.ts'
import { statusPage } from '../../../src/ops/web/page.ts'
import { whyNotReady } from '../../../src/ops/web/probes.ts'
import { daemonState } from '../../helpers/ops/daemon-state.ts'
import { HISTORY_LOST, joined, ROWS, type Row } from '../../helpers/ops/problem-samples.ts'
import { NOW, statusWith } from '../../helpers/ops/status-report.ts'

const commandLine = (command: string) => `feedsyncd ${command}`
const RANK = { critical: 0, warning: 1, info: 2 } as const
const CHECK = { critical: 2, warning: 1, info: 0 } as const
const TONE = { critical: 'bad', warning: 'warn', info: 'good' } as const
const ICON = { critical: 'c5342b', warning: 'c77800', info: '16703f' } as const

const textOf = (report: StatusReport) =>
  statusText(report, { now: NOW, terminal: false, width: null, commandLine, limit: 50 })

/** pageOf returns the page as a reader sees it: without tags, and with its characters as they are shown. */
function pageOf(report: StatusReport) {
  const history = { lastSuccessAt: () => NOW, postings: () => [] } as unknown as VersionReads
  const markup = statusPage(
    {
      ...{ now: NOW, host: 'ats', commandLine, history, inbox: '/srv/in' },
      ...{ status: () => report, problems: () => report.problems, daemon: () => daemonState() },
      pulse: () => ({ stage: 'running', sinceRoundMs: 5 }) as const,
      ...{ versions: () => [], version: () => null, metrics: async () => '' },
    },
    new URLSearchParams(),
  )
  const words = markup
    .replace(/<style>.*?<\/style>|<script>.*?<\/script>/gs, '')
    .replace(/<[^>]*>/g, '\n')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code))
  return { markup, words }
}

const sentence = (text: string) => text.replace(/^./u, (first) => first.toUpperCase())
const line = (problem: Problem) => printable(firstLine(problem))

function linesOf({ next }: Problem): string[] {
  return next.map((step) => ('says' in step ? step.says : step.command))
}

/** shows compares everything that shows the problems of a report with the rows of the table that the report has. */
function shows(report: StatusReport, rows: readonly Row[]): void {
  const { problems } = report
  const worst = rows.toSorted((a, b) => RANK[a.severity] - RANK[b.severity])[0]?.severity ?? 'info'
  const urgent = problems.filter(({ severity }) => severity !== 'info')
  const critical = problems.filter(({ severity }) => severity === 'critical')

  // Every row is there, with its severity, the worst first.
  const found = problems.map(({ code, severity }) => `${code} ${severity}`)
  expect(found).toEqual(expect.arrayContaining(rows.map((row) => `${row.code} ${row.severity}`)))
  const ranks = problems.map(({ severity }) => RANK[severity])
  expect(ranks).toEqual(ranks.toSorted((a, b) => a - b))

  // JSON
  const json = problems.map(problemReport)
  expect(json.map((one) => Object.keys(one).toSorted())).toEqual(
    problems.map(() => ['code', 'next', 'says', 'severity', 'since', 'subject']),
  )
  for (const step of json.flatMap(({ next }) => next))
    expect(['says', 'command']).toContain(Object.keys(step).join(' '))

  // The first lines of `status`.
  const text = textOf(report)
  const blocks = text.split('\n\n')[0] ?? ''
  for (const problem of problems) {
    const lines = blocks.split('\n')
    const from = lines.findIndex((each) => each.startsWith(`${problem.severity}: ${line(problem)}`))
    expect(from, `${line(problem)} in ${blocks}`).toBeGreaterThanOrEqual(0)
    const next = lines.slice(from + 1, from + 1 + problem.next.length).map((each) => each.trim())
    expect(next).toEqual(linesOf(problem).map(printable))
  }

  // `status --check`
  const check = statusCheck(report, NOW)
  expect(check.code).toBe(CHECK[worst])
  const [first] = urgent
  expect(check.line).toMatch(
    { critical: /^CRITICAL - /, warning: /^WARNING - /, info: /^OK - / }[worst],
  )
  if (first !== undefined) expect(check.line).toContain(line(first).slice(0, 60))

  // The page: heading, title, icon, order, and each card.
  const { markup, words } = pageOf(report)
  expect(markup).toContain(`<h1 class="${TONE[worst]}"`)
  expect(markup).toContain(`fill='%23${ICON[worst]}'/%3E%3C/svg%3E" data-stale`)
  const title = /<title>(.*?) ·/.exec(markup)?.[1] ?? ''
  expect(title).toMatch(worst === 'info' ? /^All well$/ : new RegExp(`^\\(${urgent.length}\\) `))
  const places = problems.map((problem) => {
    const says = words.indexOf(`\n${sentence(problem.says)}\n`)
    expect(says, `${problem.says} in ${words}`).toBeGreaterThanOrEqual(0)
    const name = subjectName(problem.subject)
    if (name !== '') expect(words.slice(0, says)).toContain(name)
    for (const step of linesOf(problem)) expect(words.slice(says)).toContain(step.slice(1))
    return says
  })
  expect(places).toEqual(places.toSorted((a, b) => a - b))

  // Alerts
  const changes = [...troublesOf(problems).values()]
  const events = new Set(rows.flatMap(({ event }) => event ?? []))
  expect(new Set(changes.map(({ event }) => event))).toEqual(
    new Set(problems.flatMap(({ code }) => KINDS[code].event ?? [])),
  )
  for (const event of events) expect(changes.map((change) => change.event)).toContain(event)
  for (const change of changes) {
    const of = problems.find((problem) => change.says?.startsWith(firstLine(problem)))
    expect(of, change.says ?? '').toBeDefined()
    expect(change.severity).toBe(of?.severity)
    expect(change.hint).toBe(of && stepText(of.next))
    const origin = { at: NOW, host: 'ats', page: null, sequence: 0, commandLine }
    expect(alertMessage([change], origin).text).toContain(change.says)
  }

  // /readyz
  const ready = whyNotReady({
    problems: () => problems,
    pulse: () => ({ stage: 'running', sinceRoundMs: 5 }),
    daemon: () => daemonState({ lastScanAt: NOW }),
  })
  expect(ready).toBe(critical.length === 0 ? null : critical.map(line).join('\n'))

  // systemd's status line
  const counts = { settling: 0, incomplete: 0, checking: 0, queued: 0, uploading: 0 }
  const history = { count: () => counts, lastSuccessAt: () => null } as unknown as VersionReads
  const told = statusLine(history, () => problems, { now: NOW, service: 'ok' })
  if (first === undefined) expect(told).toMatch(/^0 waiting/)
  else expect(told.startsWith(firstLine(first))).toBe(true)

  // doctor
  for (const problem of problems.filter(({ subject }) =>
    ['daemon', 'service'].includes(subject.kind),
  )) {
    const { fix, says, verdict } = findingOf(problem)
    expect(says).toBe(firstLine(problem))
    expect(verdict).toBe(problem.severity === 'critical' ? 'problem' : 'warning')
    expect(fix).toBe(stepText(problem.next) ?? 'feedsyncd status')
  }

  // `run --once`: 3 wins, then 4, then 75.
  const exits = new Set(problems.map(({ code }) => KINDS[code].exit))
  expect(exitOf(problems)).toBe([3, 4, 75].find((exit) => exits.has(exit)) ?? 0)
}

describe('each kind of problem', () => {
  it('has a row in this table', () => {
    const rows = ROWS.map(({ code }) => code)

    expect([...rows, 'history-lost'].toSorted()).toEqual(PROBLEM_CODES.toSorted())
  })

  it.each(ROWS)(
    '$code is $severity, exit $exit and alert $event, in everything that shows it',
    (row) => {
      const { code, event, exit, sample, severity } = row
      expect(KINDS[code]).toEqual({ severity, exit, event })

      const report = statusWith(sample)

      expect(report.problems.map((problem) => problem.code)).toEqual([code])
      shows(report, [row])
      expect(exitOf(report.problems)).toBe(exit)
    },
  )

  it('of a lost history leads to each feed first, and to all of them last', () => {
    const { problems } = statusWith(HISTORY_LOST)

    expect(problems.map(({ code }) => code)).toEqual(['held', 'history-lost'])
    expect(problems[0]?.next[0]).toEqual({
      says: 'look at it: 100 postings now, 1,000 in the largest kept copy',
    })
    expect(problems[1]?.next.at(-1)).toEqual({ command: 'feedsyncd release --lost-history' })
  })

  it('keeps its severity, its first line and its next step beside each other kind', () => {
    const pairs = ROWS.flatMap((a, n) => ROWS.slice(n + 1).map((b) => [a, b] as const))
    // A sample says one thing of the service, of the last look and of the daemon's process.
    const possible = pairs.filter(([a, b]) => canBoth(a, b))
    expect(possible.length).toBeGreaterThan(1000)

    for (const [a, b] of possible) {
      const report = statusWith(joined(a.sample, b.sample))
      shows(report, [a, b])
      expect(exitOf(report.problems)).toBe(
        [3, 4, 75].find((exit) => [a.exit, b.exit].includes(exit)) ?? 0,
      )
    }
  })
})

/** canBoth returns whether one report can have both problems. */
function canBoth(a: Row, b: Row): boolean {
  const both = (is: (row: Row) => boolean) => is(a) && is(b)
  const isProcess = ({ code }: Row) =>
    ['daemon-down', 'daemon-stuck', 'listing-late'].includes(code)
  const isOf = (code: string) => (row: Row) => row.code === code
  const pair = (one: string, other: string) =>
    (isOf(one)(a) && isOf(other)(b)) || (isOf(one)(b) && isOf(other)(a))
  return (
    (!both(isProcess) &&
      !both(({ code }) => code.startsWith('service-')) &&
      !both(({ sample }) => sample.campaigns != null && sample.campaigns.state !== 'done') &&
      !pair('campaigns-late', 'daemon-down') &&
      // The time of the last look decides how long an entry has waited.
      !both(({ sample }) => sample.campaigns != null) &&
      // A start that cannot help is not offered, which changes the next step of a stopped daemon.
      !both(
        ({ code, sample }) => code === 'daemon-down' || sample.daemon?.conditions !== undefined,
      )) ||
    both(({ sample }) => sample.daemon?.conditions !== undefined)
  )
}
