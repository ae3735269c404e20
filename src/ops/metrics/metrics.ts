// The metrics for Prometheus. Names follow its practices: base units, `_total`, absolute timestamps. Labels come from
// closed sets and never hold a feed, a path or a reason. Gauges are read at each scrape: an idle daemon does no work.

import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { isInboxCondition } from '../../domain/conditions.ts'
import { IN_WORK, STATES, type State } from '../../domain/states.ts'
import type { Verdict } from '../../feed/port.ts'
import { campaignsInTrouble } from '../campaigns/problems.ts'
import type { MetricsSource } from '../port.ts'
import { KINDS, PROBLEM_CODES } from '../problem-kinds.ts'

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE

const OUTCOMES = STATES.filter((state) => !IN_WORK.includes(state))
/**
 * RULES are the values of the label `rule`: the codes of a document that is broken, `incomplete` for a document that
 * ends early, and `other` for a code that is not in this list.
 */
export const RULES = [
  'not-well-formed',
  'several-roots',
  'undefined-entity',
  'doctype-refused',
  'undecodable',
  'too-deep',
  'too-many-attributes',
  'name-too-long',
  'attribute-too-long',
  'tag-too-long',
  'text-too-long',
  'gzip',
  'gzip-corrupt',
  'gzip-too-large',
  'bzip2',
  'xz',
  'zstd',
  'zip',
  '7z',
  'pdf',
  'html',
  'json',
  'incomplete',
  'other',
]
const CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const
const SERVICE_STATES = ['ok', 'degraded', 'down', 'credentials', 'unknown'] as const

