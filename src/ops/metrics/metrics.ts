// What Prometheus reads: names by its practices (base units, `_total`, absolute timestamps), labels from
// closed sets only, never a feed, a path or a reason. Read when scraped; an idle daemon does nothing for it.

import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Verdict } from '../../feed/port.ts'
import { IN_WORK, STATES, type State } from '../../history/states.ts'
import { isInboxCondition } from '../../lib/conditions.ts'
import { waitingCampaigns } from '../campaign-conditions.ts'
import type { MetricsSource } from '../port.ts'

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE

const OUTCOMES = STATES.filter((state) => !IN_WORK.includes(state))
/** Why a document was refused: the codes of `Verdict`, and `incomplete` each time it was seen so. */
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

/** `startedAt`: wall ms. */
export function createMetrics({ startedAt, version }: { startedAt: number; version: string }) {
  /** Of the scrape that runs. */
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
  /** In seconds, of ms that are read. */
  const seconds = (name: string, help: string, read: () => number | null | undefined) =>
    gauge(`${name}_seconds`, help, () => (read() ?? 0) / 1000)
  /** One gauge a state, read together. */
  const states = (name: string, help: string, read: () => Record<string, number>) =>
    new Gauge({
      ...named(name, help),
      labelNames: ['state'],
      collect() {
        for (const [state, value] of Object.entries(read())) this.set({ state }, value)
      },
    })
  const labelled = (name: string, help: string, label: string, values: readonly string[]) => {
    const counter = new Counter({ ...named(name, help), labelNames: [label] })
    for (const value of values) counter.inc({ [label]: value }, 0)
    return (value: string) => counter.inc({ [label]: value })
  }

  // The library's own set would wake the process a hundred times a second to measure its event loop; these are the
  // ones that dashboards for any process expect.
  seconds('process_start_time', 'When the process began.', () => startedAt)
  gauge('process_resident_memory_bytes', 'Memory in use.', () => process.memoryUsage.rss())
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
  const file = labelled('files_total', 'Versions of feeds by how they ended.', 'outcome', OUTCOMES)
  const broken = 'Documents that did not pass the check, by the rule that they break.'
  const refusal = labelled('validation_errors_total', broken, 'rule', RULES)
  const attempts = 'Attempts to upload by class of the answer.'
  const upload = labelled('uploads_total', attempts, 'code_class', CLASSES)
  const repeated = 'Repeated attempts by class of the answer before.'
  const retry = labelled('retries_total', repeated, 'reason', CLASSES)
  const duration = new Histogram({
    ...named('upload_duration_seconds', 'Time of an attempt.'),
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
  })
  const sent = new Counter(named('upload_bytes_total', 'Bytes of feeds handed to the network.'))
  states('versions', 'Versions in the history by state.', () => source.history.count())
  gauge('queue_files', 'Versions in work.', () => {
    const counts = source.history.count()
    return IN_WORK.reduce((sum, state) => sum + counts[state], 0)
  })
  const oldest = 'When the oldest of them was detected; 0 for none.'
  seconds('queue_oldest_timestamp', oldest, () => source.history.oldest(IN_WORK))
  seconds('last_success_timestamp', 'The last upload; 0 for none.', () =>
    source.history.lastSuccessAt(source.clock.now()),
  )
  const listed = 'The last listing of the folder; 0 for none.'
  seconds('last_scan_timestamp', listed, () => source.daemon().lastScanAt)
  gauge('folder_readable', 'Whether the folder could be listed.', () => {
    const { conditions, lastScanAt } = source.daemon()
    return Number(lastScanAt !== null && !conditions.some(({ code }) => isInboxCondition(code)))
  })
  gauge('active_pauses', 'Pauses of the sending, of all feeds or of one.', () => {
    return source.history.pauses(source.clock.now()).all.length
  })
  gauge('overdue_feeds', 'Feeds whose next version is late.', () => source.overdue().length)
  gauge('campaigns_waiting', 'Campaigns that wait for a person.', () =>
    waitingCampaigns(source.campaigns()),
  )
  const looked = 'The last look at campaigns; 0 for none.'
  seconds('campaigns_last_look_timestamp', looked, () => {
    return Date.parse(source.campaigns()?.at ?? '') || null
  })
  const skew = 'Time of the service minus ours.'
  seconds('service_clock_skew', skew, () => source.daemon().clockSkewMs)
  states('service_state', 'How the service answers: 1 for one state.', () => {
    const now = source.daemon().service
    return Object.fromEntries(SERVICE_STATES.map((state) => [state, Number(state === now)]))
  })

  return {
    /** The text exposition format, with the present values of `source`. */
    text: (present: MetricsSource): Promise<string> => {
      source = present
      return registry.metrics()
    },
    /** A version came to this state, for certain. */
    moved: (state: State) => {
      if (OUTCOMES.includes(state)) file(state)
    },
    checked: (verdict: Verdict) => {
      if (verdict.kind === 'ok') return
      const rule = verdict.kind === 'broken' ? verdict.code : verdict.kind
      refusal(RULES.includes(rule) ? rule : 'other')
    },
    /** One more attempt of a version; `status`: how the one before was answered. */
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
