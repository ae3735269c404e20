// Compares our count of the postings that a campaign covers with the count of the sandbox, a second implementation of
// the specification. Where the two counts can differ, status has to say so.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { CampaignSeen } from '../../../src/ops/campaigns/run.ts'
import { CampaignsSite } from '../../helpers/campaigns/campaigns-site.ts'
import { fileOf } from '../../helpers/campaigns/file.ts'
import { type Ran, SECRET } from '../../helpers/site.ts'

const SEED = Number(process.env.FEEDSYNCD_SEED ?? 20_261_122)
const KEYS = ['NUR', 'nur', 'COOK-1', 'A & B', 'DRV']
const TITLES = [
  'Nurse',
  'nurses (night)',
  'Registered Nurse',
  'Secretary',
  'Secretaries',
  'Cook',
  'C++ Cook',
  'Managers',
]
const PLACES = [
  ['Boston', 'MA', '02139'],
  ['boston', 'ma', '02140'],
  ['Boston', 'TX', '73301'],
  ['Saint Paul', 'MN', '55101'],
  ['', '', ''],
]
const WORDS = ['night shift', 'NIGHT', 'urgent & paid', 'day']

const posting = fc.record({
  campaign: fc.constantFrom(...KEYS, ''),
  requisition: fc.integer({ min: 1, max: 40 }).map((n) => `R-${n}`),
  title: fc.constantFrom(...TITLES),
  place: fc.constantFrom(...PLACES),
  description: fc.constantFrom(...WORDS),
})
const some = (values: readonly string[]) => fc.subarray([...values], { minLength: 1, maxLength: 2 })
const targeting = fc.record(
  {
    jobTitles: some(['nurse', 'Nurses', 'secretary', 'cook', 'C++ cook', 'registered nurse']),
    stateProvCodes: some(['MA', 'TX', 'MN']),
    postalCodes: some(['02139', '55101']),
    jobDescKeywords: some(['night', 'paid', 'DAY']),
    cities: fc.constantFrom(
      [{ name: 'Boston', stateProvCode: 'MA' }],
      [{ name: 'Saint Paul', stateProvCode: 'MN' }],
    ),
    requisitionIds: some(['R-1', 'R-2', 'R-17']),
  },
  { requiredKeys: [] },
)

const xml = (text: string) => text.replaceAll('&', '&amp;')
function feedOf(postings: readonly ReturnType<typeof sampled>[number][], from = 0): string {
  const jobs = postings.map(({ campaign, requisition, title, place, description }, n) => {
    const [city = '', state = '', zip = ''] = place
    const fields = {
      ...{ referencenumber: `J-${from + n}`, requisitionid: requisition, title, city, state },
      ...{ postalcode: zip, description, campaignid: campaign },
    }
    const tags = Object.entries(fields).map(([name, text]) => `<${name}>${xml(text)}</${name}>`)
    return `<job>${tags.join('')}</job>`
  })
  return `<source>${jobs.join('')}</source>`
}

const sampled = (count: number, seed: number) => fc.sample(posting, { numRuns: count, seed })

function entriesOf(seed: number): string {
  const targetings = fc.sample(targeting, { numRuns: KEYS.length, seed })
  const entries = KEYS.map((key, n) => {
    const wanted = targetings[n] ?? {}
    const text = Object.keys(wanted).length === 0 ? 'all' : JSON.stringify(wanted)
    return `  - externalCampaignId: ${key}\n    name: ${JSON.stringify(`Campaign ${n} ${seed}`)}\n    budget: "9.00"\n    targeting: ${text}\n    allowWiden: true\n`
  })
  return fileOf(...entries)
}

const seenIn = ({ stdout }: Ran) => JSON.parse(stdout).entries as CampaignSeen[]
const countsIn = (ran: Ran) =>
  seenIn(ran).map(({ key, coverage }) => [key, coverage?.covered, coverage?.counted])

