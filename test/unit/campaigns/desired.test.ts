import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Desired } from '../../../src/campaigns/desired.ts'
import { readDesired } from '../../../src/campaigns/desired.ts'
import { parseAmount, showAmount, toWire } from '../../../src/lib/amount.ts'
import { anyCharacter } from '../../helpers/any-character.ts'

const EXAMPLE = join(import.meta.dirname, '..', '..', '..', 'config', 'campaigns.example.yaml')

function desired(text: string): Desired {
  const reading = readDesired(text)
  if (reading.kind === 'problems') throw new Error(JSON.stringify(reading.problems))
  return reading.desired
}

function problems(text: string): string[] {
  const reading = readDesired(text)
  if (reading.kind === 'desired') throw new Error('the file has no problem')
  return reading.problems.map(
    ({ line, column, key, problem }) => `${line}:${column} ${key}: ${problem}`,
  )
}

const one = (fields: string) =>
  `version: 1\ncampaigns:\n  - externalCampaignId: A\n    name: First\n    ${fields}\n`

describe('the campaigns file', () => {
  it('is what the example says', () => {
    const { campaigns, removed, guards } = desired(readFileSync(EXAMPLE, 'utf8'))

    expect(campaigns).toMatchObject([
      {
        key: 'NUR-Q1',
        values: { budget: 15_000_000, period: 'once', startDate: '2027-01-04T00:00:00Z' },
      },
      { key: 'DRV', allPostings: true },
      { key: 'INT-27', campaignId: '48211' },
    ])
    expect(removed).toEqual([{ key: 'INT-26', endDate: '2026-12-01T00:00:00Z' }])
    expect(guards).toMatchObject({ raisePercent: 50, maxShareOfFeed: 0.5 })
  })

  it('keeps unquoted codes and ids as the text that they are', () => {
    const targeting =
      'targeting: { postalCodes: [02139], stateProvCodes: [ON, NO], requisitionIds: [1E5, 0x1F] }'

    const [campaign] = desired(one(`${targeting}\n    allowWiden: true`)).campaigns

    expect(campaign?.targeting).toMatchObject({
      postalCodes: ['02139'],
      stateProvCodes: ['NO', 'ON'],
      requisitionIds: ['0x1F', '1E5'],
      externalCampaignId: 'A',
    })
  })

  it('may be JSON, whose numbers keep every digit as they are written', () => {
    const targeting = '{"requisitionIds": [12345678901234567890, 007]}'
    const entry = `{"externalCampaignId": 42, "name": "A", "allowWiden": true, "targeting": ${targeting}}`

    const reading = readDesired(`{"version": 1, "campaigns": [${entry}]}`)

    if (reading.kind !== 'desired') throw new Error(JSON.stringify(reading.problems))
    expect(reading.desired.campaigns).toMatchObject([
      { key: '42', targeting: { requisitionIds: ['007', '12345678901234567890'] } },
    ])
  })

  it('leaves what it does not name unmanaged', () => {
    const [campaign] = desired(one('')).campaigns

    expect(campaign).toEqual({
      ...{
        key: 'A',
        name: 'First',
        campaignId: null,
        allPostings: false,
        emptyLists: [],
        values: {},
      },
    })
  })

  it('tells all mistakes at once, each with its place', () => {
    const text = [
      'version: 2',
      'campains: []',
      'campaigns:',
      '  - externalCampaignId: A',
      '    nam: First',
      '    budget: 1,500',
      '    startDate: 2027-02-30',
      '    period: weekly',
      '    targeting: { cities: [Boston], postalCode: ["1"], requisitionIds: [R1] }',
      '  - name: Second',
      'removed: { A: B }',
    ].join('\n')

    expect(problems(text)).toEqual([
      '1:10 version: expected 1 (got "2")',
      '2:1 campains: unknown key, did you mean campaigns?',
      '5:5 campaigns[0].nam: unknown key, did you mean name?',
      '6:13 campaigns[0].budget: expected an amount above 0 such as "1500.00" (got "1,500")',
      '7:16 campaigns[0].startDate: expected a date such as 2027-01-04 or 2027-01-04T00:00:00Z (got "2027-02-30")',
      '8:13 campaigns[0].period: expected once or monthly (got "weekly")',
      '9:27 campaigns[0].targeting.cities[0]: expected a block of keys',
      '9:36 campaigns[0].targeting.postalCode: unknown key, did you mean postalCodes?',
      '9:55 campaigns[0].targeting.requisitionIds: these add postings whatever the other lists say: allow it with allowWiden: true on the entry',
      '10:5 campaigns[1]: the key externalCampaignId is missing',
      '11:10 removed: expected a list',
    ])
  })

  it.each([
    ['', 'no campaign'],
    ['# nothing', 'no campaign'],
    [one('').replace('version: 1', ''), 'the key version is missing'],
    ['version: 1', 'no campaign'],
    ['version: 1\ncampaigns: []', 'no campaign'],
    ['version: 1\ncampaigns:', 'expected a list'],
    ['[]', 'no campaign'],
    ['version: 1\ncampaigns:\n  - {externalCampaignId: A, name: B', ''],
    [one('budget: "0.00"'), 'above 0'],
    [one('budget: "12.345"'), 'above 0'],
    [one('budget: -5'), 'above 0'],
    [one('budget: 1e3'), 'above 0'],
    [one('budget:'), 'above 0'],
    [one('campaignId: ".."'), "the service's id"],
    [one('lifecycle: { preventEnd: true }'), 'unknown key'],
    [one('startDate: 2027-01-04\n    endDate: 2027-01-03'), 'is before startDate'],
    [one('targeting: { externalCampaignId: B }'), "always the entry's own"],
    [one('targeting: { stateProvCodes: [Massachusetts] }'), 'code such as MA'],
    [one('targeting: { jobTitles: [""] }'), 'must not be empty'],
    [one('targeting: { jobTitles: nurse }'), 'expected a list'],
    [one('targeting:'), 'expected a block'],
    [one('name: again'), 'duplicate key'],
    [
      `${one('')}removed: [{ externalCampaignId: A, endDate: 2027-01-01 }]`,
      'duplicate externalCampaignId',
    ],
    [`${one('')}  - { externalCampaignId: B, name: FIRST }`, 'duplicate name'],
    [one('').replace('First', 'First [#k7m2q9x4c1]'), 'marks our token'],
  ])('is refused as a whole: %j', (text, why) => {
    expect(problems(text).join('\n')).toContain(why)
  })

  it('never throws, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 80 }), fc.nat(2000), (noise, cut) => {
        const text = readFileSync(EXAMPLE, 'utf8').replace(/^ *#.*\n/gm, '')
        const at = cut % text.length

        readDesired(noise)
        readDesired(text.slice(0, at) + noise + text.slice(at))
        readDesired(text.slice(0, at))
      }),
      { numRuns: 60 },
    )
  })
})

describe('an amount', () => {
  it('is the same number on the wire as in the file', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99_999_999_999 }), (cents) => {
        const text = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
        const amount = parseAmount(text, 2) ?? 0

        expect(showAmount(amount)).toBe(text)
        expect(toWire(amount)).toBe(Number(text))
      }),
    )
  })
})
