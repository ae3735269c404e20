import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Absence } from '../../../src/campaigns/absence.ts'
import { readDesired } from '../../../src/campaigns/desired.ts'
import { plain } from '../../../src/campaigns/fields.ts'
import { bareName, isMarked, tokenOf } from '../../../src/campaigns/token.ts'
import type { Campaign } from '../../../src/service/port.ts'
import { entry, fileOf } from '../../helpers/campaigns/reconciling.ts'

type Input = ConstructorParameters<typeof Absence>[0]

function inputOf(keys: readonly string[], campaigns: readonly Campaign[], more: Partial<Input>) {
  const reading = readDesired(fileOf(...keys.map((key) => entry(key))))
  if (reading.kind === 'problems') throw new Error('the file is wrong')
  const facts = { account: '1', approvedAt: 1, keepsTokens: true, isCounted: true }
  const none = { records: [], others: [], creates: [], newEntries: new Map() }
  const all = new Map(campaigns.map((one) => [one.id, one]))
  return { desired: reading.desired, identity: '1', facts, ...none, campaigns: all, ...more }
}

it('the campaigns of an account are not gone through again for each entry', () => {
  let reads = 0
  const keys = Array.from({ length: 400 }, (_, n) => `K${n}`)
  const campaigns = keys.map((key, n) => ({
    id: String(n),
    get name() {
      reads++
      return `Campaign ${key} [#0000000000]`
    },
    other: { targeting: { externalCampaignId: key } },
  }))
  const absence = new Absence(inputOf(keys, campaigns as unknown as Campaign[], {}))

  const counts = keys.map((key) => absence.candidates(key, `Campaign ${key}`, 5).count)

  expect(counts).toEqual(keys.map(() => 400))
  expect(reads).toBeLessThan(400 * 100)
})

it('candidates are those that a look at each campaign finds, in the same order', () => {
  const keys = ['K1', 'K2', 'K12']
  const name = fc.constantFrom(
    ...[
      'Campaign K1',
      'Campaign K12',
      'Camp',
      'Old fair',
      '',
      null,
      'Other [#0000000000]',
      'X [#a',
    ],
    ...keys.map((key) => `Campaign ${key} [#${tokenOf('1', key)}]`),
  )
  const campaign = fc.record({ name, carried: fc.constantFrom('', ...keys) })
  const arbitrary = fc.record({
    campaigns: fc.array(campaign, { maxLength: 12 }),
    others: fc.array(fc.tuple(fc.nat(11), fc.constantFrom(null, ...keys)), { maxLength: 4 }),
    ruledOut: fc.array(fc.nat(14), { maxLength: 4 }),
    facts: fc.record({ isCounted: fc.boolean(), keepsTokens: fc.constantFrom(true, false, null) }),
  })
  fc.assert(
    fc.property(arbitrary, ({ campaigns, others, ruledOut, facts }) => {
      const all = campaigns.map(({ name, carried }, n) => ({
        ...{ id: String(n), name, other: { targeting: { externalCampaignId: carried } } },
      })) as unknown as Campaign[]
      const put = new Map(others.map(([n, key]) => [String(n), key]))
      const out = new Set(ruledOut.map(String))
      const absence = new Absence(
        inputOf(keys, all, {
          facts: { account: '1', approvedAt: 1, ...facts },
          others: [...put].map(([id, key]) => ({ id, key })),
          newEntries: new Map([['K1', [...out]]]),
        }),
      )
      const wanted = plain('Campaign K1')
      const isMine = (one: Campaign) => one.name?.includes(tokenOf('1', 'K1')) === true
      const isLike = ({ name }: Campaign) =>
        typeof name !== 'string' ||
        (plain(bareName(name)) !== '' && wanted.startsWith(plain(bareName(name))))
      const rank = (one: Campaign) =>
        isMine(one) ? 0 : isLike(one) ? 1 : isMarked(one.name) ? 2 : 3
      const isOpen = !facts.isCounted || facts.keepsTokens === false
      const expected = all
        .filter(({ id }) => !out.has(id))
        .filter((one) => {
          const other = put.get(one.id)
          const carries = campaigns[Number(one.id)]?.carried === 'K1'
          return isOpen || other === null || other === 'K1' || carries || rank(one) < 3
        })
        .sort((a, b) => rank(a) - rank(b))

      const { count, likeliest } = absence.candidates('K1', 'Campaign K1', 5)

      expect(likeliest.map(({ id }) => id)).toEqual(expected.slice(0, 5).map(({ id }) => id))
      expect(count).toBe(expected.length)
    }),
  )
})
