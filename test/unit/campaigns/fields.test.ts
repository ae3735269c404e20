import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseAmount, showAmount, toWire } from '../../../src/campaigns/amount.ts'
import {
  type CampaignField,
  FIELD_TYPES,
  idleReason,
  isLive,
  shownValue,
  spendDirection,
  type Value,
  valueText,
  wireOf,
} from '../../../src/campaigns/fields.ts'
import type { Campaign } from '../../../src/campaigns/service/port.ts'
import { readAs } from '../../../src/campaigns/text-types.ts'

const NOW = Date.UTC(2027, 0, 4)
const campaign = (fields: Record<string, unknown>): Campaign => ({ id: '1', ...fields, other: {} })
/** oddly reads a field whose type is not the documented one. */
const oddly = (field: CampaignField, value: unknown) =>
  shownValue({ id: '1', other: { [field]: value } }, field)

describe('a date', () => {
  it.each([
    ['startDate', '2027-01-04', '2027-01-04T00:00:00Z'],
    ['endDate', '2027-03-31', '2027-03-31T23:59:59Z'],
    ['endDate', '2027-03-31T12:00:00Z', '2027-03-31T12:00:00Z'],
    ['endDate', 'none', null],
  ] as const)(
    'for %s, written as %s, is read as %s and shown as it was written',
    (field, text, value) => {
      expect(readAs(FIELD_TYPES[field], text)).toEqual({ value })
      expect(valueText(field, value)).toBe(text)
    },
  )

  it.each([
    '2027-02-30',
    '2027-1-4',
    '2027-03-31T12:00:00',
    '2027-03-31T12:00:00+01:00',
    '31.3.2027',
  ])('%s in the file is a mistake', (text) => {
    expect(readAs(FIELD_TYPES.endDate, text)).toHaveProperty('problem')
  })

  it.each([
    ['2027-03-31T23:59:59Z', '2027-03-31T23:59:59Z'],
    ['2027-03-31T23:59:59', '2027-03-31T23:59:59Z'],
    ['2027-03-31T23:59:59.000+01:00', '2027-03-31T22:59:59Z'],
    ['2027-03-31', '2027-03-31T00:00:00Z'],
    ['Wed, 31 Mar 2027 23:59:59 GMT', undefined],
    ['12/02/2036', undefined],
    ['2027-02-31', undefined],
    ['2036', undefined],
    ['20360212T000000Z', undefined],
    ['+010000-01-01T00:00:00Z', '9999-12-31T23:59:59Z'],
    ['0001-01-01T00:00:00', undefined],
    ['soon', undefined],
    [null, null],
  ])('%j on the service is read as %j', (shown, value) => {
    expect(shownValue(campaign({ endDate: shown }), 'endDate')).toBe(value)
  })
})

describe('an amount', () => {
  it('is shown as the file writes it, and is the same number on the wire', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99_999_999_999 }), (cents) => {
        const text = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
        const amount = parseAmount(text, 2) ?? 0

        expect(showAmount(amount)).toBe(text)
        expect(toWire(amount)).toBe(Number(text))
      }),
    )
  })

  it.each([
    [100.4, 1_004_000],
    ['100.40', 1_004_000],
    [null, null],
    [-1, undefined],
    ['no limit', undefined],
    [{}, undefined],
  ])('%j on the service is read as %j ten-thousandths', (shown, value) => {
    expect(oddly('budget', shown)).toBe(value)
  })
})

it.each<[CampaignField, unknown, Value | undefined]>([
  ['status', 1, 'running'],
  ['status', 'Paused', 'paused'],
  ['status', 7, '7'],
  ['period', null, 'once'],
  ['period', 1, 'monthly'],
  ['period', 2, '2'],
  ['autoBidLevel', ' Standard ', 'standard'],
  ['name', 'Nurses   Q1 [#k7m2q9x4c1]', 'Nurses Q1'],
  ['name', null, ''],
])('%s %j on the service is read as %j', (field, shown, value) => {
  expect(oddly(field, shown)).toBe(value)
})

it.each<[CampaignField, Value, unknown]>([
  ['budget', 1_004_000, 100.4],
  ['status', 'paused', 3],
  ['period', 'monthly', 1],
  ['period', 'once', null],
  ['endDate', null, null],
])('%s %j is sent as %j', (field, value, wire) => {
  expect(wireOf(field, value)).toBe(wire)
})

it.each<[CampaignField, Value | undefined, Value, string]>([
  ['budget', 2, 1, 'down'],
  ['budget', 1, 2, 'up'],
  ['budget', null, 1, 'up'],
  ['budget', undefined, 1, 'up'],
  ['endDate', null, '2027-01-01T00:00:00Z', 'down'],
  ['endDate', '2027-01-02T00:00:00Z', '2027-01-01T00:00:00Z', 'down'],
  ['endDate', '2027-01-01T00:00:00Z', null, 'up'],
  ['maxCpc', null, 1, 'down'],
  ['cpc', null, 1, 'up'],
  ['cpc', 2, 1, 'down'],
  ['paidCpaGoal', 1, null, 'up'],
  ['autoBidLevel', 'accelerated', 'standard', 'down'],
  ['autoBidLevel', null, 'standard', 'up'],
  ['status', undefined, 'paused', 'down'],
  ['status', 'paused', 'running', 'up'],
  ['name', 'a', 'b', 'neutral'],
])('a change of %s from %j to %j counts for spending as %s', (field, before, after, spend) => {
  expect(spendDirection(field, before, after)).toBe(spend)
})

it.each([
  [{ status: 1 }, true, null],
  [{ status: 3 }, true, 'paused'],
  [{ status: 2 }, false, 'archived'],
  [{ status: 1, endDate: '2027-01-03T00:00:00Z' }, false, 'over'],
  [{ status: 1, endDate: '2027-01-05T00:00:00Z' }, true, null],
  [{}, true, null],
])('a campaign with %j is live: %s; the reason why it cannot spend is %j', (fields, live, idle) => {
  expect(isLive(campaign(fields), NOW)).toBe(live)
  expect(idleReason(campaign(fields), NOW)).toBe(idle)
})
