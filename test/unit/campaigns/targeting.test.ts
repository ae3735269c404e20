import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Targeting } from '../../../src/campaigns/service/port.ts'
import type { TargetedPosting } from '../../../src/campaigns/targeting.ts'
import {
  briefTargeting,
  type CanonicalTargeting,
  CRITERIA,
  canonical,
  isSame,
  readTargeting,
  selector,
  targetingSpend,
  wholeTargeting,
} from '../../../src/campaigns/targeting.ts'
import { targetingTest } from '../../../src/sandbox/service/targeting.ts'
import { NO_PLURALS, PLURALS } from '../../helpers/plurals.ts'
import { READABLE_TEXTS } from '../../helpers/readable-texts.ts'

const matches = (targeting: CanonicalTargeting, posting: TargetedPosting) =>
  selector(targeting)(posting)

const WORDS = (
  'nurse nurses Nurse ICU city cities box boxes cook day analysis analyses person people salesman salesmen ' +
  'hero heroes wife wives chef staff child children shelf shelves C C++ C# .NET NET ASP.NET taxi taxis taxes ' +
  'front-end & - (m/f) a+ + Köln Ko\u0308ln lens bus'
).split(' ')
const word = fc.constantFrom(...WORDS)
const gap = fc.constantFrom(
  ' ',
  '  ',
  '\n',
  '\u00a0',
  ', ',
  '<br>',
  '</p><p>',
  '<b>',
  '&nbsp;',
  '&amp;',
)
const prose = fc.array(fc.tuple(word, gap), { maxLength: 4 }).map((all) => all.flat().join(''))
const phrase = fc
  .array(fc.tuple(word, fc.constantFrom(' ', '  ', '\n', ' - ')), { minLength: 1, maxLength: 3 })
  .map((all) => all.flat().join('').trim())
const state = fc.constantFrom('MA', 'ON', 'NO')
const city = fc.constantFrom('Boston', 'boston', 'Köln', 'Ko\u0308ln', 'New  York', 'New\nYork')
const postal = fc.constantFrom('02139', '2139', 'K1A 0B1', 'k1a  0b1')
const campaign = fc.constantFrom('A', 'B', 'a')
const requisition = fc.constantFrom('1E5', '100000', 'R-1')
const listOf = <T>(value: fc.Arbitrary<T>) => fc.array(value, { maxLength: 3 })

const posting: fc.Arbitrary<TargetedPosting> = fc.record({
  externalCampaignId: campaign,
  requisitionId: requisition,
  title: phrase,
  description: prose,
  city,
  state,
  postalCode: postal,
})
const targeting: fc.Arbitrary<Targeting> = fc.record(
  {
    cities: listOf(fc.record({ name: city, stateProvCode: state })),
    externalCampaignId: fc.oneof(campaign, fc.constant('')),
    requisitionIds: listOf(requisition),
    jobDescKeywords: listOf(word),
    jobTitles: listOf(phrase),
    postalCodes: listOf(postal),
    stateProvCodes: listOf(state),
  },
  { requiredKeys: [] },
)

const LISTS = ['cities', 'jobDescKeywords', 'jobTitles', 'postalCodes', 'stateProvCodes'] as const

