import { describe, expect, it } from 'vitest'
import { CampaignsSite, DROPPED_CREATE } from '../../helpers/campaigns/campaigns-site.ts'
import { entry, fileOf } from '../../helpers/campaigns/file.ts'

/** feed returns four postings: nurses in Boston and Austin, a cook in Boston, and one without a campaign. */
function feed(): string {
  const jobs = [
    ['J-1', 'Nurse', 'Boston', 'MA', 'NUR'],
    ['J-2', 'Nurses', 'Austin', 'TX', 'NUR'],
    ['J-3', 'Cook', 'Boston', 'MA', 'COOK'],
    ['J-4', 'Clerk', 'Boston', 'MA', ''],
  ]
  const text = jobs.map(
    ([id, title, city, state, campaign]) =>
      `<job><referencenumber>${id}</referencenumber><requisitionid>R-${id}</requisitionid><title>${title}</title>` +
      `<city>${city}</city><state>${state}</state><campaignid>${campaign}</campaignid></job>`,
  )
  return `<source>${text.join('')}</source>`
}

/** uploaded returns a site whose feed was uploaded and whose file was applied and looked at. */
async function uploaded(...entries: string[]): Promise<CampaignsSite> {
  const vendor = await CampaignsSite.open(fileOf(...entries))
  vendor.site.drop('jobs.xml', feed())
  await vendor.site.run('run', '--once')
  expect(await vendor.apply()).toMatchObject({ code: 0 })
  return vendor
}

const CITY = (name: string) => `targeting: { cities: [{ name: ${name}, stateProvCode: MA }] }`

describe('feedsyncd campaigns covers', () => {
  it('lists the postings of a campaign, and says our count, the number of the service and what each criterion takes', async () => {
    await using vendor = await uploaded(entry('NUR', CITY('Boston')))

    const { code, stdout, stderr } = await vendor.campaigns('covers', 'NUR')
    const json = JSON.parse((await vendor.campaigns('covers', 'NUR', '--json')).stdout)

    expect(code).toBe(0)
    expect(stdout).toMatch(/^J-1 +Nurse +Boston +MA +- +R-J-1$/m)
    expect(stdout).not.toContain('J-2')
    expect(stderr).toMatch(
      /^campaign 48001 of NUR covers 1 of 4 postings by our count; the service says 1 \(asked /,
    )
    expect(stderr).toContain('2 postings carry the id NUR\n  cities takes 1 of them\n')
    expect(json).toMatchObject({ covered: 1, counted: 1, carrying: 2, postings: 4 })
  })

  it('names a misspelled city that leaves a campaign without postings, and status warns', async () => {
    await using vendor = await uploaded(entry('NUR', CITY('Bostn')))

    const covers = await vendor.campaigns('covers', 'NUR')
    const status = await vendor.campaigns('status')

    expect(covers.stderr).toContain(
      'cities takes 0 of them; none of them has Bostn MA (did you mean Boston MA?)',
    )
    expect(status.stdout).toMatch(/^NUR +in line +0 +0 +0\.00 +100\.00 +100\.00 +no end$/m)
    expect(status.stdout).toContain('its targeting leaves out all 2 postings that carry its id')
    expect(status.stdout).toMatch(
      /to see which criterion leaves them out\n +feedsyncd campaigns covers NUR --config/,
    )
  })

  it('ends with 64 for a key that does not exist, and names the nearest', async () => {
    await using vendor = await uploaded(entry('NUR'))

    expect(await vendor.campaigns('covers', 'NURS')).toMatchObject({
      ...{ code: 64, stderr: expect.stringContaining('the nearest is "NUR"') },
    })
  })
})

describe('feedsyncd campaigns why', () => {
  it('says for an id or a requisition which campaigns cover the posting, which criterion leaves it out, and whether it carries an id', async () => {
    await using vendor = await uploaded(entry('NUR', CITY('Boston')), entry('COOK'))

    const taken = await vendor.campaigns('why', 'J-1')
    const left = await vendor.campaigns('why', 'R-J-2')
    const none = await vendor.campaigns('why', 'J-4')

    expect([taken.code, left.code, none.code]).toEqual([0, 0, 0])
    expect(taken.stdout).toBe(`J-1: Nurse, Boston MA, requisition R-J-1
  it carries the id NUR
+ NUR (campaign 48001) covers it: cities Boston MA; externalCampaignId NUR
- another entry leaves it out: externalCampaignId
`)
    expect(left.stdout).toContain(
      '- NUR (campaign 48001) leaves it out: cities wants Boston MA, and the posting has Austin TX\n',
    )
    expect(none.stdout).toContain(
      '  it carries no external campaign id\n- 2 other entries leave it',
    )
  })

  it('also judges by a targeting in the file that is not sent yet', async () => {
    await using vendor = await uploaded(entry('NUR', CITY('Boston')))
    vendor.write(fileOf(entry('NUR', CITY('Austin').replace('MA', 'TX'))))

    expect((await vendor.campaigns('why', 'J-2')).stdout).toContain(
      '    with the targeting in the file, which is not sent yet, it covers it\n',
    )
  })

  it('ends with 64 for a posting that no upload has, and says so', async () => {
    await using vendor = await uploaded(entry('NUR'))

    expect(await vendor.campaigns('why', 'J-9')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('no posting of the last uploads has the id J-9'),
    })
  })
})

