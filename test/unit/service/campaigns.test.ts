import { describe, expect, it } from 'vitest'
import { readCampaign, readPage } from '../../../src/campaigns/service/campaign-answer.ts'
import { Unusable } from '../../../src/service/json-answer.ts'
import { forever, granted, openAccount } from '../../helpers/campaigns/account.ts'

const json = (value: unknown) => Buffer.from(JSON.stringify(value))

describe('the campaign client', () => {
  it('creates a campaign with every documented field and reads it back', async () => {
    const { api, sandbox } = await openAccount()
    const body = {
      name: 'Nurses & Carers – Q1',
      startDate: '2027-01-04T00:00:00Z',
      endDate: '2027-03-31T00:00:00Z',
      autoBidLevel: 'standard',
      cpc: 0.8,
      maxCpc: 1.2,
      paidCpaGoal: 12.5,
      budget: 1500,
      period: 1,
      targeting: { externalCampaignId: 'NUR-Q1', cities: [{ name: 'Köln', stateProvCode: 'NW' }] },
      status: 3,
    }

    const created = granted(await api.create(body, forever))
    const read = granted(await api.get(created.id, forever))

    const { targeting, ...readable } = body
    expect(read).toEqual(created)
    expect(read).toMatchObject({ ...readable, accountId: '123', spend: 0, sponsoredPostings: 0 })
    expect(sandbox.campaigns.all[0]?.targeting).toMatchObject(targeting)
  })

  it('changes only the given fields by an update, and creates nothing', async () => {
    const { api, sandbox } = await openAccount()
    const { id } = granted(await api.create({ name: 'Drivers', budget: 900, cpc: 1 }, forever))

    const updated = granted(await api.update(id, { budget: 800, endDate: null }, forever))

    expect(updated).toMatchObject({ name: 'Drivers', budget: 800, cpc: 1, endDate: null })
    expect(sandbox.campaigns.all).toHaveLength(1)
  })

  it('never sends a field that the call does not document', async () => {
    const { api } = await openAccount()
    const extended = { name: 'Cooks', startDate: '2027-01-04T00:00:00Z', spend: 5 }
    const { id } = granted(await api.create(extended, forever))

    const updated = await api.update(id, { ...extended, name: 'Chefs' }, forever)

    // The sandbox refuses an update with startDate or spend.
    expect(granted(updated)).toMatchObject({ name: 'Chefs' })
  })

  it('searches by status, name, start and number, and returns the numbers of the page', async () => {
    const { api } = await openAccount()
    for (const [name, status] of Object.entries({ 'A & B': 1, 'A C': 3, 'A D': 1, E: 1 }))
      granted(await api.create({ name, status }, forever))

    const page = granted(await api.search({ status: 1, name: 'A ', start: 2, num: 1 }, forever))

    expect(page).toMatchObject({ total: 2, startNum: 2, endNum: 2, numRequested: 1 })
    expect(page.campaigns.map(({ name }) => name)).toEqual(['A D'])
    expect(page).toMatchObject({ fromCache: false, listField: 'campaigns' })
  })

  it('sends a create once, as refused, if the answer is 400, even if the clocks differ', async () => {
    const { api, sandbox, calls } = await openAccount()
    sandbox.faults.add({ at: 'service', kind: 'date', skewMs: 20 * 60_000 })
    sandbox.faults.add({ at: 'service', kind: 'answer', status: 400, times: 1 })

    const created = await api.create({ name: 'Cooks' }, forever)

    expect(created).toMatchObject({ kind: 'failure', effect: 'refused' })
    expect(calls('campaign-create')).toBe(1)
  })

  it('repeats a read that can succeed later, after the waits of Retry-After', async () => {
    const { api, sandbox, calls, waits } = await openAccount()
    const { id } = granted(await api.create({ name: 'Cooks' }, forever))
    sandbox.faults.add({ at: 'service', kind: 'answer', status: 503, times: 2, retryAfter: '7' })

    const read = await api.get(id, forever)

    expect(granted(read)).toMatchObject({ id })
    expect(calls('campaign-get')).toBe(3)
    expect(waits).toEqual([7000, 7000])
  })

  it('sends an update once if its answer is lost, and reports an unknown effect', async () => {
    const { api, sandbox, calls } = await openAccount()
    const { id } = granted(await api.create({ name: 'Cooks' }, forever))
    sandbox.faults.add({ at: 'service', kind: 'drop', point: 'headers', how: 'rst', times: 1 })

    const updated = await api.update(id, { budget: 5 }, forever)

    expect(updated).toMatchObject({ kind: 'failure', effect: 'unknown' })
    expect(calls('campaign-update')).toBe(1)
  })

  it.each([
    [{ kind: 'answer', status: 500 }, 'unknown'],
    [{ kind: 'answer', status: 503 }, 'unknown'],
    [{ kind: 'answer', status: 429 }, 'unknown'],
    [{ kind: 'answer', status: 408 }, 'unknown'],
    [{ kind: 'answer', status: 302 }, 'unknown'],
    [{ kind: 'answer', status: 200, body: '<html>log in</html>' }, 'unknown'],
    [{ kind: 'drop', point: 'headers', how: 'rst' }, 'unknown'],
    [{ kind: 'commit-drop', how: 'fin' }, 'unknown'],
    [{ kind: 'json', variant: 'empty-object' }, 'unknown'],
    [{ kind: 'answer', status: 400 }, 'refused'],
    [{ kind: 'answer', status: 422 }, 'refused'],
    [{ kind: 'answer', status: 403 }, 'refused'],
    [{ kind: 'answer', status: 409 }, 'unknown'],
  ] as const)(
    'sends a create once if the answer is %o, and reports the effect %s',
    async (fault, effect) => {
      const { api, sandbox, calls } = await openAccount()
      sandbox.faults.add({ at: 'service', ...fault })

      const answer = await api.create({ name: 'Cooks' }, forever)

      expect(answer).toMatchObject({ kind: 'failure', effect })
      expect(calls('campaign-create')).toBe(1)
    },
  )

  it('sends nothing for a partner without an account even if a name or an id contains "bulk"', async () => {
    const { api, sandbox } = await openAccount({}, { identity: { partner: 'acme' } })

    const answers = [
      await api.search({ name: 'bulk hiring' }, forever),
      await api.get('bulk-1', forever),
      await api.update('bulk-1', { budget: 5 }, forever),
    ]

    for (const answer of answers)
      expect(answer).toMatchObject({ class: 'configuration', effect: 'not-sent' })
    expect(sandbox.requests()).toEqual([])
  })

  it('reports a create as not sent, and as a temporary failure, if nobody listens', async () => {
    const { api, sandbox } = await openAccount()
    await sandbox.close()

    const answer = await api.create({ name: 'Cooks' }, forever)

    expect(answer).toMatchObject({ class: 'temporary', effect: 'not-sent', status: null })
  })

  it('keeps status and message of a refusal, without secrets', async () => {
    const { api, sandbox } = await openAccount()
    const body = '{"message":"a-secret-of-the-campaign-tests is wrong"}'
    sandbox.faults.add({ at: 'service', kind: 'answer', status: 422, body })

    const answer = await api.create({ name: 'Cooks' }, forever)

    const reason = 'the service answered 422: [secret] is wrong'
    expect(answer).toMatchObject({ class: 'refused', status: 422, reason })
  })

  it.each([
    [401, 'credentials'],
    [403, 'credentials'],
    [404, 'missing'],
    [409, 'refused'],
    [410, 'missing'],
    [500, 'temporary'],
  ])('classifies the answer %i to a read as %s', async (status, kind) => {
    const { api, sandbox } = await openAccount()
    sandbox.faults.add({ at: 'service', kind: 'answer', status })

    expect(await api.get('1', forever)).toMatchObject({ class: kind, status })
  })
})

