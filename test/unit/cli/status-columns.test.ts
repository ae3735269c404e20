import { describe, expect, it } from 'vitest'
import { statusText } from '../../../src/cli/status-view.ts'
import type { UploadReport } from '../../../src/ops/report.ts'
import { reportOf } from '../../helpers/ops/samples.ts'

/** Names and their width in columns of a terminal, counted by hand. */
const NAMES = {
  'plain.xml': 9,
  '护士职位.xml': 12,
  '채용공고.xml': 12,
  'ｶﾞﾙ.xml': 7,
  'Ａ１.xml': 8,
  'caf\u0065\u0301.xml': 8,
  'a\u0323\u0302\u0301.xml': 5,
  '😀.xml': 6,
  '👩‍⚕️ nurses.xml': 13,
  '🇩🇪.xml': 6,
  'नर्स.xml': 7,
}
/** A plain name as wide as the widest of them. */
const PLAIN = 'all nurses.xm'

const graphemes = (text: string) =>
  [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment)

/** rows returns the lines of the table below its heading. */
const rows = (uploads: UploadReport[], width: number | null) => table(uploads, width).slice(1)

function table(uploads: UploadReport[], width: number | null): string[] {
  const report = {
    daemon: {
      ...{ running: true, pid: 7, startedAt: null, lastScanAt: null, mode: 'events' as const },
      ...{
        modeReason: null,
        conditions: [],
        unfinished: [],
        ignored: { count: 0, paths: [] },
      },
    },
    service: { baseUrl: 'https://x', state: 'ok' as const, reason: null, clockSkewMs: 0 },
    ...{ uploads, owed: [], skipped: [], paused: null, pausedFeeds: [] },
  }
  const view = { now: 0, terminal: false, width, staleAfterMs: 1000, limit: 50 }
  const shown = statusText(report, { ...view, commandLine: (command) => command })
  const from = shown.split('\n').findIndex((line) => line.trimStart().startsWith('id '))
  return shown.split('\n').slice(from)
}

describe('the table of status', () => {
  it.each(Object.entries(NAMES))('aligns the columns after the name %s', (name, columns) => {
    const uploads = [reportOf({ feed: PLAIN }), reportOf({ feed: name })]

    const [plain = '', shown = ''] = rows(uploads, null)

    const before = shown.slice(0, shown.indexOf('uploaded'))
    expect(before.length - name.length + columns).toBe(plain.indexOf('uploaded'))
  })

  it.each([
    ['Chinese', '护士职位'.repeat(40)],
    ['emoji of several characters', '👩‍⚕️🇩🇪👍🏽'.repeat(40)],
    ['combining accents', 'e\u0301a\u0323\u0302'.repeat(80)],
    ['Hindi', 'नर्सक्षि'.repeat(40)],
  ])('cuts a name in %s only between two characters', (_, feed) => {
    for (let width = 75; width < 95; width++) {
      const [row = ''] = rows([reportOf({ feed })], width)
      const [begin = '', end = ''] = row.slice(4, row.indexOf('uploaded')).trim().split('...')
      const all = graphemes(feed)
      expect(graphemes(begin)).toEqual(all.slice(0, graphemes(begin).length))
      expect(graphemes(end)).toEqual(all.slice(-graphemes(end).length))
    }
  })

  it('fills the width of the terminal exactly, with wide and with narrow characters', () => {
    for (let width = 75; width < 95; width++) {
      const [wide = ''] = rows([reportOf({ feed: '护'.repeat(80) })], width)
      expect(wide.length + wide.replace(/[^护]/g, '').length).toBe(width)

      const [heading, plain] = table([reportOf({ feed: 'x'.repeat(80) })], width)
      expect(plain).toHaveLength(width)
      expect(heading?.length).toBeLessThanOrEqual(width)

      const [narrow = ''] = rows([reportOf({ feed: 'e\u0301'.repeat(80) })], width)
      expect(narrow.replaceAll('\u0301', '')).toHaveLength(width)
    }
  })

  it.each([80, 200])('shows the whole reason below its row at %i columns', (width) => {
    const reason = '护士 '.repeat(80).trim()

    expect(rows([reportOf({ reason })], width)[1]).toBe(`    ${reason}`)
  })

  it('shows both ends of a long name in the same width as a plain name', () => {
    const [plain = '', han = '', accents = ''] = rows(
      [
        reportOf({ feed: `${'x'.repeat(90)}.xml` }),
        reportOf({ feed: `${'护'.repeat(90)}.xml` }),
        reportOf({ feed: `${'e\u0301'.repeat(90)}.xml` }),
      ],
      100,
    )

    expect(han).toMatch(/护{9}\.\.\.护+\.xml +uploaded/)
    expect(han.replaceAll('护', 'xx').indexOf('uploaded')).toBe(plain.indexOf('uploaded'))
    expect(accents.replaceAll('\u0301', '').indexOf('uploaded')).toBe(plain.indexOf('uploaded'))
    expect(accents).not.toMatch(/\.\.\.\u0301/)
  })
})
