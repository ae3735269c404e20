import { describe, expect, it } from 'vitest'
import { listCampaigns } from '../../../src/campaigns/service/campaign-listing.ts'
import type { Knobs } from '../../../src/sandbox/knobs.ts'
import { forever, idsOf, openAccount } from '../../helpers/campaigns/account.ts'
import { afterPage } from '../../helpers/sandbox/served.ts'

async function accountOf(count: number, knobs: Partial<Knobs>) {
  const account = await openAccount(knobs)
  for (let n = 0; n < count; n++)
    account.sandbox.campaigns.create('123', { name: `C${n}`, status: (1 + (n % 3)) as 1 | 2 | 3 })
  const list = () => {
    const { api, clock } = account
    return listCampaigns({ search: api.search, clock }, forever)
  }
  const all = () => account.sandbox.campaigns.all.map(({ id }) => id).sort()
  return { ...account, list, all }
}

describe('a complete listing', () => {
  it.each([
    [0, {}],
    [1, {}],
    [1, { start: 'ignored' }],
    [25, {}],
    [25, { pageSize: 4 }],
    [25, { pageSize: 4, start: 0 }],
    [24, { pageSize: 4 }],
    [24, { pageSize: 4, listArchived: false }],
    [25, { pageSize: 4, largestNum: 100 }],
    [25, { pageSize: 5, listField: 'items' }],
  ] as const)('holds each of %i campaigns, archived ones too, with %o', async (count, knobs) => {
    const { list, all } = await accountOf(count, knobs)

    const listing = await list()

    expect(listing.kind).toBe('complete')
    expect('campaigns' in listing && idsOf(listing.campaigns.values()).sort()).toEqual(all())
  })

  it.each([
    [{ pageSize: 4, start: 'ignored' }, 'Start is ignored'],
    [{ pageSize: 4, unsorted: true }, 'do not fit together'],
    [{ fromCache: true }, 'from a cache'],
    [{ pageSize: 1 }, 'one campaign only'],
  ] as const)('is not claimed with %o, for the reason "%s"', async (knobs, why) => {
    const { list } = await accountOf(25, knobs)

    const listing = await list()

    expect(listing.kind).toBe('incomplete')
    expect(listing).toHaveProperty('reason', expect.stringContaining(why))
  })

  it('holds all campaigns without a second walk if some disappear between pages', async () => {
    const { list, sandbox, all, waits } = await accountOf(25, { pageSize: 4, listArchived: false })
    let edits = 2
    afterPage(sandbox, () => {
      if (edits-- > 0) sandbox.campaigns.all.splice(0, 1)
    })

    const listing = await list()

    expect(listing.kind).toBe('complete')
    expect('campaigns' in listing && idsOf(listing.campaigns.values())).toEqual(
      expect.arrayContaining(all()),
    )
    expect(waits).toEqual([])
  })

  it('walks again after a second while campaigns appear between pages, and then holds all of them', async () => {
    const { list, sandbox, all, waits } = await accountOf(25, { pageSize: 4, listArchived: false })
    let edits = 2
    afterPage(sandbox, () => {
      if (edits-- <= 0) return
      sandbox.campaigns.create('123', { name: 'new' })
      sandbox.campaigns.all.unshift(...sandbox.campaigns.all.splice(-1))
    })

    const listing = await list()

    expect(listing.kind).toBe('complete')
    expect('campaigns' in listing && idsOf(listing.campaigns.values())).toEqual(
      expect.arrayContaining(all()),
    )
    expect(waits[0]).toBe(1000)
  })

  it('is not claimed, for that reason, while a row has no id; the other rows are still listed', async () => {
    const { clock } = await openAccount()
    const page = { total: 2, startNum: 1, endNum: 2, numRequested: 2, fromCache: false }
    const more = { self: null, elapsed: 1, listField: 'rows', withoutId: 1 }
    const value = { campaigns: [{ id: '1', status: 1, other: {} }], ...page, ...more }

    const search = async () => ({ kind: 'ok', value }) as const
    const listing = await listCampaigns({ search, clock }, forever)

    expect(listing).toMatchObject({
      ...{ kind: 'incomplete', reason: 'a page has campaigns without an id (1)' },
    })
    expect('campaigns' in listing && idsOf(listing.campaigns.values())).toEqual(['1'])
  })

  it.each([
    [0, 'complete'],
    [null, 'incomplete'],
    [3, 'incomplete'],
  ])('is proven by an empty answer only with total 0: with %j it is %s', async (total, kind) => {
    const { clock } = await openAccount()
    const page = { total, startNum: null, endNum: null, numRequested: null, fromCache: null }
    const more = { self: null, elapsed: 1, listField: '', withoutId: 0, campaigns: [] }

    const search = async () => ({ kind: 'ok', value: { ...page, ...more } }) as const

    expect((await listCampaigns({ search, clock }, forever)).kind).toBe(kind)
  })

  it('becomes a failure if a request fails', async () => {
    const { list, sandbox } = await accountOf(1, {})
    sandbox.faults.add({ at: 'service', kind: 'signature-mismatch' })

    expect(await list()).toMatchObject({ kind: 'failure', class: 'credentials' })
  })
})
