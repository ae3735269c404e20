import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Entry, readDesired } from '../../../src/campaigns/desired.ts'
import { anyCharacter } from '../../helpers/any-character.ts'
import { entry, fileOf, states } from '../../helpers/campaigns/file.ts'

const EXAMPLE = join(import.meta.dirname, '..', '..', '..', 'config', 'campaigns.example.yaml')

function entries(text: string): Entry[] {
  const reading = readDesired(text)
  if (reading.kind === 'problems') throw new Error(JSON.stringify(reading.problems))
  return reading.entries
}

function problems(text: string): string[] {
  const reading = readDesired(text)
  if (reading.kind === 'desired') throw new Error('the file has no problem')
  return reading.problems.map(
    ({ line, column, key, reason }) => `${line}:${column} ${key}: ${reason}`,
  )
}

const one = (fields: string) =>
  `version: 1\ncampaigns:\n  - externalCampaignId: A\n    name: First\n    ${fields}\n`

describe('the campaigns file', () => {
  it('may be the example, which has three entries', () => {
    expect(entries(readFileSync(EXAMPLE, 'utf8'))).toMatchObject([
      {
        key: 'NUR-Q1',
        values: {
          ...{ name: 'Nurses Q1', budget: 15_000_000, period: 'once' },
          ...{ startDate: '2027-01-04T00:00:00Z', endDate: '2027-03-31T23:59:59Z' },
        },
      },
      { key: 'DRV', targeting: { externalCampaignId: 'DRV', stateProvCodes: [] } },
      { key: 'INT-27', campaignId: '48211', targeting: { requisitionIds: ['R-1001', 'R-1002'] } },
    ])
  })

  it('leaves fields unmanaged that it does not name', () => {
    expect(entries(one(''))).toEqual([
      { key: 'A', values: { name: 'First' }, targeting: null, campaignId: null },
    ])
  })

  it('keeps unquoted codes and ids as text', () => {
    const lists = 'postalCodes: [02139], stateProvCodes: [ON, NO], requisitionIds: [1E5, 0x1F]'

    expect(entries(one(`targeting: { ${lists} }\n    allowWiden: true`))).toMatchObject([
      {
        targeting: {
          ...{ externalCampaignId: 'A', postalCodes: ['02139'], stateProvCodes: ['NO', 'ON'] },
          requisitionIds: ['0x1F', '1E5'],
        },
      },
    ])
  })

  it('may be JSON, and keeps every digit of a number', () => {
    const targeting = '{"requisitionIds": [12345678901234567890, 007]}'
    const text = `{"externalCampaignId": 42, "name": "A", "allowWiden": true, "targeting": ${targeting}}`

    expect(entries(`{"version": 1, "campaigns": [${text}]}`)).toMatchObject([
      { key: '42', targeting: { requisitionIds: ['007', '12345678901234567890'] } },
    ])
  })

  it.each(['toString', 'constructor', '__proto__'])('may have the key %s', (key) => {
    expect(entries(fileOf(entry(key)))).toMatchObject([
      { key, targeting: { externalCampaignId: key } },
    ])
  })

  it('has all its mistakes reported at once, with line and column', () => {
    const text = [
      'version: 2',
      'campains: []',
      'campaigns:',
      '  - externalCampaignId: A',
      '    nam: First',
      '    budget: 1,500',
      '    startDate: 2027-02-30',
      '    period: weekly',
      '    targeting: { cities: [Boston], postalCode: ["1"], requisitionIds: [R1], jobTitles: [] }',
      '    allPostings: true',
      '  - name: Second',
      'guards: { raisePercent: 50 }',
      'limits: { maxBudget: many }',
    ].join('\n')

    expect(problems(text)).toEqual([
      '1:10 version: expected 1 (got "2")',
      '2:1 campains: unknown key, did you mean campaigns?',
      '5:5 A.nam: unknown key, did you mean name?',
      '6:13 A.budget: expected an amount above 0 such as "1500.00" (got "1,500")',
      '7:16 A.startDate: expected a date such as 2027-01-04 or 2027-01-04T00:00:00Z (got "2027-02-30")',
      '8:13 A.period: expected once or monthly (got "weekly")',
      '9:27 A.targeting.cities[0]: expected a block of keys (got "Boston")',
      '9:36 A.targeting.postalCode: unknown key, did you mean postalCodes?',
      '9:71 A.targeting.requisitionIds: these ids add postings that the other lists leave out: write allowWiden: true into the entry to allow it',
      '9:88 A.targeting.jobTitles: the list is empty: leave it out, or name what it selects',
      '10:5 A.allPostings: unknown key',
      '11:5 campaigns[1].externalCampaignId: missing',
      '12:1 guards: unknown key',
      '13:22 limits.maxBudget: expected an amount above 0 such as "1500.00" (got "many")',
    ])
  })

  it.each([
    ['', 'names no campaign'],
    ['# nothing', 'names no campaign'],
    [one('').replace('version: 1', ''), 'version: missing'],
    ['version: 1\ncampaigns: []', 'names no campaign'],
    ['version: 1\ncampaigns:', 'expected a list'],
    ['[]', 'names no campaign'],
    [
      'version: 1\ncampaigns:\n  - {externalCampaignId: A, name: B',
      '3:36 : flow map in block collection',
    ],
    [one('targeting: {}'), 'the targeting is empty: write all, or name what it selects'],
    [one('targeting:'), 'expected a block of keys, or all'],
    [one('budget: "0.00"'), 'above 0'],
    [one('budget: "12.345"'), 'above 0'],
    [one('budget: -5'), 'above 0'],
    [one('budget: 1e3'), 'above 0'],
    [one('budget:'), 'above 0'],
    [one('budget: none'), 'above 0'],
    [one('cpc: "0.12345"'), 'above 0'],
    [one('status: archived'), 'expected running or paused'],
    [one('campaignId: ".."'), "the service's id"],
    [one('campaignId: "0"'), "the service's id"],
    [one('startDate: 2027-01-04\n    endDate: 2027-01-03'), 'is before startDate'],
    [one('targeting: { externalCampaignId: B }'), "always the entry's own"],
    [one('targeting: { stateProvCodes: [Massachusetts] }'), 'code such as MA'],
    [one('targeting: { jobTitles: [""] }'), 'must not be empty'],
    [one('targeting: { jobTitles: nurse }'), 'expected a list'],
    [one('targeting: everything'), 'expected a block of keys, or all'],
    [one('targeting: { requisitionIds: [R] }\n    allowWiden: false'), 'allowWiden: true'],
    [one('name: again'), 'duplicate key'],
    [one('"<<": { budget: "1.00" }'), 'unknown key'],
    [`${one('')}  - { externalCampaignId: A, name: B }`, 'duplicate externalCampaignId'],
    [`${one('')}  - { externalCampaignId: B, name: FIRST }`, 'duplicate name'],
    [one('').replace('First', 'First [#k7m2q9x4c1]'), 'which begins our mark'],
    [`${one('')}removed: [{ externalCampaignId: B }]`, 'removed: unknown key'],
    [`${one('')}\0\0`, '6:1 : a NUL byte'],
    ['a: &x 1\nb: *x', 'anchors are not supported'],
    ['a: !!str 1', 'tags are not supported'],
  ])('is refused as a whole, with the reason: %j', (text, why) => {
    expect(problems(text).join('\n')).toContain(why)
  })

  it('may use a name twice if both entries have a campaignId, but no campaignId twice', () => {
    const twins = ['A', 'B'].map(
      (key) => `  - { externalCampaignId: ${key}, name: N, campaignId: ID }\n`,
    )
    const text = fileOf(...twins)

    expect(entries(text.replace('ID', '1').replace('ID', '2'))).toHaveLength(2)
    expect(problems(text)).toEqual([
      '4:51 B.campaignId: duplicate campaignId, already used by A.campaignId',
    ])
  })

  it('is refused if a budget, or the sum of the budgets that are not paused, is above its limit, not if it is equal', () => {
    const text = (status: string, limits: string) =>
      `${fileOf(entry('A'), entry('B', status, '300.00'))}limits: { ${limits} }\n`

    expect(problems(text('', 'maxBudget: "250.00", maxTotal: "350.00"'))).toEqual([
      '9:13 B.budget: is above limits.maxBudget, 250.00',
      '11:42 limits.maxTotal: the budgets add up to 400.00, which is above this limit',
    ])
    expect(entries(text('', 'maxTotal: "400.00"'))).toHaveLength(2)
    expect(entries(text('status: paused', 'maxTotal: "350.00"'))).toHaveLength(2)
  })

  it('never asks for a different budget if it is cut off anywhere', () => {
    const whole = fileOf(entry('A', `endDate: 2027-03-31\n${states('MA')}`), entry('B'))
    const budgets = Array.from(whole, (_, at) => readDesired(whole.slice(0, at))).flatMap(
      (reading) =>
        reading.kind === 'problems' ? [] : reading.entries.map(({ values }) => values.budget),
    )

    expect(new Set(budgets)).toEqual(new Set([undefined, 1_000_000]))
  })

  it('never makes the reader throw, with any content', () => {
    const text = readFileSync(EXAMPLE, 'utf8').replace(/^ *#.*\n/gm, '')
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 80 }), fc.nat(2000), (noise, cut) => {
        const at = cut % text.length

        readDesired(noise)
        readDesired(text.slice(0, at) + noise + text.slice(at))
      }),
      { numRuns: 60 },
    )
  })
})
