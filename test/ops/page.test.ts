import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { feedPage, statusPage } from '../../src/ops/page.ts'
import type { Pulse, StatusModel, UploadModel } from '../../src/ops/port.ts'

const NOW = Date.UTC(2026, 10, 20, 12)
const PULSE: Pulse = { stage: 'running', sinceTurnMs: 5, trouble: null }

function upload(over: Partial<UploadModel> = {}): UploadModel {
  return {
    ...{ id: 1, feed: 'acme', path: 'acme.xml', state: 'uploaded', reason: null, hint: null },
    ...{ postings: 40, bytes: 2048, attempts: 1, nextAttemptAt: null, deadlineAt: null },
    ...{ detectedAt: '2026-11-20T11:59:00.000Z', uploadedAt: '2026-11-20T11:59:30.000Z' },
    ...{ expectedBy: null, overdue: false, ...over },
  }
}

function status(over: Partial<StatusModel> = {}): StatusModel {
  return {
    daemon: {
      ...{ pid: 7, startedAt: '2026-11-20T11:00:00.000Z', mode: 'events', folderReason: null },
      ...{ lastScanAt: '2026-11-20T11:59:59.000Z', unfinished: [] },
    },
    service: { baseUrl: 'https://api.example.com', state: 'ok', reason: null },
    uploads: [upload()],
    owed: [],
    ...over,
  }
}

const page = (over: Partial<StatusModel>, pulse = PULSE) =>
  statusPage({ status: status(over), pulse, now: NOW })

/** Every tag as a browser would find it, without what names may change: targets of links. */
const tags = (markup: string) =>
  markup.match(/<[^>]*>/g)?.map((tag) => tag.replace(/(href="\/feed\?name=)[^"]*"/, '$1"'))

describe('the status page', () => {
  it('says at once that nothing needs a person, and shows every feed', () => {
    const shown = page({ uploads: [upload(), upload({ feed: 'globex' })] })

    expect(shown).toContain('Nothing needs a person')
    expect(shown).not.toContain('<h2>Needs a person</h2>')
    expect(shown).toContain('>acme</a>')
    expect(shown).toContain('>globex</a>')
  })

  it('shows what is owed first, with the reason and the command that decides', () => {
    const held = upload({ id: 9, feed: 'globex', state: 'held', reason: '40 -> 2 postings' })

    const shown = page({ uploads: [upload(), held] })

    expect(shown).toContain('1 feed needs a person')
    expect(shown).toContain('40 -&#62; 2 postings')
    expect(shown).toContain('feedsyncd release 9, or feedsyncd discard 9')
    expect(shown.indexOf('40 -&#62; 2')).toBeLessThan(shown.indexOf('<h2>Feeds</h2>'))
  })

  it('shows what is owed beside the newest version, and feeds that are late', () => {
    const failed = upload({ id: 3, state: 'failed', reason: 'no such account' })
    const late = upload({ feed: 'globex', overdue: true, expectedBy: '2026-11-20T09:00:00.000Z' })

    const shown = page({ uploads: [late], owed: [failed] })

    expect(shown).toContain('2 feeds need a person')
    expect(shown).toContain('no such account')
    expect(shown).toContain('expected 3h ago')
  })

  it('says what hinders the daemon as a whole, before all feeds', () => {
    const service = {
      ...status().service,
      state: 'credentials',
      reason: 'refused with 401',
    } as const
    const shown = page({ service }, { ...PULSE, trouble: 'the disk is full' })

    expect(shown).toContain('feedsyncd is hindered')
    expect(shown).toContain('the disk is full')
    expect(shown).toContain('service credentials: refused with 401')
  })

  it('stays a page that can be read with 5,000 feeds', () => {
    const uploads = Array.from({ length: 5000 }, (_, n) => upload({ id: n, feed: `feed ${n}` }))

    const shown = page({ uploads })

    expect(shown).toContain('4800 more: feedsyncd status --json')
    expect(shown.length).toBeLessThan(150_000)
  })

  it('loads nothing from elsewhere and offers nothing that changes anything', () => {
    const shown = page({})

    expect(shown).not.toMatch(/<(form|button|input|img|link|iframe)\b|src=|https?:\/\/(?!api)/)
    expect(shown.match(/href="[^"]*"/g)).toEqual(['href="/feed?name=acme"'])
  })
})

describe('a feed’s page', () => {
  it('shows its versions, and bars of postings and size over time', () => {
    const versions = [
      upload({ id: 2, postings: 20 }),
      upload({ id: 1, postings: null, bytes: null }),
    ]

    const shown = feedPage('acme', versions, NOW)

    expect(shown.match(/<rect /g)).toHaveLength(2)
    expect(shown).toContain('<td>2</td>')
    expect(shown).toContain('<td>1</td>')
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
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.tuple(fc.constantFrom(...ATTACKS), fc.string()).map((parts) => parts.join('')),
  )
  const named = (text: string) => {
    const uploads = (['held', 'rejected', 'queued'] as const).map((state) =>
      upload({ state, feed: text, path: text, reason: text, hint: text }),
    )
    const daemon = {
      ...status().daemon,
      folderReason: text,
      unfinished: [{ path: text, modifiedAt: null }],
    }
    const service = { baseUrl: text, state: 'down', reason: text } as const
    return [
      page({ uploads, daemon, service }, { ...PULSE, trouble: text }),
      feedPage(text, uploads, NOW),
    ]
  }

  it('are text and never markup, whatever they hold', () => {
    const plain = named('x').map(tags)

    fc.assert(
      fc.property(hostile, (text) => {
        // A name that has no UTF-8 has no link.
        fc.pre(text.isWellFormed())
        expect(named(text).map(tags)).toEqual(plain)
      }),
      { numRuns: 1000 },
    )
  })

  it('without UTF-8 make no link, and no error', () => {
    const [shown] = named('\ud800<u>')

    expect(shown).not.toContain('href="/feed')
    expect(shown).not.toContain('<u>')
  })

  it('show their control characters instead of obeying them', () => {
    const [shown] = named('a\u202eb\nc')

    expect(shown).toContain('a\\u202eb\\nc')
  })
})
