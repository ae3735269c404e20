// Scenes for the browser: nothing yet, a busy day, everything broken, and several numbers of feeds. The real endpoint
// serves each scene from a real history whose times never change.

import { onTestFinished } from 'vitest'
import { statusOf, versionOf } from '../../../src/app/status.ts'
import type { Config } from '../../../src/config/config.ts'
import type { HeldDifference, History, State, VersionPatch } from '../../../src/history/port.ts'
import { DAY, HOUR, MINUTE, SECOND, systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'
import type { CampaignRun } from '../../../src/ops/campaigns/run.ts'
import type { DaemonState } from '../../../src/ops/port.ts'
import { problems } from '../../../src/ops/problems.ts'
import { openEndpoint } from '../../../src/ops/web/endpoint.ts'
import type { EndpointSource } from '../../../src/ops/web/source.ts'
import { temporaryHistory } from '../../helpers/history/temporary.ts'
import { campaignFinding, campaignRun, campaignSeen } from '../../helpers/ops/campaign-run.ts'
import { daemonState } from '../../helpers/ops/daemon-state.ts'

export const NOW = Date.UTC(2026, 10, 20, 12)

export type SceneName = 'empty' | 'busy' | 'broken' | 'few' | 'some' | 'many'

/** CONFIG is the part of the configuration that the pages need. */
const CONFIG = {
  service: { baseUrl: 'https://api.sponsor.example/api', identity: { account: '123' } },
  campaigns: { file: '/nonexistent/campaigns.yaml', explicit: false },
  state: { directory: '/nonexistent' },
  http: { listen: null },
  inbox: { rescanMs: 30 * SECOND, incompleteAfterMs: 15 * MINUTE },
  feeds: [],
} as unknown as Config

/** serve serves a history until the test ends, and returns the address. */
export async function serve(
  history: History,
  over: Partial<EndpointSource> = {},
  state: DaemonState = daemon(),
): Promise<string> {
  const surroundings = surroundingsOf(state)
  const { clock, commandLine } = surroundings
  const status = over.status ?? (() => statusOf(history, surroundings))
  const source: EndpointSource = {
    pulse: () => ({ stage: 'running', sinceRoundMs: 5 }),
    history,
    daemon: () => state,
    status,
    problems: () => status().problems,
    versions: (feed, limit) => statusOf(history, surroundings, { feed, limit, all: true }).uploads,
    version: (id) => versionOf(history, surroundings, { id }),
    metrics: async () => '',
    ...{ host: 'ats-07.vendor.example', inbox: '/srv/ats/export' },
    commandLine,
    ...over,
  }
  const listen = { kind: 'tcp', host: '127.0.0.1', port: 0 } as const
  const endpoint = await openEndpoint({ listen, source, clock, log: silentLog })
  onTestFinished(() => endpoint[Symbol.asyncDispose]())
  return endpoint.address
}

function surroundingsOf(state: DaemonState) {
  const commandLine = (command: string) => `feedsyncd ${command}`
  const clock = { ...systemClock, now: () => NOW }
  return { clock, commandLine, config: CONFIG, snapshot: { running: true, state } }
}

/** scene serves a scene until the test ends, and returns its address. */
export function scene(name: SceneName): Promise<string> {
  const { history } = temporaryHistory()
  switch (name) {
    case 'empty':
      return serve(history)
    case 'busy':
      history.atomically(() => busy(history))
      return serve(history, withCampaigns(history, RUN))
    case 'broken':
      history.atomically(() => broken(history))
      return serve(history, withCampaigns(history, STOPPED, TROUBLED), TROUBLED)
    case 'few':
    case 'some':
    case 'many': {
      const feeds = { few: 3, some: 40, many: 250 }[name]
      history.atomically(() => troubled(history, feeds))
      return serve(history)
    }
    default:
      return name satisfies never
  }
}

/** withCampaigns returns a status with these campaigns, whose problems include the problems of the campaigns. */
function withCampaigns(
  history: History,
  campaigns: CampaignRun,
  state: DaemonState = daemon(),
): Pick<EndpointSource, 'status'> {
  const surroundings = surroundingsOf(state)
  const { commandLine } = surroundings
  return {
    status: () => {
      const report = statusOf(history, surroundings)
      const versions = [...report.uploads, ...report.owed]
      const judged = { ...report, campaigns, versions }
      return { ...judged, problems: problems(judged, { now: NOW, commandLine }) }
    },
  }
}

const APPLY = 'feedsyncd campaigns apply'

const RUN = campaignRun({
  at: new Date(NOW - 20 * MINUTE).toISOString(),
  entries: [
    campaignSeen({
      ...{ key: 'GEN-26', name: 'General 2026 [#a1b2c3d4e5]', state: 'differs' },
      ...{ changes: ['budget: 2000.00 -> 1500.00  [spends less]'], next: `${APPLY} GEN-26` },
    }),
    campaignSeen({ name: 'Nurses Q1 [#k7m2q9x4c1]', status: 'paused', coverage: null }),
    campaignSeen({
      ...{ key: 'INT-26', campaignId: null, name: null, status: null, coverage: null },
      ...{ state: 'new', next: `${APPLY} INT-26` },
      changes: [
        'budget: none -> 1500.00  [can spend more]',
        'targeting.stateProvCodes: any -> MA, ON  [can spend more]',
      ],
    }),
  ],
  findings: [campaignFinding()],
})

const STOPPED = campaignRun({
  ...{ ...RUN, state: 'unusable' },
  problem:
    '/etc/feedsyncd/campaigns.yaml:14:5 campaigns[3].budget: expected a decimal such as "1500.00"',
  hint: 'correct the file; until then no campaign is written, and feeds are uploaded',
  entries: [
    campaignSeen({
      ...{ state: 'blocked', reason: 'campaign 48211 is gone' },
      next: 'feedsyncd campaigns forget NUR-Q1',
    }),
    campaignSeen({
      ...{ key: 'INT-26', state: 'unknown', reason: 'whether it was created is not known' },
      next: 'wait; if you find the campaign on the service, write its campaignId into the entry INT-26',
    }),
  ],
})

function daemon(over: Partial<DaemonState> = {}): DaemonState {
  return daemonState({
    heartbeatAt: NOW - SECOND,
    ...{ pid: 4711, startedAt: NOW - 12 * DAY - 3 * HOUR, lastScanAt: NOW - 3 * SECOND },
    ...{ clockSkewMs: 40, ...over },
  })
}

const TROUBLED = daemon({
  ...{ service: 'credentials', mode: 'poll', lastScanAt: NOW - 3 * HOUR },
  serviceReason: 'the service refused the credentials with 401: signature does not match',
  modeReason: 'the folder is on nfs4, whose events are lost',
  unfinished: [{ path: 'acme/nightly.xml.part', modifiedAt: NOW - 9 * HOUR }],
  conditions: [
    {
      ...{ code: 'state-full', hint: 'free space on that disk', since: NOW - HOUR, mark: null },
      message: 'the disk of /var/lib/feedsyncd is full: ENOSPC, no space left on device',
    },
  ],
})

interface Story {
  feed: string
  at: number
  steps: [state: State, reason: string | null, hint?: string][]
  patch?: VersionPatch
}

/** addVersion adds one version and leads it through its states, two seconds each. */
export function addVersion(history: History, { feed, at, steps, patch = {} }: Story): number {
  const { id } = history.add({
    ...{ feed, path: feed, account: null, state: 'settling', reason: null, at },
  })
  steps.forEach(([state, sentence, hint = null], n) => {
    const reason = sentence === null ? null : { code: 'test', reason: sentence, hint }
    const then = at + (n + 1) * 2 * SECOND
    if (state === 'uploading') {
      history.move(id, state, { reason, at: then })
      history.startAttempt(id, then, `feeds/${id}`)
      const [next] = steps[n + 1] ?? []
      if (next === undefined) return
      const stored = next === 'uploaded'
      history.endAttempt(id, {
        endedAt: then + 1600,
        ...{ outcome: stored ? 'stored' : 'failed', status: stored ? 204 : 503 },
        ...{ code: stored ? null : 'SlowDown', bytesSent: 300_000, key: `feeds/${id}` },
      })
    } else if (state !== 'settling') history.move(id, state, { reason, at: then })
  })
  history.update(id, patch)
  return id
}

const UPLOADED: Story['steps'] = [
  ['checking', null],
  ['queued', null],
  ['uploading', null],
  ['uploaded', null],
]
const QUEUED_AGAIN: Story['steps'] = [
  ...UPLOADED.slice(0, 3),
  ['queued', 'storage answered 503 SlowDown'],
]

/** fortnight adds two weeks of nightly versions of a feed that grows and shrinks a little. */
function fortnight(history: History, feed: string, postings: number, until = 0): void {
  for (let day = 14; day >= until; day -= 1) {
    const count = Math.round(postings * (1 + 0.18 * Math.sin(day * 0.9 + postings)))
    addVersion(history, {
      ...{ feed, at: NOW - day * DAY - 40 * MINUTE, steps: UPLOADED },
      patch: facts(count, { added: count % 17, removed: count % 11, changed: count % 23 }),
    })
  }
}

function facts(postings: number, changes: VersionPatch['changes'] = null): VersionPatch {
  return {
    ...{ postings, bytes: postings * 1870, changes, encoding: 'UTF-8', root: 'source' },
    ...{ records: '/source/job', requisitionIds: Math.round(postings / 3), etagVerified: true },
    sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    externalCampaignIds: {
      'NUR-Q1': Math.round(postings * 0.6),
      'GEN-26': Math.round(postings * 0.4),
    },
  }
}

/** DIFFERENCE is what the held version of the busy day changes. */
const DIFFERENCE: HeldDifference = (() => {
  const names = ['Boston', 'Leeds', 'São Paulo', 'Łódź', 'Villingen-Schwenningen']
  const group = (values: string[]) => ({
    values: values.map((value, n) => ({ value, added: 0, removed: 400 - 90 * n, isGone: n < 2 })),
    ...{ count: values.length + 7, gone: 2 },
  })
  const named = names.map((city, n) => ({
    ...{ id: `REF-${47_765 + n}`, title: `Registered nurse, night shift, ward ${n}`, city },
    externalCampaignId: n === 3 ? null : 'NUR-Q1',
  }))
  const changed = [{ id: 'REF-1', title: 'Ward clerk', fields: ['title', 'city', 'date', 'url'] }]
  return {
    older: 40,
    summary: {
      totals: { added: 0, removed: 1_209, changed: 1, unchanged: 30 },
      postings: { older: 1_240, newer: 31 },
      by: {
        externalCampaignId: group(['NUR-Q1', 'DRV']),
        state: group(['MA']),
        city: group(names),
      },
      named: { added: [], removed: named, changed },
    },
  }
})()

function busy(history: History): void {
  const names = [
    ...['acme/nightly.xml', 'globex.xml', 'initech.xml', 'umbrella-healthcare.xml'],
    ...['hooli/campus.xml', 'soylent.xml', 'wonka-industries/retail-and-warehouse.xml'],
    ...['stark.xml', 'cyberdyne.xml', 'tyrell.xml', 'wayne-enterprises.xml', 'oscorp.xml'],
  ]
  for (const [n, feed] of names.entries()) fortnight(history, feed, 120 + n * n * 90)
  fortnight(history, 'pied-piper.xml', 1_240)
  const held = addVersion(history, {
    ...{ feed: 'pied-piper.xml', at: NOW - 6 * MINUTE },
    steps: [
      ['checking', null],
      ['held', 'postings fell from 1,240 to 31, by 98 %', 'see whether the export is whole'],
    ],
    patch: facts(31),
  })
  history.keepDifference(held, DIFFERENCE)
  addVersion(history, {
    ...{ feed: 'vandelay.xml', at: NOW - 20 * SECOND, steps: [['checking', null]] },
  })
  addVersion(history, {
    ...{ feed: 'hooli/campus.xml', at: NOW - 90 * SECOND, steps: QUEUED_AGAIN },
    patch: { ...facts(1300), nextAttemptAt: NOW + 42 * SECOND },
  })
}

function broken(history: History): void {
  fortnight(history, 'acme/nightly.xml', 400, 1)
  fortnight(history, 'globex.xml', 900, 1)
  const at = NOW - 50 * MINUTE
  addVersion(history, {
    ...{ feed: 'acme/nightly.xml', at },
    steps: [
      ['checking', null],
      [
        'rejected',
        'line 311, column 14: "&" must be written "&amp;"',
        'correct the export and drop the file again',
      ],
    ],
    patch: { bytes: 702_331 },
  })
  addVersion(history, {
    ...{ feed: 'globex.xml', at: at + MINUTE },
    steps: [
      ['checking', null],
      ['held', 'postings fell from 912 to 12, by 99 %', 'see whether the export is whole'],
    ],
    patch: facts(12, { added: 0, removed: 900, changed: 2 }),
  })
  addVersion(history, {
    ...{ feed: 'initech.xml', at: at + 2 * MINUTE },
    steps: [
      ...UPLOADED.slice(0, 3),
      [
        'failed',
        'the service knows no partner account "initech"',
        'correct feeds[].partnerAccount',
      ],
    ],
    patch: { ...facts(77), warnings: ['3 postings have no id'] },
  })
  addVersion(history, {
    ...{ feed: 'umbrella-healthcare.xml', at: at + 3 * MINUTE },
    steps: [
      ['checking', null],
      [
        'incomplete',
        'line 9021, column 1: the document ends before </source>',
        'wait for its writer; if the export has ended, run it again',
      ],
    ],
    patch: { incompleteSince: NOW - 11 * MINUTE },
  })
  addVersion(history, {
    ...{ feed: 'soylent.xml', at: at + 4 * MINUTE, steps: QUEUED_AGAIN },
    patch: facts(410),
  })
}

/** troubled adds feeds: a tenth is rejected for the same reason, a tenth held for different reasons, a tenth queued. */
function troubled(history: History, feeds: number): void {
  for (let n = 0; n < feeds; n++) {
    const feed = `customers/north-west-region-${String(n).padStart(3, '0')}/jobs-export-full.xml`
    const at = NOW - 20 * MINUTE - n * SECOND
    const steps: Story['steps'] =
      n % 10 === 1
        ? [
            ['checking', null],
            ['rejected', 'line 311, column 14: "&" must be written "&amp;"'],
          ]
        : n % 10 === 2
          ? [
              ['checking', null],
              ['held', `postings fell from ${1000 + n} to ${n}, by 99 %`],
            ]
          : n % 10 === 3
            ? QUEUED_AGAIN
            : UPLOADED
    addVersion(history, { feed, at, steps, patch: facts(1000 + n) })
  }
}
