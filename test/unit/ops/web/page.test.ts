import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Pulse } from '../../../../src/ops/port.ts'
import { conditionReport } from '../../../../src/ops/report.ts'
import type { ShowReport, UploadReport } from '../../../../src/ops/upload-report.ts'
import { feedPage, versionPage } from '../../../../src/ops/web/feed-pages.ts'
import { statusPage } from '../../../../src/ops/web/page.ts'
import type { PageContext } from '../../../../src/ops/web/page-parts.ts'
import type { EndpointSource } from '../../../../src/ops/web/source.ts'
import { anyCharacter } from '../../../helpers/any-character.ts'
import { conditionOf } from '../../../helpers/condition.ts'
import {
  campaignFinding,
  campaignRun,
  campaignSeen,
  coverage,
} from '../../../helpers/ops/campaign-run.ts'
import { daemonState } from '../../../helpers/ops/daemon-state.ts'
import { reportOf } from '../../../helpers/ops/samples.ts'
import { at, NOW, statusWith } from '../../../helpers/ops/status-report.ts'

const PULSE: Pulse = { stage: 'running', sinceRoundMs: 5 }
const CONTEXT: PageContext = {
  now: NOW,
  host: 'ats',
  commandLine: (command) => `feedsyncd ${command}`,
}

const NO_REASON = { reason: null, reasonCode: null, line: null, column: null }

const upload = (over: Partial<UploadReport> = {}): UploadReport => ({ ...reportOf(), ...over })

function version(over: Partial<ShowReport> = {}): ShowReport {
  return {
    ...{
      ...upload(),
      md5: null,
      account: null,
      sha256: null,
      encoding: null,
      root: null,
      records: null,
    },
    ...{ requisitionIds: null, externalCampaignIds: null, fileUrl: null, etagVerified: null },
    ...{ attempts: [], events: [], earlierEvents: 0, earlierAttempts: 0, ...over },
  }
}

type Over = NonNullable<Parameters<typeof statusWith>[0]>

function page(over: Over, asked: Record<string, string> = {}) {
  const history = { lastSuccessAt: () => NOW, postings: () => [null, 38, 40] }
  const report = statusWith({ uploads: [upload()], ...over })
  const source = {
    ...{
      ...CONTEXT,
      history: history as unknown as EndpointSource['history'],
      inbox: '/srv/export',
    },
    ...{ pulse: () => PULSE, status: () => report, versions: () => [], version: () => null },
    problems: () => report.problems,
    metrics: async () => '',
    daemon: () => daemonState(),
  }
  return statusPage(source, new URLSearchParams(asked))
}

