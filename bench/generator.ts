// Generates feeds shaped like real ones (2 to 6 kB a posting). The same arguments give the same bytes on every host.
// Each shape stresses another part of a checker.

import { closeSync, openSync, writeFileSync } from 'node:fs'

type Random = () => number

interface Shape {
  open: string
  close: string
  /** body returns the elements of a posting, except its id. */
  body: (random: Random) => string
  /** posting returns the complete posting: the elements of `body` with an id. */
  posting: (id: number, body: string) => string
}

const WORDS =
  'care nurse shift patient team hospital night weekend salary bonus licence ward unit clinic training pension experience degree required benefits flexible hours apply today full part time remote driver warehouse engineer'.split(
    ' ',
  )
const HAN = '護理師招聘工作職位醫院夜班薪資福利經驗要求全職兼職地點公司團隊培訓申請學歷專業服務管理'
const CITIES = ['Boston', 'Köln', 'Kraków', 'Montréal', 'São Paulo', 'Leeds', 'Łódź', 'Toledo']

const job = (id: number, body: string) =>
  `<job>\n<referencenumber>REF-${id}</referencenumber>\n<campaignid>C${id % 40}</campaignid>\n${body}</job>\n`

export const SHAPES = {
  /** HTML in CDATA, which most job boards require. */
  cdata: {
    open: '<source>\n<publisher>Example ATS</publisher>\n',
    close: '</source>\n',
    posting: job,
    body: (random) =>
      `${fields(random)}<description><![CDATA[${html(random, 1_400, 5_400)}]]></description>\n`,
  },
  /** The same HTML with every angle bracket escaped. */
  escaped: {
    open: '<source>\n',
    close: '</source>\n',
    posting: job,
    body: (random) =>
      `${fields(random)}<description>${escaped(html(random, 1_000, 3_800))}</description>\n`,
  },
  /** Many elements with little text, as in HR-XML. */
  'tag-dense': {
    open: '<PositionOpenings>\n',
    close: '</PositionOpenings>\n',
    posting: (id, body) =>
      `<Position>\n<Id validFrom="2026-01-01">REF-${id}</Id>\n${body}</Position>\n`,
    body: (random) =>
      Array.from({ length: between(random, 20, 60) }, () => {
        const skill = pick(random, WORDS)
        return `<Competency name="${skill}" required="true"><Id idOwner="x">${between(random, 1, 999)}</Id><Level><Min>${between(random, 0, 9)}</Min></Level></Competency>\n`
      }).join(''),
  },
  /** Text of three bytes for each character. */
  cjk: {
    open: '<source>\n',
    close: '</source>\n',
    posting: job,
    body: (random) => {
      const text = Array.from({ length: between(random, 600, 1_800) }, () => pick(random, HAN))
      return `<title>${text.slice(0, 12).join('')}</title>\n<city>台北</city>\n<description><![CDATA[<p>${text.join('')}</p>]]></description>\n`
    },
  },
  /** Feeds of a generic serializer, which declares the namespaces again in every record. */
  namespaces: {
    open: '<rss version="2.0"><channel>\n<title>Jobs</title>\n',
    close: '</channel></rss>\n',
    posting: (id, body) =>
      `<item xmlns:j="http://example.com/job" xmlns:g="http://example.com/geo">\n<guid>REF-${id}</guid>\n${body}</item>\n`,
    body: (random) =>
      `<j:title>${words(random, 40)}</j:title>\n` +
      Array.from(
        { length: between(random, 10, 30) },
        () =>
          `<j:detail xmlns:d="http://example.com/detail" d:kind="${pick(random, WORDS)}"><d:value>${words(random, 60)}</d:value></j:detail>\n`,
      ).join('') +
      `<g:city g:code="x">${pick(random, CITIES)}</g:city>\n`,
  },
  /** Plain text in short lines, as in e-mails. */
  'short-lines': {
    open: '<source>\n',
    close: '</source>\n',
    posting: job,
    body: (random) =>
      `${fields(random)}<description>\n${Array.from({ length: between(random, 60, 160) }, () => `${words(random, 28)}\n`).join('')}</description>\n`,
  },
  /** Small postings: three ids, and a description with some characters beyond ASCII. 1.6 kB each. */
  'small-postings': {
    open: '<source>\n',
    close: '</source>\n',
    posting: (id, body) =>
      `<job>\n<referencenumber>REF-${id}</referencenumber>\n<requisitionid>R${id % 5_000}</requisitionid>\n<campaignid>C${id % 40}</campaignid>\n${body}</job>\n`,
    body: (random) =>
      `${fields(random)}<description><![CDATA[<p>${pick(random, CITIES)} – ${words(random, 1_150)} ${pick(random, CITIES)}</p>]]></description>\n`,
  },
} satisfies Record<string, Shape>

export type ShapeName = keyof typeof SHAPES

/** POOL is the number of bodies that the postings of a feed share: too many for caches to learn a pattern. */
const POOL = 512
/** PORTION is about how many bytes are written at once. */
const PORTION = 1_000_000

/**
 * writeFeed writes a feed of at least `bytes` bytes, which ends after the first posting that reaches this size, and
 * returns the number of postings.
 */
export function writeFeed(
  path: string,
  name: ShapeName,
  { bytes, seed = 1 }: { bytes: number; seed?: number },
): number {
  const { open, close, posting, body }: Shape = SHAPES[name]
  const random = mulberry32(seed)
  const bodies = Array.from({ length: Math.min(POOL, 1 + bytes / 2_000) }, () => body(random))
  const file = openSync(path, 'w')
  let postings = 0
  let written = 0
  let portion = `<?xml version="1.0" encoding="UTF-8"?>\n${open}`
  let size = 0
  const flush = () => {
    const buffer = Buffer.from(portion)
    writeFileSync(file, buffer)
    written += buffer.length
    portion = ''
    size = 0
  }
  do {
    const next = posting(++postings, bodies[Math.floor(random() * bodies.length)] ?? '')
    portion += next
    size += Buffer.byteLength(next)
    if (size > PORTION) flush()
  } while (written + size < bytes)
  portion += close
  flush()
  closeSync(file)
  return postings
}

function fields(random: Random): string {
  return (
    `<title><![CDATA[${words(random, 30)}]]></title>\n<company>Example &amp; Sons</company>\n` +
    `<city>${pick(random, CITIES)}</city>\n<state>MA</state>\n<country>US</country>\n` +
    `<postalcode>0${between(random, 1000, 9999)}</postalcode>\n<date>2026-11-${between(random, 10, 28)}T08:00:00Z</date>\n` +
    `<url>https://jobs.example.com/apply?id=${between(random, 1, 9_999_999)}&amp;src=feed</url>\n`
  )
}

function html(random: Random, least: number, most: number): string {
  const length = between(random, least, most)
  let text = ''
  while (text.length < length) {
    text += `<p class="d">${words(random, 120)} &amp; ${words(random, 60)}</p>\n<ul><li>${words(random, 40)}</li><li>${words(random, 40)}</li></ul>\n`
  }
  return text
}

function words(random: Random, length: number): string {
  let text = pick(random, WORDS)
  while (text.length < length) text += ` ${pick(random, WORDS)}`
  return text
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function pick(random: Random, from: ArrayLike<string>): string {
  return from[Math.floor(random() * from.length)] ?? ''
}

function between(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1))
}

/** mulberry32 is a small random number generator with a period of 2^32 and the same numbers on every host. */
function mulberry32(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