it('our count is the number of the sandbox, for random postings and targetings', async () => {
  await using vendor = await CampaignsSite.open(null)
  vendor.site.drop('jobs.xml', feedOf(sampled(400, SEED)))
  await vendor.site.run('run', '--once')
  const all: unknown[][] = []
  for (let round = 0; round < 12; round++) {
    vendor.write(entriesOf(SEED + round))
    await vendor.apply()
    all.push(...countsIn(await vendor.campaigns('status', '--json')))
  }

  expect(all).toHaveLength(12 * KEYS.length)
  expect(all.map(([key, covered]) => [key, covered])).toEqual(all.map(([key, , own]) => [key, own]))
  expect(new Set(all.map(([, covered]) => covered)).size).toBeGreaterThan(10)
})

/** withTwoFeeds opens a vendor with two feeds of one account. A person released the second feed with these `words`. */
async function withTwoFeeds(...words: string[]): Promise<CampaignsSite> {
  const vendor = await CampaignsSite.open(entriesOf(SEED), { guards: { secondFeed: 'hold' } })
  const postings = sampled(300, SEED)
  vendor.site.drop('a.xml', feedOf(postings.slice(0, 150)))
  await vendor.site.run('run', '--once')
  vendor.site.drop('b.xml', feedOf(postings.slice(150), 150))
  await vendor.site.run('run', '--once')
  const [held] = vendor.site.uploads({ feed: 'b.xml' })
  await vendor.site.run('release', String(held?.id), ...words)
  await vendor.site.run('run', '--once')
  return vendor
}

it('counts over several feeds of an account are upper limits, because the service might keep only the last, and status does not warn', async () => {
  await using vendor = await withTwoFeeds()
  await vendor.apply()

  const seen = seenIn(await vendor.campaigns('status', '--json'))
  const told = await vendor.campaigns('status')

  expect(seen.length).toBeGreaterThan(0)
  for (const { coverage } of seen) {
    expect(coverage?.isAtMost).toBe(true)
    expect(coverage?.counted).toBeGreaterThanOrEqual(coverage?.covered ?? Number.POSITIVE_INFINITY)
  }
  expect(told.stdout).toContain('at most ')
  expect(told.stdout).not.toContain('the service sponsors')
})

it('counts over several feeds of an account are exact after a person said that the service keeps all of them', async () => {
  await using vendor = await withTwoFeeds('--account-keeps-all')
  const knobs = new URL('/_sandbox/knobs', vendor.site.sandbox.url)
  await fetch(knobs, { method: 'PUT', body: '{"accountKeeps":"all"}' })
  await vendor.apply()

  const answer = await vendor.campaigns('status', '--json')

  expect(seenIn(answer).map(({ coverage }) => coverage?.isAtMost)).toEqual(KEYS.map(() => false))
  const counts = countsIn(answer)
  expect(counts.some(([, covered]) => Number(covered) > 0)).toBe(true)
  expect(counts.map(([, covered]) => covered)).toEqual(counts.map(([, , own]) => own))
})

it('feeds of other accounts are not counted', async () => {
  const service = { partner: 'acme', partnerAccount: '42', account: undefined }
  const feeds = [{ match: '{1}/*.xml', partnerAccount: '{1}' }]
  await using vendor = await CampaignsSite.open(entriesOf(SEED), { service, feeds }, [
    { partner: 'acme', secret: SECRET },
  ])
  const postings = sampled(300, SEED)
  vendor.site.drop('42/jobs.xml', feedOf(postings.slice(0, 150)))
  vendor.site.drop('43/jobs.xml', feedOf(postings.slice(150)))
  await vendor.site.run('run', '--once')
  await vendor.apply()

  const counts = countsIn(await vendor.campaigns('status', '--json'))

  expect(counts.some(([, covered]) => Number(covered) > 0)).toBe(true)
  expect(counts.map(([, covered]) => covered)).toEqual(counts.map(([, , own]) => own))
})