/** Every tag as a browser would find it, without the attributes that hold names: addresses, keys, titles. */
const tags = (markup: string) =>
  markup.match(/<[^>]*>/g)?.map((tag) => {
    return tag.replace(/(href="\/feed\?name=|(?:data-key|title|value)=")[^"]*"/g, '$1"')
  })

describe('the status page', () => {
  it('says at once that nothing needs a person, and shows every feed', () => {
    const shown = page({ uploads: [upload(), upload({ feed: 'globex' })] })

    expect(shown).toContain('Nothing needs attention')
    expect(shown).not.toContain('<h2>Needs attention')
    expect(shown).toContain('<bdi>acme</bdi>')
    expect(shown).toContain('<bdi>globex</bdi>')
  })

  it('shows first what needs a person, with the reason and the commands that decide', () => {
    const held = upload({ id: 9, feed: 'globex', state: 'held', reason: '40 -> 2 postings' })

    const shown = page({ uploads: [upload(), held] })

    expect(shown).toContain('1 feed needs attention')
    expect(shown).toContain('40 -&#62; 2 postings')
    expect(shown).toContain(
      '<code>feedsyncd show 9</code></li><li><code>feedsyncd release 9</code></li><li><code>feedsyncd discard 9</code>',
    )
    expect(shown.indexOf('40 -&#62; 2')).toBeLessThan(shown.indexOf('<h2>Feeds'))
  })

  it('shows in the card of a held feed which version is on the service', () => {
    const onService = { id: 8, postings: 40, uploadedAt: '2026-11-20T10:57:00.000Z' }
    const held = upload({ id: 9, state: 'held', onService })

    const shown = page({ uploads: [held] })
    const first = page({ uploads: [{ ...held, onService: null }] })

    expect(shown).toContain('On the service: version 8, 40 postings, since 10:57 UTC')
    expect(first).toContain('On the service: no version of this feed')
  })

  it('shows older versions that need a person, and late feeds', () => {
    const failed = upload({ id: 3, state: 'failed', reason: 'no such account' })
    const late = upload({ feed: 'globex', overdue: true, expectedBy: '2026-11-20T09:00:00.000Z' })

    const shown = page({ uploads: [late], owed: [failed] })

    expect(shown).toContain('2 feeds need attention')
    expect(shown).toContain('Failed: no such account')
    expect(shown).toContain('Overdue: its next version was expected by 09:00 UTC')
  })

  it('begins with what stops the whole daemon, in the heading, the title and the icon, and shows other problems', () => {
    const condition = conditionReport(conditionOf('the disk is full'))
    const service = { state: 'down', reason: 'no answer', since: at(4) } as const
    const shown = page({ service, daemon: { conditions: [condition] } })

    expect(shown).toContain('<h1 class="bad" aria-live="polite">The disk is full</h1>')
    expect(shown).toContain('<title>(2) The disk is full ·')
    expect(shown).toContain('The service is down since 11:56 UTC: no answer')
    expect(shown).toMatch(/<link rel="icon" href="[^"]*c5342b/)
  })

  it('counts a pause of all feeds as a problem, in amber, and shows the command that ends the pause', () => {
    const shown = page({ paused: { by: 'maria', since: at(30), until: null } })

    expect(shown).toContain('<h1 class="warn" aria-live="polite">Nothing is sent: paused by maria')
    expect(shown).toContain('<title>(1) Nothing is sent: paused by maria ·')
    expect(shown).toContain('<code>feedsyncd resume</code>')
  })

  it('says that other hosts can reach it, and does not count this as a problem', () => {
    const shown = page({ daemon: { exposedAt: 'http://0.0.0.0:9464' } })

    expect(shown).toContain('The page at http://0.0.0.0:9464 is open to other hosts')
    expect(shown).toContain('<title>All well ·')
  })

  it('shows equal problems in one card, with every name and with the first 30 ids in one command', () => {
    const uploads = Array.from({ length: 250 }, (_, n) =>
      upload({ id: n + 1, feed: `f${n}.xml`, state: 'held', reason: '40 -> 2 postings' }),
    )

    const shown = page({ uploads })

    expect(shown).toContain('250 feeds need attention')
    expect(shown.match(/<li class="card warn"/g)).toHaveLength(1)
    const card = shown.slice(shown.indexOf('<li class="card warn"'), shown.indexOf('<h2>Feeds'))
    expect(card.match(/<bdi>f\d+\.xml<\/bdi>/g)).toHaveLength(250)
    expect(shown).toContain('<summary>247 more</summary>')
    expect(shown).toMatch(/<code>feedsyncd release 1 2 3 .* 30<\/code>/)
    expect(shown).toContain('220 more follow when these are decided')
  })

  it('shows each skipped path with its reason, its time, and what to do', () => {
    const words = { reason: 'it is a fifo', hint: 'put a file in its place' }
    const shown = page({ skipped: [{ path: 'pipe.xml', ...words, since: '2026-11-20T11:00:00Z' }] })

    expect(shown).toContain('1 file needs attention</h1>')
    for (const text of [
      '<bdi>pipe.xml</bdi>',
      'Skipped: it is a fifo',
      'Put a file in its place',
      '1h ago',
    ])
      expect(shown).toContain(text)
  })

  it('shows campaigns that need a person at the top, each with its next step', () => {
    const next = 'feedsyncd campaigns forget NUR-Q1'
    const entries = [campaignSeen({ state: 'blocked', reason: 'it is gone', next })]

    const shown = page({ campaigns: campaignRun({ entries, findings: [campaignFinding()] }) })

    const top = shown.slice(0, shown.indexOf('<h2>Feeds'))
    expect(top).toContain('2 campaigns need attention')
    expect(top).toContain('Blocked: it is gone')
    expect(top).toContain(`<code>${next}</code>`)
    expect(top).toContain('Write campaignId: &#34;48213&#34; into an entry')
  })

  it('counts the campaigns in each state and those in need of attention, or says that there is no campaigns file', () => {
    const blocked = campaignSeen({ state: 'blocked', reason: 'it is gone', next: null })
    const waiting = page({
      campaigns: campaignRun({ entries: [blocked], findings: [campaignFinding()] }),
    })
    const well = page({ campaigns: campaignRun({ entries: [campaignSeen()] }) })
    const off = page({ campaigns: null })

    expect(waiting).toContain('<span class="state warn">1 blocked, 2 need attention</span>')
    expect(well).toContain('<span class="state good">1 in line</span>')
    expect(off).toContain('there is a campaigns file')
  })

  const PACE = '21 % of the budget is spent, and 32 % of the period has passed'

  it('lists every entry with its numbers, differences and next step, then the sums, then the findings', () => {
    const next = 'feedsyncd campaigns apply NUR-Q1'
    const update = 'feedsyncd campaigns update 48213 --status paused'
    const changes = ['budget: 1500.00 -> 2000.00  [can spend more]', 'endDate: none -> 2027-03-31']
    const none = { campaignId: null, name: null, status: null, coverage: null }
    const shown = page({
      campaigns: campaignRun({
        entries: [
          campaignSeen({ state: 'differs', changes, next }),
          campaignSeen({
            key: 'GEN-26',
            name: null,
            coverage: coverage({ covered: 1200, isMonthly: true }),
          }),
          campaignSeen({ ...none, key: 'INT-26', state: 'unknown', reason: 'it may be there' }),
        ],
        findings: [campaignFinding({ severity: 'info', next: `end it: ${update}` })],
      }),
    })

    const tables = shown.slice(shown.indexOf('aria-label="Campaigns"'))
    const rows = [...tables.matchAll(/<tr data-key="(?:managed|finding) .*?">(.*?)<\/tr>/gs)]
    const words = rows.map(([, cells = '']) =>
      cells
        .replace(/<[^>]*>/g, ' ')
        .split(/\s+/)
        .join(' '),
    )
    expect(words.map((row) => row.trim())).toEqual([
      `Nurses Q1 NUR-Q1 40 (40) 320.10 1,179.90 1,500.00 ends in 42 days ${PACE} differs ${changes.join(' ').replaceAll('>', '&#62;').replace(/ +/g, ' ')} ${next}`,
      `GEN-26 1,200 (40) 320.10 1,179.90 1,500.00 a month ends in 42 days ${PACE} in line`,
      'INT-26 – – – – unknown It may be there',
      'All 3 1,240 (80) 640.20 2,359.80 3,000.00',
      `48213 Campaign 48213 (Interns) runs without an entry, and can spend up to 900.00 End it ${update}`,
    ])
  })

  it('stays short with 5,000 feeds, has a page for each of them, and finds a feed by a part of its name', () => {
    const uploads = Array.from({ length: 5000 }, (_, n) => upload({ id: n, feed: `feed ${n}` }))

    const first = page({ uploads })
    const last = page({ uploads }, { page: '417' })
    const found = page({ uploads }, { find: 'EED 4321' })

    expect(first).toContain('Page 1 of 417')
    expect(first.length).toBeLessThan(150_000)
    expect(last).toContain('<bdi>feed 4999</bdi>')
    expect(found.match(/<tr data-key/g)).toHaveLength(1)
    expect(found).toContain('<bdi>feed 4321</bdi>')
  })

  it('shows only the feeds in the state that a person chose, or says that no feed matches', () => {
    const uploads = [upload(), upload({ id: 2, feed: 'globex', state: 'failed' })]
    const rowsOf = (shown: string) => shown.match(/<tr data-key="feed [^"]*"/g)

    expect(rowsOf(page({ uploads }, { state: 'uploaded' }))).toEqual(['<tr data-key="feed acme"'])
    expect(page({ uploads }, { state: 'held' })).toContain('No feed matches.')
  })

  it('loads nothing from elsewhere, has no control that changes anything, and links only to its own pages', () => {
    const shown = page({})

    expect(shown).not.toMatch(
      /<(form|button|input|img|iframe|object)\b|src=|https?:\/\/(?!api|www\.w3\.org\/2000\/svg)/,
    )
    expect(shown.match(/href="(?!data:)[^"]*"/g)).toEqual([
      ...['href="/"', 'href="/feed?name=acme"', 'href="/api/status"', 'href="/metrics"'],
    ])
  })
})

