import { describe, expect, it } from 'vitest'
import { quickClock } from '../../helpers/quick-clock.ts'
import { Site } from '../../helpers/site.ts'

const json = (text: string) => JSON.parse(text)

describe('feedsyncd campaigns', () => {
  it('creates, reads, changes and finds a campaign', async () => {
    await using site = await Site.open()
    const targeting = '{"externalCampaignId":"NUR","postalCodes":["02139"]}'

    const created = await site.run(
      ...['campaigns', 'create', '--name', 'Nurses Q1', '--budget', '1500.50', '--json'],
      ...['--period', 'monthly', '--start-date', '2027-01-04', '--targeting', targeting],
    )
    const { id } = json(created.stdout)
    const updated = await site.run(
      ...['campaigns', 'update', id, '--budget', '90', '--end-date', 'none', '--json'],
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

  it('shows a text that is empty on the service, which is another answer than none', async () => {
    await using site = await Site.open()
    const fields = ['--name', 'Nurses', '--budget', '9', '--all-postings', '--json']
    const { id } = json((await site.run('campaigns', 'create', ...fields)).stdout)
    Object.assign(site.sandbox.campaigns.all[0] ?? {}, { name: '' })

    const got = await site.run('campaigns', 'get', id)

    expect(got.stdout).toMatch(/^name *$/m)
  })

  it.each([
    ['create'],
    ['create', '--name', ' '],
    ['create', '--name', 'A', '--budget', '1e3'],
    ['create', '--name', 'A', '--start-date', '2027-02-30'],
    ['create', '--name', 'A', '--targeting', '{"postalCodes":[2139]}'],
    ['create', '--name', 'A', '--targeting', '{"states":["MA"]}'],
    ['create', '--name', 'A', '--start-date', '2027-01-04', '--end-date', '2027-01-04'],
    ['create', '--name', 'A', '--end-date', '2027-02-29'],
    ['create', '--name', 'A', '--targeting', '{"stateProvCodes":["MAS"]}'],
    ['create', '--name', 'A', '--targeting', '{"cities":[{"name":"B","stateProvCode":"M"}]}'],
    ['update', '1'],
    ['update', '1', '--end-date', '2027-13-01'],
    ['update', '', '--budget', '1'],
    ['update', '..', '--budget', '1'],
    ['get', ''],
    ['get', '.'],
    ['get', '..'],
    ['update', '1', '--start-date', '2027-01-04'],
    ['search', '--status', 'on'],
  ])('ends with 64 and asks nothing for: %s %s %s %s %s', async (...args) => {
    await using site = await Site.open()

    const ran = await site.run('campaigns', ...args.filter((arg) => arg !== undefined))

    expect(ran).toMatchObject({ code: 64, stdout: '' })
    expect(ran.stderr).toContain('error: ')
    expect(site.sandbox.requests()).toEqual([])
  })

  it.each([
    [{ kind: 'signature-mismatch' }, 4],
    [{ kind: 'answer', status: 404 }, 1],
    [{ kind: 'answer', status: 503, retryAfter: '3600' }, 75],
  ] as const)('ends as scripts can go by when the service answers %o: %i', async (fault, code) => {
    await using site = await Site.open()
    site.sandbox.faults.add({ at: 'service', ...fault })

    const ran = await site.run('campaigns', 'get', '7')

    expect(ran).toMatchObject({ code, stdout: '' })
    expect(ran.stderr).toMatch(/^error: .+\ntry: .+\n$/)
  })

  it('sends a create whose answer was lost once, and says to look first', async () => {
    await using site = await Site.open()
    site.sandbox.faults.add({
      ...{ at: 'service', kind: 'commit-drop', how: 'rst', route: 'campaign-create' },
    })

    const ran = await site.run(
      'campaigns',
      'create',
      '--name',
      'Nurses',
      '--budget',
      '9',
      '--all-postings',
    )

    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expect(ran.stderr).toContain('try: do not repeat it before a look')
    expect(site.sandbox.campaigns.all).toHaveLength(1)
  })

  it('status names the campaign of a direct write that nobody knows the end of, and where to look', async () => {
    await using site = await Site.open({}, { clock: quickClock() })
    for (const route of ['campaign-create', 'campaign-update'])
      site.sandbox.faults.add({ at: 'service', kind: 'commit-drop', how: 'rst', route, times: 9 })
    const fields = ['--name', 'Nurses', '--budget', '9', '--all-postings']
    await site.run('campaigns', 'create', ...fields)
    const id = String(site.sandbox.campaigns.all[0]?.id)
    await site.run('campaigns', 'update', id, '--budget', '8')

    const { code, stdout } = await site.run('campaigns', 'status')

    expect(code).toBe(3)
    expect(stdout).toMatch(/^\? Nurses: whether it was written/m)
    expect(stdout).toContain(
      'to go on: feedsyncd campaigns search --name "Nurses" shows it if it was',
    )
    expect(stdout).toContain(`? campaign ${id}: whether it was written`)
    expect(stdout).toContain(`to go on: feedsyncd campaigns get ${id} shows it`)
  })

  it('a create is not sent while the campaigns cannot be listed, and says so', async () => {
    await using site = await Site.open()
    site.sandbox.faults.add({
      ...{ at: 'service', kind: 'answer', status: 503, retryAfter: '3600' },
      ...{ route: 'campaign-search', times: 9 },
    })

    const ran = await site.run(
      ...['campaigns', 'create', '--name', 'Nurses', '--budget', '9', '--all-postings'],
    )

    expect(ran).toMatchObject({ code: 75, stdout: '' })
    expect(ran.stderr).toContain('the service answered 503')
    expect(ran.stderr).not.toContain('not known')
    expect(site.sandbox.campaigns.all).toEqual([])
  })

  it('an update lets a campaign select every posting only when that is said', async () => {
    await using site = await Site.open()
    const filters = ['--targeting', '{"jobTitles":["nurse"]}']
    await site.run('campaigns', 'create', '--name', 'Nurses', '--budget', '9', ...filters)
    const [made] = site.sandbox.campaigns.all
    const widen = ['campaigns', 'update', String(made?.id), '--targeting', '{"jobTitles":[]}']

    const refused = await site.run(...widen)
    const targeted = site.sandbox.campaigns.all[0]?.targeting
    const said = await site.run(...widen, '--all-postings')

    expect(refused).toMatchObject({ code: 64, stdout: '' })
    expect(refused.stderr).toContain('every posting of the account')
    expect(targeted).toMatchObject({ jobTitles: ['nurse'] })
    expect(said.code).toBe(0)
    expect(site.sandbox.campaigns.all[0]?.targeting).not.toMatchObject({ jobTitles: ['nurse'] })
  })
})