describe('a partner without a partner account', () => {
  it('sends no campaign call, and names the key to set', async () => {
    const { api, sandbox } = await openAccount({}, { identity: { partner: 'acme' } })
    const failure = {
      ...{ kind: 'failure', class: 'configuration', effect: 'not-sent', status: null },
      hint: expect.stringContaining('service.partnerAccount'),
    }

    for (const call of [
      api.search({}, forever),
      api.get('1', forever),
      api.create({ name: 'Cooks' }, forever),
      api.update('1', { budget: 1 }, forever),
    ])
      expect(await call).toMatchObject(failure)
    expect(sandbox.requests()).toEqual([])
  })
})

describe('an id that would name another route', () => {
  it.each(['', '.', '..'])('is not sent, and a read reports it as missing: %j', async (id) => {
    const { api, sandbox } = await openAccount()

    expect(await api.get(id, forever)).toMatchObject({ class: 'missing', effect: 'not-sent' })
    expect(await api.update(id, { budget: 1 }, forever)).toMatchObject({ effect: 'not-sent' })
    expect(sandbox.requests()).toEqual([])
  })
})

describe('an answer about a campaign', () => {
  it('keeps unknown fields, and documented fields of another type, apart from the known', () => {
    const body = json({ id: 7, name: null, budget: '12', spend: null, leads: 3, colour: 'red' })

    const campaign = readCampaign(body)

    const other = { budget: '12', spend: null, colour: 'red' }
    expect(campaign).toEqual({ id: '7', name: null, leads: 3, other })
  })

  it.each([['{}'], ['{"id":""}'], ['{"id":9007199254740993}'], ['[]'], ['null'], [''], ['<']])(
    'is unreadable as %s',
    (body) => {
      expect(() => readCampaign(Buffer.from(body))).toThrow(Unusable)
    },
  )

  it('finds the list by its content, whatever its name', () => {
    const items = [{ id: '1' }]
    const lists = [
      [json({ total: 1, results: items }), 'results'],
      [json({ errors: [], results: items, tags: ['a'] }), 'results'],
      [json({ results: [] }), 'results'],
      [json(items), ''],
    ] as const

    for (const [body, listField] of lists) expect(readPage(body)).toMatchObject({ listField })
  })

  it('refuses to guess between two lists, and names them', () => {
    const body = json({ results: [{ id: '1' }], recent: [{ id: '2' }] })

    expect(() => readPage(body)).toThrow('results, recent')
  })

  it('never reads a missing or broken list as an empty list', () => {
    const bodies = [
      {},
      { total: 1 },
      { total: null },
      { list: [{ name: 'x' }] },
      { list: [{ id: '1' }, 5] },
    ]

    for (const body of bodies) expect(() => readPage(json(body))).toThrow(Unusable)
  })

  it.each([{ total: 0 }, { total: 0, campaigns: null }, { total: 0, tags: [], errors: [] }])(
    'is an empty page if %j has no list',
    (body) => {
      const value = { campaigns: [], total: 0, withoutId: 0 }
      expect(readPage(json(body))).toMatchObject(value)
    },
  )

  it('keeps a page with rows that have no usable id, and counts these rows', () => {
    const rows = [{ id: '1' }, { name: 'x' }, { id: null, name: 'y' }, { id: '..' }, { id: 3 }]
    const page = readPage(json({ total: 5, rows }))
    expect(page).toMatchObject({ withoutId: 3, listField: 'rows' })
    expect(page.campaigns).toHaveLength(2)
  })

  it('accepts an answer without an id, but not with another or an unusable id', () => {
    const answers = [
      { name: 'x' },
      { id: null, name: 'x' },
      { id: '7', name: 'x' },
      { id: 7, name: 'x' },
    ]
    for (const answer of answers)
      expect(readCampaign(json(answer), '7')).toEqual({ id: '7', name: 'x', other: {} })
    for (const id of ['8', '', '..', 7.5, true, {}])
      expect(() => readCampaign(json({ id }), '7')).toThrow(Unusable)
  })
})