describe('a feed’s page', () => {
  it('shows its versions, and plots of postings and size over time', () => {
    const earlier = { id: 2, postings: 40, detectedAt: '2026-11-19T11:59:00.000Z' }
    const newest = upload({ id: 3, postings: 20 })
    const versions = [newest, upload(earlier), upload({ id: 1, postings: null, bytes: null })]

    const shown = feedPage({ newest, versions, most: 60 }, CONTEXT)

    expect(shown.match(/class="dot good"/g)).toHaveLength(4)
    expect(shown).toContain('lowest 20, highest 40')
    expect(shown.match(/<a href="\/version\?id=\d">\d</g)).toHaveLength(3)
  })
})

describe('the page of a feed whose files have dates in their names', () => {
  it('lists its files, and the status page shows their number', () => {
    const files = { count: 12, paths: ['jobs-20261122.xml', 'jobs-20261121.xml'] }
    const dated = upload({ feed: 'jobs-{date}.xml', files })

    const shown = feedPage({ newest: dated, versions: [dated], most: 60 }, CONTEXT)

    expect(shown).toContain('<li><bdi>jobs-20261121.xml</bdi></li><li class="dim">10 more</li>')
    expect(page({ uploads: [dated] })).toContain('<small class="dim">12 files</small>')
  })
})