/** createMetrics registers all metrics. `startedAt` is in wall ms. */
export function createMetrics({ startedAt, version }: { startedAt: number; version: string }) {
  /** The source of the running scrape. */
  let source: MetricsSource
  const registry = new Registry()
  const named = (name: string, help: string) => ({
    name: name.startsWith('process_') ? name : `feedsyncd_${name}`,
    help,
    registers: [registry],
  })
  const gauge = (name: string, help: string, read: () => number | null | undefined) =>
    new Gauge({
      ...named(name, help),
      collect() {
        this.set(read() ?? 0)
      },
    })
  /** A gauge in seconds; `read` returns ms. */
  const seconds = (name: string, help: string, read: () => number | null | undefined) =>
    gauge(`${name}_seconds`, help, () => (read() ?? 0) / 1000)
  /** A gauge with one sample for each state. */
  const states = (name: string, help: string, read: () => Record<string, number>) =>
    new Gauge({
      ...named(name, help),
      labelNames: ['state'],
      collect() {
        for (const [state, value] of Object.entries(read())) this.set({ state }, value)
      },
    })
  /** A counter with one sample for each value of the label. The function that it returns counts one more of a value. */
  const labelled = (
    name: string,
    help: string,
    { label, values }: { label: string; values: readonly string[] },
  ) => {
    const counter = new Counter({ ...named(name, help), labelNames: [label] })
    for (const value of values) counter.inc({ [label]: value }, 0)
    return (value: string) => counter.inc({ [label]: value })
  }

  // Dashboards expect the next three metrics of any process. The library's own set would wake the process a hundred
  // times a second to measure the event loop.
  seconds('process_start_time', 'Start time of the process.', () => startedAt)
  gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  new Counter({
    ...named('process_cpu_seconds_total', 'Processor time used.'),
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  new Gauge({
    ...named('build_info', 'The program and its runtime; always 1.'),
    labelNames: ['version', 'node'],
  }).set({ version, node: process.versions.node }, 1)
  const file = labelled('files_total', 'Versions of feeds by outcome.', {
    label: 'outcome',
    values: OUTCOMES,
  })
  const broken = 'Documents that did not pass the check, by the rule that they break.'
  const refusal = labelled('validation_errors_total', broken, { label: 'rule', values: RULES })
  const attempts = 'Upload attempts by class of the answer.'
  const upload = labelled('uploads_total', attempts, { label: 'code_class', values: CLASSES })
  const repeated = 'Repeated attempts by class of the previous answer.'
  const retry = labelled('retries_total', repeated, { label: 'reason', values: CLASSES })
  const duration = new Histogram({
    ...named('upload_duration_seconds', 'Duration of an attempt.'),
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
  })
  const sent = new Counter(named('upload_bytes_total', 'Bytes of feeds handed to the network.'))
  states('versions', 'Versions in the history by state.', () => source.history.count())
  gauge('queue_files', 'Versions in work.', () => {
    const counts = source.history.count()
    return IN_WORK.reduce((sum, state) => sum + counts[state], 0)
  })
  const oldest = 'When the oldest version in work was detected; 0 if there is none.'
  seconds('queue_oldest_timestamp', oldest, () => source.history.oldest(IN_WORK))
  seconds('last_success_timestamp', 'Time of the last upload; 0 if there is none.', () =>
    source.history.lastSuccessAt(source.clock.now()),
  )
  const listed = 'Time of the last listing of the folder; 0 if there is none.'
  seconds('last_scan_timestamp', listed, () => source.daemon().lastScanAt)
  gauge('folder_readable', 'Whether the folder can be listed: 1 or 0.', () => {
    const { conditions, lastScanAt } = source.daemon()
    return Number(lastScanAt !== null && !conditions.some(({ code }) => isInboxCondition(code)))
  })
  gauge('active_pauses', 'Pauses in force, of all feeds or of one.', () => {
    return source.history.pauses(source.clock.now()).all.length
  })
  gauge('overdue_feeds', 'Feeds whose next version is late.', () => {
    return source.problems().filter(({ code }) => code === 'overdue').length
  })
  new Gauge({
    ...named('problems', 'What is wrong or waits for a person, as status shows it.'),
    labelNames: ['code', 'severity'],
    collect() {
      const counts = Map.groupBy(source.problems(), ({ code }) => code)
      for (const code of PROBLEM_CODES) {
        const { severity } = KINDS[code]
        this.set({ code, severity }, counts.get(code)?.length ?? 0)
      }
    },
  })
  gauge('campaigns_waiting', 'Campaigns that wait for a person.', () =>
    campaignsInTrouble(source.problems()),
  )
  const looked = 'Time of the last look at campaigns; 0 if there is none.'
  seconds('campaigns_last_look_timestamp', looked, () => {
    return Date.parse(source.campaigns()?.at ?? '') || null
  })
  const skew = 'Clock of the service minus the clock of this host.'
  seconds('service_clock_skew', skew, () => source.daemon().clockSkewMs)
  states(
    'service_state',
    'State of the service: 1 for the current state, 0 for the others.',
    () => {
      const now = source.daemon().service
      return Object.fromEntries(SERVICE_STATES.map((state) => [state, Number(state === now)]))
    },
  )

  return {
    /** text returns the text exposition format with the current values of the source. */
    text: (current: MetricsSource): Promise<string> => {
      source = current
      return registry.metrics()
    },
    /** moved counts a version whose new state is committed, if the state is an outcome. */
    moved: (state: State) => {
      if (OUTCOMES.includes(state)) file(state)
    },
    /** checked counts a document that did not pass its check, by the rule that it breaks. */
    checked: (verdict: Verdict) => {
      if (verdict.kind === 'ok') return
      const rule = verdict.kind === 'broken' ? verdict.code : verdict.kind
      refusal(RULES.includes(rule) ? rule : 'other')
    },
    /** retried counts a repeated attempt by the answer to the previous attempt; `status` is null without an answer. */
    retried: (status: number | null) => retry(classOf(status)),
    attemptEnded: ({
      bytesSent,
      ms,
      status,
    }: {
      status: number | null
      bytesSent: number
      ms: number
    }) => {
      upload(classOf(status))
      sent.inc(bytesSent)
      duration.observe(ms / 1000)
    },
  }
}

function classOf(status: number | null): (typeof CLASSES)[number] {
  const name = `${Math.floor((status ?? 0) / 100)}xx`
  return CLASSES.find((known) => known === name) ?? 'none'
}
