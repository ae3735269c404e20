// These tests check section 2 of the service's specification: the targeting of a campaign. Each test has a sentence of
// the specification as its name.

import { describe, expect, it } from 'vitest'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { sandbox } from '../../helpers/sandbox/sandbox.ts'
import { CAMPAIGNS, call, create, feedOf, upload } from '../../helpers/sandbox/vendor.ts'

const NURSE = { campaignid: 'N', requisitionid: 'R1', city: 'Boston', state: 'MA', zip: '02139' }

/** sponsored returns how many of these postings a campaign with this targeting sponsors. */
async function sponsored(
  postings: Record<string, string>[],
  targeting: object,
  box?: Sandbox,
): Promise<number> {
  const { url } = box ?? (await sandbox())
  await upload(url, feedOf(...postings))
  const { status, json } = await create(url, { targeting })
  expect(status).toBe(200)
  return json.sponsoredPostings
}

describe('Targeting object', () => {
  it('All criteria are AND-ed together', async () => {
    const targeting = { stateProvCodes: ['MA'], jobTitles: ['nurse'] }
    const postings = [
      { title: 'Nurse', state: 'MA' },
      { title: 'Nurse', state: 'ON' },
      { title: 'Cook', state: 'MA' },
    ]

    expect(await sponsored(postings, targeting)).toBe(1)
  })

  it('except requisitionIds, which is OR-ed with the rest of the criteria', async () => {
    const postings = [
      { ...NURSE, requisitionid: 'R1', state: 'MA' },
      { ...NURSE, requisitionid: 'R2', state: 'ON' },
      { ...NURSE, requisitionid: 'R3', state: 'ON' },
    ]

    expect(await sponsored(postings, { stateProvCodes: ['MA'], requisitionIds: ['R2'] })).toBe(2)
    expect(await sponsored(postings, { requisitionIds: ['R2'] })).toBe(1)
  })

  it('cities: City and state combinations of the postings', async () => {
    const cities = [
      { name: 'Boston', stateProvCode: 'MA' },
      { name: 'Toronto', stateProvCode: 'ON' },
    ]
    const postings = [
      { title: 'Nurse', city: 'Boston', state: 'MA' },
      { title: 'Nurse', city: 'Boston', state: 'ON' },
      { title: 'Nurse', city: 'Toronto', state: 'ON' },
    ]

    expect(await sponsored(postings, { cities })).toBe(2)
  })

  it('externalCampaignId: matches the id value passed in the feed', async () => {
    const postings = [
      { campaignid: 'N' },
      { campaignid: 'n' },
      { campaignid: 'N2' },
      { title: 'A' },
    ]

    expect(await sponsored(postings, { externalCampaignId: 'N' })).toBe(1)
  })

  it('requisitionIds: match the id value passed in the feed', async () => {
    const postings = [{ requisitionid: 'R1' }, { requisitionid: 'r1' }, { requisitionid: 'R11' }]

    expect(await sponsored(postings, { requisitionIds: ['R1', 'R9'] })).toBe(1)
  })

  it('jobDescKeywords: Keywords, case-insensitive, appearing in the job description', async () => {
    const postings = [
      { title: 'A', description: 'Night SHIFT in the ICU' },
      { title: 'Shift', description: 'days' },
    ]

    expect(await sponsored(postings, { jobDescKeywords: ['shift'] })).toBe(1)
    expect(await sponsored(postings, { jobDescKeywords: ['night shift', 'DAYS'] })).toBe(2)
  })

  it('jobTitles: Job titles, case-insensitive.', async () => {
    expect(await sponsored([{ title: 'Registered NURSE' }], { jobTitles: ['nurse'] })).toBe(1)
  })

  it('jobTitles: A singular term matches titles containing the singular or the plural', async () => {
    const postings = [{ title: 'Nurse' }, { title: 'Nurses, ICU' }, { title: 'Nursing' }]

    expect(await sponsored(postings, { jobTitles: ['nurse'] })).toBe(2)
  })

  it('jobTitles: a plural term matches only titles containing the plural', async () => {
    const postings = [{ title: 'Nurse' }, { title: 'Nurses, ICU' }]

    expect(await sponsored(postings, { jobTitles: ['nurses'] })).toBe(1)
  })

  it('postalCodes: Postal codes of the postings', async () => {
    const postings = [{ zip: '02139' }, { zip: '2139' }, { zip: 'M5V 1A1' }]

    expect(await sponsored(postings, { postalCodes: ['02139', 'M5V 1A1'] })).toBe(2)
  })

  it('stateProvCodes: 2-letter state codes', async () => {
    const postings = [{ state: 'MA' }, { state: 'ON' }, { state: 'Massachusetts' }]

    expect(await sponsored(postings, { stateProvCodes: ['MA'] })).toBe(1)
  })

  it.each([
    { cities: ['Boston'] },
    { cities: [{ name: 'Boston' }] },
    { externalCampaignId: 7 },
    { requisitionIds: 'R1' },
    { jobTitles: [7] },
    { states: ['MA'] },
    [],
    'all',
  ])('create and update refuse wrong fields and values: %j', async (targeting) => {
    const { url } = await sandbox()
    const { json } = await create(url)

    expect((await create(url, { targeting })).status).toBe(400)
    expect((await call(url, 'PUT', `${CAMPAIGNS}/${json.id}`, { targeting })).status).toBe(400)
  })
})