describe('a version’s page', () => {
  it('shows its content, its events, and each attempt with its answer and duration', () => {
    const shown = versionPage(
      version({
        externalCampaignIds: { 'NUR-Q1': 12 },
        attempts: [
          {
            ...{ n: 1, startedAt: '2026-11-20T11:59:00.000Z', endedAt: '2026-11-20T11:59:02.500Z' },
            ...{ outcome: 'failed', status: 503, code: 'SlowDown', bytesSent: 2048, key: null },
          },
        ],
        events: [
          { at: '2026-11-20T11:58:00.000Z', from: null, to: 'settling', ...NO_REASON },
          {
            at: '2026-11-20T11:59:02.500Z',
            from: 'uploading',
            to: 'queued',
            ...NO_REASON,
            reason: 'slow down',
          },
        ],
      }),
      CONTEXT,
    )

    expect(shown).toContain('<bdi>NUR-Q1</bdi> <span class="dim">12</span>')
    expect(shown).toContain('503 SlowDown')
    expect(shown).toContain('<td class="n">3s</td>')
    expect(shown).toMatch(/after 1m 3s[\s\S]*Slow down/)
  })
})

/** differenceOf returns a difference in which `text` is every name and every value. */
function differenceOf(text: string): NonNullable<ShowReport['difference']> {
  const group = {
    values: [{ value: text, added: 0, removed: 30, isGone: true }],
    ...{ count: 12, gone: 1 },
  }
  const posting = { id: text, title: text, city: null, externalCampaignId: text }
  return {
    older: 4,
    summary: {
      totals: { added: 0, removed: 30, changed: 2, unchanged: 8 },
      postings: { older: 40, newer: 10 },
      by: { externalCampaignId: group, state: group, city: group },
      named: {
        ...{ added: [], removed: [posting] },
        changed: [{ id: text, title: text, fields: [text] }],
      },
    },
  }
}