describe('feedsyncd campaigns status', () => {
  it('shows covered postings, spend and what is left, with a total, and warns of a budget that is almost spent', async () => {
    await using vendor = await uploaded(
      entry('NUR', 'period: monthly'),
      entry('COOK', '', '1500.00'),
    )
    vendor.site.sandbox.campaigns.setOutcome(vendor.campaign('48002'), { spend: 1400 })
    await vendor.site.run('run', '--once')

    const { stdout } = await vendor.campaigns('status')
    const { entries } = JSON.parse((await vendor.campaigns('status', '--json')).stdout)

    expect(stdout).toMatch(
      /^NUR +in line +2 +2 +0\.00 +100\.00 +100\.00 a month +renews in \d+ days?$/m,
    )
    expect(stdout).toMatch(/^COOK +in line +1 +1 +1,400\.00 +100\.00 +1,500\.00 +no end$/m)
    expect(stdout).toMatch(/^total +3 +3 +1,400\.00 +200\.00 +1,600\.00$/m)
    expect(stdout).toContain('campaign 48002 spent 1,400.00 of 1,500.00 (93 %)')
    expect(entries[1].coverage).toMatchObject({ covered: 1, counted: 1, left: '100.00' })
  })

  it('finds an entry by its name or by the id of its campaign', async () => {
    await using vendor = await uploaded(entry('NUR'), entry('COOK'))

    for (const name of ['campaign cook', '48002'])
      expect((await vendor.campaigns('status', name)).stdout).toMatch(/^key +COOK$/m)
  })
})

it('what a colleague changed on the service is in the plan and, once, in the history', async () => {
  await using vendor = await uploaded(entry('NUR'))
  vendor.campaign('48001').budget = 4000
  await vendor.site.run('run', '--once')
  await vendor.site.run('run', '--once')

  const plan = await vendor.campaigns('plan')
  const history = await vendor.campaigns('history', 'NUR', '--json')

  expect(plan.stdout).toMatch(
    /budget: 4000\.00 -> 100\.00 {2}\[spends less\]; you sent 100\.00 on [-\d]{10}, and somebody changed it to 4000\.00/,
  )
  const lines = JSON.parse(history.stdout).entries.map((one: { what: string; detail: string }) => [
    one.what,
    one.detail,
  ])
  expect(lines[0]).toEqual(['changed there', 'budget: 100.00 -> 4000.00  [can spend more]'])
  expect(lines.filter(([what]: string[]) => what === 'changed there')).toHaveLength(1)
})

it('a file without its last line break is not used by the daemon, status says so with the next step, and apply sends it', async () => {
  await using vendor = await uploaded(entry('NUR'))
  const text = fileOf(entry('NUR', CITY('Austin').replace('MA', 'TX')))
  vendor.write(text.trimEnd())
  await vendor.site.run('run', '--once')

  const status = await vendor.campaigns('status')
  const sent = vendor.writes()
  const applied = await vendor.apply()

  expect(status.stdout).toContain('it does not end in a line break')
  expect(status.stdout).toMatch(/if the file is complete\n +feedsyncd campaigns apply --config/)
  expect([sent, applied.code, vendor.writes()]).toEqual([1, 0, 2])
})

it('the plan of a removed entry whose campaign still spends ends with 2, has no change, and names the entry and its campaign', async () => {
  await using vendor = await uploaded(entry('NUR'), entry('COOK'))
  vendor.write(fileOf(entry('NUR')))

  const plan = await vendor.campaigns('plan', '--json')
  const { items, findings } = JSON.parse(plan.stdout)
  const outside = findings.filter(({ code }: { code: string }) => code === 'outside')

  expect(plan.code).toBe(2)
  expect(items).toEqual([])
  expect(outside.map(({ text }: { text: string }) => text)).toEqual([
    expect.stringMatching(
      /^the entry COOK is no longer in the file, but campaign 48002 .* still runs, and can spend up to 100\.00$/,
    ),
  ])
})

it('the clock of the service, not of this host, decides how long a create is unknown', async () => {
  await using vendor = await CampaignsSite.open(fileOf(entry('A')))
  vendor.site.sandbox.faults.add(DROPPED_CREATE)
  await vendor.apply()
  // Only the host's clock runs ahead by two hours; the service says that no time has passed.
  const real = vendor.site.clock
  vendor.site.clock = { ...real, now: () => real.now() + 7_200_000 }

  const plan = await vendor.campaigns('plan')

  expect(plan.code).toBe(3)
  expect(plan.stdout).toContain('? A: unknown: feedsyncd sent this campaign at ')
})