describe('targeting', () => {
  it('selects the same postings as the sandbox, a second implementation of the specification', () => {
    fc.assert(
      fc.property(targeting, posting, (wanted, one) => {
        const { cities, externalCampaignId, ...lists } = canonical(wanted)
        const theirs = { ...lists, cities, externalCampaignId: externalCampaignId || null }

        expect(matches(canonical(wanted), one)).toBe(
          targetingTest(structuredClone(theirs) as Parameters<typeof targetingTest>[0])({
            ...{ ...one, id: '' },
          }),
        )
      }),
      { numRuns: 2000 },
    )
  })

  it('selects every posting if it has no criterion', () => {
    fc.assert(fc.property(posting, (one) => matches(canonical({}), one)))
  })

  it('never selects fewer postings when a list with values gets more values', () => {
    fc.assert(
      fc.property(targeting, targeting, posting, fc.constantFrom(...LISTS), (a, b, one, name) => {
        fc.pre((a[name]?.length ?? 0) > 0)
        const wider = { ...a, [name]: [...(a[name] ?? []), ...(b[name] ?? [])] }

        expect(matches(canonical(wider), one) || !matches(canonical(a), one)).toBe(true)
      }),
    )
  })

  it('never selects more postings when a filter is added', () => {
    fc.assert(
      fc.property(targeting, targeting, posting, fc.constantFrom(...LISTS), (a, b, one, name) => {
        const before = canonical({ ...a, [name]: [], externalCampaignId: 'A' })
        const after = canonical({ ...a, [name]: b[name] ?? [], externalCampaignId: 'A' })

        expect(matches(before, one) || !matches(after, one)).toBe(true)
      }),
    )
  })

  it('never selects more postings after a change that does not count as spending more', () => {
    const near = (a: Targeting): fc.Arbitrary<Targeting> =>
      fc.subarray([...CRITERIA]).chain((names) =>
        targeting.map((b) => ({
          ...a,
          ...Object.fromEntries(names.map((name) => [name, b[name]])),
        })),
      )
    const pins = fc.record({
      requisitionIds: fc.array(requisition, { minLength: 1, maxLength: 3 }),
    })
    const pairs = fc
      .oneof<fc.Arbitrary<Targeting>[]>(targeting, pins, fc.constant({}))
      .chain((a) =>
        fc.tuple(
          fc.constant(a),
          fc.oneof<fc.Arbitrary<Targeting>[]>(near(a), pins, fc.constant({}), targeting),
        ),
      )
    fc.assert(
      fc.property(pairs, posting, ([a, b], one) => {
        const [before, after] = [canonical(a), canonical(b)]
        fc.pre(targetingSpend(before, after) !== 'up')

        expect(matches(before, one) || !matches(after, one)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('selects a posting with one of its requisition ids, even if the filters do not match', () => {
    fc.assert(
      fc.property(targeting, posting, (wanted, one) => {
        const pinned = { ...wanted, requisitionIds: [one.requisitionId] }

        expect(matches(canonical(pinned), one)).toBe(true)
      }),
    )
  })

  it.each([
    ['nurse', 'Registered NURSE', true],
    ['nurse', 'Nurses wanted', true],
    ['nurses', 'Nurse', false],
    ['NURSES', 'nurses', true],
    ['cook', 'Cookie baker', false],
    ['city', 'Cities planner', true],
    ['cities', 'City planner', false],
    ['box', 'Boxes', true],
    ['coach', 'Coaches', true],
    ['registered nurse', 'Registered  Nurses, ICU', true],
    ['nurse registered', 'Registered Nurse', false],
    ['C++', 'C++ developer', true],
    ['C++', 'C developer', false],
    ['C', 'C++ developer', false],
    ['C', 'C/C++ developer', true],
    ['C#', 'C# developer', true],
    ['C#', 'C++ developer', false],
    ['.NET', 'ASP.NET developer', true],
    ['.NET', 'Net fisher', false],
    ['person', 'Sales people', true],
    ['people', 'Sales person', false],
    ['salesman', 'Salesmen wanted', true],
    ['salesmen', 'Salesman', false],
    ['woman', 'Women in sales', true],
    ['German', 'Germans', true],
    ['hero', 'Heroes', true],
    ['video', 'Videos', true],
    ['midwife', 'Midwives', true],
    ['wives', 'Wife', false],
    ['shelf filler', 'Shelves filler', true],
    ['chef', 'Chefs', true],
    ['child carer', 'Children carers', true],
    ['analysis', 'Analyses', true],
    ['part-time nurse', 'Part-time Nurses (m/f)', true],
    ['nurse (m/f) [a|b] {1} ^$ \\ .*', 'Nurse', false],
    ['Ärztin', 'ärztin', true],
  ])('with the title %j selects the posting %j: %s', (title, found, selects) => {
    const one = { ...EMPTY, title: found }

    expect(matches(canonical({ jobTitles: [title] }), one)).toBe(selects)
  })

  it('selects with each singular title its plural, and with the plural title not the singular', () => {
    const titled = (title: string) => ({ ...EMPTY, title: `Senior ${title}` })
    const wrong = PLURALS.filter(
      ([one, many]) =>
        !matches(canonical({ jobTitles: [one] }), titled(many)) ||
        matches(canonical({ jobTitles: [many] }), titled(one)),
    )

    expect(wrong).toEqual([])
  })

  it.each(NO_PLURALS)('does not select with %s a title with %s', (wanted, title) => {
    expect(matches(canonical({ jobTitles: [wanted] }), { ...EMPTY, title })).toBe(false)
  })

  it.each(READABLE_TEXTS)(
    'finds in the description %j the keyword %j, and not %j',
    (description, found, missing) => {
      const one = { ...EMPTY, description }

      expect(matches(canonical({ jobDescKeywords: [found] }), one)).toBe(true)
      expect(matches(canonical({ jobDescKeywords: [missing] }), one)).toBe(false)
    },
  )

  it('selects a city only together with its state', () => {
    const wanted = canonical({
      cities: [
        { name: 'Boston', stateProvCode: 'MA' },
        { name: 'London', stateProvCode: 'ON' },
      ],
    })

    expect(matches(wanted, { ...EMPTY, city: 'London', state: 'on' })).toBe(true)
    expect(matches(wanted, { ...EMPTY, city: 'Boston', state: 'ON' })).toBe(false)
  })
})

const EMPTY: TargetedPosting = {
  ...{ externalCampaignId: '', requisitionId: '', title: '', description: '' },
  ...{ city: '', state: '', postalCode: '' },
}

describe('the canonical form', () => {
  it('does not depend on the order of values, or on duplicates', () => {
    fc.assert(
      fc.property(targeting, fc.array(fc.nat()), (wanted, seed) => {
        const shuffled = Object.fromEntries(
          Object.entries(wanted).map(([name, value]) => [
            name,
            Array.isArray(value) ? [...value, ...value].sort(() => (seed.pop() ?? 0) - 5) : value,
          ]),
        )

        expect(isSame(canonical(shuffled), canonical(wanted))).toBe(true)
      }),
    )
  })

  it('is its own canonical form', () => {
    fc.assert(
      fc.property(targeting, (wanted) => {
        const once = canonical(wanted)

        expect(canonical(once)).toEqual(once)
      }),
    )
  })

  it('removes white space and empty values, writes codes in capitals, and keeps leading zeros and the case of titles', () => {
    const wanted = canonical({
      requisitionIds: [' 00123 ', '123', ''],
      jobTitles: ['  Senior   Nurse ', 'nurse'],
      stateProvCodes: ['ma', 'MA'],
      postalCodes: ['02139'],
    })

    expect(wanted).toMatchObject({
      requisitionIds: ['00123', '123'],
      jobTitles: ['Senior Nurse', 'nurse'],
      stateProvCodes: ['MA'],
      postalCodes: ['02139'],
    })
  })
})

describe('targeting that the service shows', () => {
  it.each([
    ['a city without a state', { cities: [{ name: 'Boston' }] }],
    ['a city as text', { cities: ['Boston, MA'] }],
    ['a city without a name', { cities: [{ name: ' ', stateProvCode: 'MA' }] }],
    ['a state that is not text', { stateProvCodes: [{ code: 'MA' }] }],
    ['a title that is null', { jobTitles: [null] }],
    ['an id that is not text', { externalCampaignId: { id: 'A' } }],
  ])('is not known if it has %s', (_, shown) => {
    expect(readTargeting({ externalCampaignId: 'A', ...shown })).toBeNull()
  })

  it('may have numbers in place of texts', () => {
    expect(readTargeting({ externalCampaignId: 7, requisitionIds: [123, 'R'] })).toEqual(
      canonical({ externalCampaignId: '7', requisitionIds: ['123', 'R'] }),
    )
  })
})

describe('targeting on the wire', () => {
  it('has the criteria with values in a create, and every criterion in an update', () => {
    const wanted = canonical({ externalCampaignId: 'A', jobTitles: ['nurse'] })

    expect(briefTargeting(wanted)).toEqual({ externalCampaignId: 'A', jobTitles: ['nurse'] })
    expect(Object.keys(wholeTargeting(wanted))).toEqual([...CRITERIA])
  })

  it('has the same effect on a service that replaces targeting and on one that merges it', () => {
    fc.assert(
      fc.property(targeting, targeting, (a, b) => {
        const [wanted, there] = [canonical(a), canonical(b)]
        const sent = wholeTargeting(wanted)

        expect(canonical({ ...there, ...sent })).toEqual(wanted)
        expect(canonical(sent)).toEqual(wanted)
      }),
    )
  })
})
