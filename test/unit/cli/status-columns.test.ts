import { describe, expect, it } from 'vitest'
import { feedTable } from '../../../src/cli/feed-table.ts'
import type { UploadReport } from '../../../src/ops/upload-report.ts'
import { table } from '../../../src/terminal/render.ts'
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
const rows = (uploads: UploadReport[], width: number | null) =>
  feedTable(uploads, { now: 0, width }).slice(1)

/** names returns a table of names that loses the middle of what does not fit. */
const names = (all: string[], width: number) =>
  table(
    ['id', 'name', 'state'],
    all.map((name, n) => [n + 1, name, 'uploaded']),
    width,
  ).split('\n')

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
  ])('shows a feed in %s whole, even if its line overflows', (_, feed) => {
    expect(rows([reportOf({ feed })], 80)[0]).toContain(feed)
  })

  it('drops attempts, then size, and shortens the folders that all names share', () => {
    const uploads = [1, 2].map((n) =>
      reportOf({ feed: `customers/north-${n}/jobs-of-the-whole-region-full.xml` }),
    )
    const head = (width: number | null) => feedTable(uploads, { now: 0, width })[0]?.split(/ +/)

    expect(head(null)).toEqual(['id', 'feed', 'state', 'postings', 'size', 'attempts', 'when'])
    expect(head(100)).toEqual(['id', 'feed', 'state', 'postings', 'size', 'attempts', 'when'])
    expect(head(90)).toEqual(['id', 'feed', 'state', 'postings', 'size', 'when'])
    expect(head(80)).toEqual(['id', 'feed', 'state', 'postings', 'when'])
    expect(rows(uploads, 80).map((row) => /\S+\.xml/.exec(row)?.[0])).toEqual([
      '…/north-1/jobs-of-the-whole-region-full.xml',
      '…/north-2/jobs-of-the-whole-region-full.xml',
    ])
  })
})

describe('a table of names', () => {
  it.each([
    ['Chinese', '护士职位'.repeat(40)],
    ['emoji of several characters', '👩‍⚕️🇩🇪👍🏽'.repeat(40)],
    ['combining accents', 'e\u0301a\u0323\u0302'.repeat(80)],
    ['Hindi', 'नर्सक्षि'.repeat(40)],
  ])('cuts a name in %s only between two characters', (_, name) => {
    for (let width = 75; width < 95; width++) {
      const [, row = ''] = names([name], width)
      expect(row).toContain('...')
      const [begin = '', end = ''] = row.slice(4, row.indexOf('uploaded')).trim().split('...')
      const all = graphemes(name)
      expect(graphemes(begin)).toEqual(all.slice(0, graphemes(begin).length))
      expect(graphemes(end)).toEqual(all.slice(-graphemes(end).length))
    }
  })

  it('fills the width of the terminal exactly, with wide and with narrow characters, below a heading that fits', () => {
    for (let width = 75; width < 95; width++) {
      const [, wide = ''] = names(['护'.repeat(80)], width)
      expect(wide.length + wide.replace(/[^护]/g, '').length).toBe(width)

      const [heading, plain] = names(['x'.repeat(80)], width)
      expect(plain).toHaveLength(width)
      expect(heading?.length).toBeLessThanOrEqual(width)

      const [, narrow = ''] = names(['e\u0301'.repeat(80)], width)
      expect(narrow.replaceAll('\u0301', '')).toHaveLength(width)
    }
  })

  it('shows both ends of a long name in the same width as a plain name, and no accent without its letter', () => {
    const long = ['x', '护', 'e\u0301'].map((letter) => `${letter.repeat(90)}.xml`)
    const [, plain = '', han = '', accents = ''] = names(long, 60)

    expect(han).toMatch(/护{9}\.\.\.护+\.xml +uploaded/)
    expect(han.replaceAll('护', 'xx').indexOf('uploaded')).toBe(plain.indexOf('uploaded'))
    expect(accents.replaceAll('\u0301', '').indexOf('uploaded')).toBe(plain.indexOf('uploaded'))
    expect(accents).not.toMatch(/\.\.\.\u0301/)
  })
})