describe('the page of a held version', () => {
  const held = (over: Partial<ShowReport> = {}) =>
    version({ id: 5, state: 'held', postings: 10, difference: differenceOf('NUR-Q1'), ...over })

  it('shows what it changes, in all, by campaign, and the first postings of each kind', () => {
    const shown = versionPage(held(), CONTEXT)

    expect(shown).toContain('<dt>Removed</dt><dd>30 of 40 postings')
    expect(shown).toContain('<bdi>NUR-Q1</bdi> <span class="dim">30, all</span>')
    expect(shown).toContain('Removed <span class="dim">the first 1 of 30</span>')
    expect(shown).toContain('<td>NUR-Q1</td>')
  })

  it('draws a bar for each earlier version and itself, and above its own bar the postings that would vanish', () => {
    const earlier = [
      upload({ id: 6, postings: 99 }),
      upload({ id: 5, postings: 10 }),
      upload({ id: 4, postings: 40 }),
      upload({ id: 3, postings: null, state: 'rejected' }),
    ]

    const shown = versionPage(held(), CONTEXT, earlier)

    expect(shown).toContain('Of 40 postings, 30 would vanish')
    expect(shown.match(/class="bar" d="[^"]+"/g)).toEqual([
      'class="bar" d="M9 120v-116h42v116Z"',
      'class="bar" d="M69 120v-29h42v29Z"',
    ])
    expect(shown.match(/class="lost" d="[^"]+"/g)).toEqual(['class="lost" d="M69 91v-87h42v87Z"'])
  })

  it('says if there is no earlier copy, or if the version could not be compared with it', () => {
    const first = versionPage(held({ difference: { older: null, summary: null } }), CONTEXT)
    const failed = versionPage(held({ difference: { older: 4, summary: null } }), CONTEXT)

    expect(first).toContain('There is no earlier copy to compare it with.')
    expect(failed).toContain('It could not be compared with <a href="/version?id=4">version 4</a>.')
  })
})

describe('hostile names and reasons', () => {
  const ATTACKS = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "'onmouseover='x",
    '`+alert(1)+`',
    '</title></style></main>',
    '&lt;script&gt;&amp;',
    '<!--',
    ']]>',
    'a\u0000b\u001b[31m\nc\u202ed\ud800',
    '{{constructor}}',
  ]
  const hostile = fc.oneof(
    fc.constantFrom(...ATTACKS),
    fc.string({ unit: anyCharacter, minLength: 1 }),
    fc.tuple(fc.constantFrom(...ATTACKS), fc.string()).map((parts) => parts.join('')),
  )
  const named = (text: string) => {
    const over = { feed: text, path: text, reason: text, hint: text, warnings: [text] }
    const uploads = (['held', 'rejected', 'queued'] as const).map((state, id) =>
      upload({ ...over, id, state }),
    ) as [UploadReport, ...UploadReport[]]
    const daemon = {
      conditions: [conditionReport(conditionOf(text))],
      unfinished: [{ path: text, modifiedAt: null }],
      ignored: { count: 1, paths: [text] },
    }
    const paused = { by: text, since: null, until: null }
    const pausedFeeds = [{ feed: text, ...paused }]
    const skipped = [{ path: text, reason: text, hint: text, since: null }]
    const service = { baseUrl: text, state: 'down', reason: text, since: at(4) } as const
    const words = { key: text, name: text, reason: text, next: text, status: text, changes: [text] }
    const campaigns = campaignRun({
      ...{ state: 'unusable', problem: text, hint: text },
      entries: [campaignSeen({ ...words, state: 'blocked' })],
      findings: [campaignFinding({ key: text, text, next: text })],
    })
    const one = version({
      ...{ ...over, account: text, records: text, encoding: text, fileUrl: text },
      externalCampaignIds: Object.fromEntries([[text, 1]]),
      events: [{ at: null, from: null, to: 'seen', ...NO_REASON, reason: text }],
      difference: differenceOf(text),
    })
    return [
      page({ uploads, daemon, service, campaigns, skipped, paused, pausedFeeds }),
      page({}, { find: `${text}~` }),
      feedPage({ newest: uploads[0], versions: uploads, most: 60 }, CONTEXT),
      versionPage({ ...one, state: 'held' }, CONTEXT, uploads),
    ]
  }

  it('are shown as text and never as markup', () => {
    const plain = named('x').map(tags)

    fc.assert(
      fc.property(hostile, (text) => {
        // A name without UTF-8 has no link, so its page has fewer tags.
        fc.pre(text.isWellFormed())
        expect(named(text).map(tags)).toEqual(plain)
      }),
      { numRuns: 200 },
    )
  })

  it('without UTF-8 are shown as text without a link', () => {
    const [shown] = named('\ud800<u>')

    expect(shown).toContain('&#60;u&#62;')
    expect(shown).not.toContain('href="/feed')
    expect(shown).not.toContain('<u>')
  })

  it('show their control characters as escapes', () => {
    const [shown] = named('a\u202eb\nc')

    expect(shown).toContain('a\\u202eb\\nc')
  })
})
