import { describe, expect, it } from 'vitest'
import { CampaignsSite } from '../../helpers/campaigns/campaigns-site.ts'
import { Site } from '../../helpers/site.ts'

const json = (text: string) => JSON.parse(text)

describe('feedsyncd campaigns search, get, create and update', () => {
  it('create, read, change and find a campaign', async () => {
    await using site = await Site.open()
    const targeting = '{"externalCampaignId":"NUR","postalCodes":["02139"]}'

    const created = await site.run(
      ...['campaigns', 'create', '--name', 'Nurses Q1', '--budget', '1500.50', '--yes', '--json'],
      ...['--period', 'monthly', '--start-date', '2027-01-04', '--targeting', targeting],
    )
    const { id } = json(created.stdout)
    const updated = await site.run(
      ...['campaigns', 'update', id, '--budget', '90', '--end-date', 'none', '--yes', '--json'],
    )
    const got = await site.run('campaigns', 'get', id)
    const found = await site.run('campaigns', 'search', '--status', 'running', '--name', 'Nurses')

    expect(json(created.stdout)).toMatchObject({ budget: 1500.5, period: 1, status: 1 })
    expect(json(created.stdout)).toMatchObject({ startDate: '2027-01-04T00:00:00Z' })
    expect(json(updated.stdout)).toMatchObject({ schemaVersion: 1, budget: 90, endDate: null })
    expect(got.stdout).toMatch(/^name +Nurses Q1$/m)
    expect(got.stdout).toMatch(/^budget +90\.00$/m)
    expect(found.stdout).toMatch(new RegExp(`^${id} +running +Nurses Q1 +90\\.00 +monthly`, 'm'))
    expect([created, updated, got, found].map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(site.sandbox.campaigns.all[0]?.targeting).toMatchObject({ postalCodes: ['02139'] })
  })

  it('read a date without a time as the first second of that day for a start, and the last one for an end', async () => {
    await using site = await Site.open()
    const dates = ['--start-date', '2037-03-31', '--end-date', '2037-03-31']

    await site.run('campaigns', 'create', '--name', 'A day', '--budget', '9', '--yes', ...dates)
    const [created] = structuredClone(site.sandbox.campaigns.all)
    const later = ['--end-date', '2037-04-30', '--yes']
    await site.run('campaigns', 'update', created?.id ?? '', ...later)

    expect(created).toMatchObject({
      ...{ startDate: '2037-03-31T00:00:00Z', endDate: '2037-03-31T23:59:59Z' },
    })
    expect(site.sandbox.campaigns.all).toMatchObject([{ endDate: '2037-04-30T23:59:59Z' }])
  })

  it('send and show a name, a position and the address of a page exactly, and refuse a position above 2^31 - 1', async () => {
    await using site = await Site.open()
    const name = '  Night  nurses\u00a0(A\u0308) '

    const created = await site.run('campaigns', 'create', '--name', name, '--yes', '--json')
    const page = ['--name', 'Night  nurses', '--start', '2147483647', '--num', '2147483647']
    const found = await site.run('campaigns', 'search', ...page, '--json')
    const tooFar = await site.run('campaigns', 'search', '--start', '2147483648')

    expect(site.sandbox.campaigns.all[0]?.name).toBe(name)
    expect(json(created.stdout).name).toBe(name)
    expect(json(found.stdout).self).toBe(
      `${site.sandbox.url}/v1/campaigns?Name=Night%20%20nurses&Start=2147483647&Num=2147483647`,
    )
    expect([found.code, tooFar.code]).toEqual([0, 64])
  })

  it('show a name that is an empty text on the service', async () => {
    await using site = await Site.open()
    const { id } = site.sandbox.campaigns.create('123', { name: '', budget: 9 })

    const got = await site.run('campaigns', 'get', id)

    expect(got.stdout).toMatch(/^name *$/m)
  })

  it.each(
    [
      ['create', '--yes'],
      ['create', '--yes', '--name', ' '],
      ['create', '--name', 'A'],
      ['create', '--yes', '--name', 'A', '--budget', '1e3'],
      ['create', '--yes', '--name', 'A', '--start-date', '2027-02-30'],
      ['create', '--yes', '--name', 'A', '--targeting', '{"postalCodes":[2139]}'],
      ['create', '--yes', '--name', 'A', '--targeting', '{"states":["MA"]}'],
      ['create', '--yes', '--name', 'A', '--start-date', '2027-01-04', '--end-date', '2027-01-03'],
      ['create', '--yes', '--name', 'A', '--end-date', '2027-02-29'],
      ['create', '--yes', '--name', 'A', '--targeting', '{"stateProvCodes":["MAS"]}'],
      [
        ...['create', '--yes', '--name', 'A', '--targeting'],
        '{"cities":[{"name":"B","stateProvCode":"M"}]}',
      ],
      ['update', '1', '--yes'],
      ['update', '1', '--yes', '--end-date', '2027-13-01'],
      ['update', '', '--yes', '--budget', '1'],
      ['update', '..', '--yes', '--budget', '1'],
      ['get', ''],
      ['get', '.'],
      ['get', '..'],
      ['update', '1', '--yes', '--start-date', '2027-01-04'],
      ['search', '--status', 'on'],
    ].map((words) => ({ words })),
  )('end with 64 and make no call for $words', async ({ words }) => {
    await using site = await Site.open()

    const ran = await site.run('campaigns', ...words)

    expect(ran).toMatchObject({ code: 64, stdout: '' })
    expect(ran.stderr).toContain('error: ')
    expect(site.sandbox.requests()).toEqual([])
  })

  it.each([
    [{ kind: 'signature-mismatch' }, 4],
    [{ kind: 'answer', status: 404 }, 1],
    [{ kind: 'answer', status: 503, retryAfter: '3600' }, 75],
  ] as const)(
    'if the service answers %o, end with exit code %i and a next step',
    async (fault, code) => {
      await using site = await Site.open()
      site.sandbox.faults.add({ at: 'service', ...fault })

      const ran = await site.run('campaigns', 'get', '7')

      expect(ran).toMatchObject({ code, stdout: '' })
      expect(ran.stderr).toMatch(/^error: .+\ntry: .+\n$/)
    },
  )

  it('show a create or update, and send it only after a yes', async () => {
    await using vendor = await CampaignsSite.open(null)
    const create = ['create', '--name', 'Nurses', '--budget', '9']
    const update = ['update', '48001', '--budget', '12', '--targeting', '{"jobTitles":["nurse"]}']

    const refused = await vendor.asking(() => false, ...create)
    const created = await vendor.asking(() => true, ...create)
    const updated = await vendor.asking(() => true, ...update)

    expect(refused).toMatchObject({ code: 3, stdout: '' })
    expect(refused.stderr).toBe(`a new campaign
    name: Nurses
    budget: 9.00
    targeting: every posting of the account
nothing was sent
`)
    expect(created.code).toBe(0)
    expect(updated.stderr).toBe(`campaign 48001 "Nurses"
    budget: 9.00 -> 12.00  [can spend more]
    targeting.jobTitles: (not known) -> nurse  [can spend more]
`)
    expect(vendor.writes()).toBe(2)
    expect(vendor.all).toMatchObject([{ budget: 12, targeting: { jobTitles: ['nurse'] } }])
  })

  it('send no update, and say so, if the campaign changed after it was shown', async () => {
    await using vendor = await CampaignsSite.open(null)
    const { id } = vendor.site.sandbox.campaigns.create('123', { name: 'A', budget: 9 })
    const meanwhile = () => {
      vendor.campaign(id).budget = 5
      return true
    }

    const updated = await vendor.asking(meanwhile, 'update', id, '--budget', '8')

    expect(updated).toMatchObject({ code: 1, stdout: '' })
    expect(updated.stderr).toContain(`campaign ${id} changed meanwhile, so nothing was sent`)
    expect(vendor.campaign(id).budget).toBe(5)
  })

  it('send a create only once if its answer was lost, say how to look for it, and record it in the history', async () => {
    await using site = await Site.open()
    site.sandbox.faults.add({
      ...{ at: 'service', kind: 'commit-drop', how: 'rst', route: 'campaign-create' },
    })

    const ran = await site.run('campaigns', 'create', '--name', 'Nurses', '--budget', '9', '--yes')
    const history = await site.run('campaigns', 'history', '--json')

    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expect(ran.stderr).toContain('try: before you repeat the command, look for the campaign: ')
    expect(site.sandbox.campaigns.all).toHaveLength(1)
    expect(json(history.stdout).entries).toMatchObject([
      { what: 'unknown', action: 'create', by: expect.stringContaining('campaigns create') },
    ])
  })
})
