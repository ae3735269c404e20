import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CampaignsSite } from '../../helpers/campaigns/campaigns-site.ts'
import { entry, fileOf } from '../../helpers/campaigns/reconciling.ts'
import type { Site } from '../../helpers/site.ts'

const json = (text: string) => JSON.parse(text)

describe('feedsyncd campaigns plan and apply', () => {
  it('ends with 3 when a guard holds something, and does the rest', async () => {
    await using vendor = await CampaignsSite.open(
      fileOf(entry('A'), entry('B').replace('100.00', '9000.00')),
    )

    const planned = await vendor.campaigns('plan')
    const applied = await vendor.campaigns('apply', '--yes')

    expect(planned.code).toBe(3)
    expect(planned.stdout).toContain('guards.maxBudget is 5000.00')
    expect(applied.code).toBe(3)
    expect(vendor.all).toHaveLength(1)
  })

  it('settles a create whose answer was lost automatically, with one POST', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    const fault = { at: 'service', kind: 'commit-drop', how: 'rst' } as const
    vendor.site.sandbox.faults.add({ ...fault, route: 'campaign-create' })

    const applied = await vendor.campaigns('apply', '--yes', '--json')
    const again = await vendor.campaigns('plan')

    expect(json(applied.stdout).results).toMatchObject([
      { outcome: 'adopted', campaignId: '48001' },
    ])
    expect(again.code).toBe(0)
    expect(vendor.all).toHaveLength(1)
  })

  it('tells by status what the last plan saw, without a look of the daemon', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    await vendor.campaigns('apply', '--yes')
    const [campaign] = vendor.all
    if (campaign !== undefined) campaign.budget = 9999

    const plan = await vendor.campaigns('plan')
    const status = await vendor.campaigns('status')

    expect([plan.code, status.code]).toEqual([0, 3])
    expect(status.stdout).toContain('budget was changed on the service from 100.00 to 9999.00')
  })

  it('says which value was accepted, where another one was seen before', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    await vendor.campaigns('apply', '--yes')
    const [campaign] = vendor.all
    if (campaign === undefined) throw new Error('not made')
    campaign.budget = 300
    await vendor.campaigns('plan')
    campaign.budget = 350

    const accepted = await vendor.campaigns('resolve', 'A', '--accept')
    const reverted = await vendor.campaigns('resolve', 'A', '--revert')
    const history = await vendor.campaigns('history', 'A')

    expect(accepted.stdout).toBe('A: budget 350.00 may stay as it is on the service\n')
    expect(reverted.stdout).toContain('the next apply writes budget 100.00 as in the file')
    expect(history.stdout).toContain('budget 350.00: may stay as on the service')
  })

  it('holds a create that nobody can prove until a person says what became of it', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A'), entry('B')))
    const fault = { at: 'service', kind: 'drop', point: 'headers', how: 'rst' } as const
    vendor.site.sandbox.faults.add({ ...fault, route: 'campaign-create', times: 1 })

    const first = await vendor.campaigns('apply', '--yes')
    const second = await vendor.campaigns('apply', '--yes')
    const early = await vendor.campaigns('create', 'A', '--new')
    vendor.anHourAgo()
    const resolved = await vendor.campaigns('create', 'A', '--new', '--json')
    const third = await vendor.campaigns('apply', '--yes')

    expect([first.code, second.code, early.code, resolved.code, third.code]).toEqual([
      3, 3, 75, 0, 0,
    ])
    expect(first.stdout).toMatch(/^unknown A: .*\ncreated B/)
    expect(second.stdout).toBe('nothing to do\n')
    expect(third.stdout).toMatch(/^created A/)
    expect(vendor.all).toHaveLength(2)
  })

  it('resolves a create that nobody can prove in the words of `resolve` as well', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    const fault = { at: 'service', kind: 'drop', point: 'headers', how: 'rst' } as const
    vendor.site.sandbox.faults.add({ ...fault, route: 'campaign-create', times: 1 })
    await vendor.campaigns('apply', '--yes')
    vendor.anHourAgo()

    const none = await vendor.campaigns('resolve', 'A')
    const two = await vendor.campaigns('resolve', 'A', '--not-created', '--recreate')
    const unknown = await vendor.campaigns('resolve', 'A', '--adopt', '99')
    const resolved = await vendor.campaigns('resolve', 'A', '--recreate')
    const applied = await vendor.campaigns('apply', '--yes')

    expect([none.code, two.code, unknown.code, resolved.code, applied.code]).toEqual([
      64, 64, 1, 0, 0,
    ])
    expect(applied.stdout).toMatch(/^created A/)
    expect(vendor.all).toHaveLength(1)
  })

  it.each(['--not-created', '--recreate'])(
    'resolve %s about a campaign that is there changes nothing',
    async (word) => {
      await using vendor = await CampaignsSite.open(fileOf(entry('A')))
      await vendor.campaigns('apply', '--yes')
      vendor.anHourAgo()

      const resolved = await vendor.campaigns('resolve', 'A', word)
      const applied = await vendor.campaigns('apply', '--yes')

      expect(resolved).toMatchObject({ code: 1 })
      expect(resolved.stderr).toMatch(/campaign 48001 .* is there[\s\S]*campaigns create A --new/)
      expect(applied.stdout).toBe('nothing to do\n')
      expect(vendor.all).toMatchObject([{ status: 1 }])
    },
  )

  it('stops every write for a file that is broken, empty, cut short or missing', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')), {
      campaigns: { file: 'campaigns.yaml' },
    })
    const path = join(vendor.site.root, 'campaigns.yaml')
    const tries = ['', fileOf(entry('A')).slice(0, 48), fileOf(entry('A', 'budgte: 3'))]

    for (const text of tries) {
      writeFileSync(path, text)
      const ran = await vendor.campaigns('apply', '--yes')
      expect(ran.code).toBe(78)
      expect(ran.stderr).toMatch(/^.*campaigns\.yaml:\d+:\d+ /)
    }
    writeFileSync(join(vendor.site.root, 'feedsyncd.yaml'), await renamed(vendor.site))
    const missing = await vendor.campaigns('apply', '--yes')
    const status = await vendor.campaigns('status')

    expect(missing).toMatchObject({ code: 78 })
    expect(missing.stderr).toContain('other.yaml does not exist')
    expect(status.code).toBe(3)
    expect(vendor.writes()).toBe(0)
  })

  it('is off, and says so, without a campaigns file', async () => {
    await using vendor = await CampaignsSite.open(null)

    const status = await vendor.campaigns('status')
    const planned = await vendor.campaigns('plan')

    expect(status).toMatchObject({ code: 0 })
    expect(status.stdout).toMatch(/^off: there is no campaigns file at .*campaigns\.yaml/)
    expect(planned.code).toBe(78)
  })

  it('adopts a campaign for an entry at a person’s word, and writes nothing to it', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    vendor.site.sandbox.campaigns.create('123', { name: 'By hand', budget: 7 })

    const adopted = await vendor.campaigns('adopt', 'A', '48001')
    const twice = await vendor.campaigns('adopt', 'B', '48001')
    const forgotten = await vendor.campaigns('forget', 'A')

    expect([adopted.code, twice.code]).toEqual([0, 1])
    expect(vendor.all[0]).toMatchObject({ budget: 7, name: 'By hand' })
    expect(forgotten.code).toBe(0)
    expect(vendor.writes()).toBe(0)
  })

  it('freezes a campaign after a write with a side effect, until a person checked it', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A', 'endDate: 2099-03-31')))
    await vendor.campaigns('apply', '--yes')
    const path = join(vendor.site.root, 'campaigns.yaml')
    const budget = (text: string) =>
      writeFileSync(path, fileOf(entry('A', 'endDate: 2099-03-31')).replace('100.00', text))
    const { all, knobs } = vendor.site.sandbox.campaigns
    knobs.sideEffect = { maxCpc: 3 }

    budget('90.00')
    await vendor.campaigns('apply', '--yes')
    knobs.sideEffect = null
    budget('95.00')
    const frozen = await vendor.campaigns('apply', '--yes')
    const checked = await vendor.campaigns('resolve', 'A', '--checked')
    const applied = await vendor.campaigns('apply', '--yes')

    expect([frozen.code, checked.code, applied.code]).toEqual([3, 0, 0])
    expect(all[0]?.budget).toBe(95)
  })

  it('shows a plan again, exports the account, and names who did what', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    await vendor.campaigns('plan')
    const shown = await vendor.campaigns('plan', 'show', '1')
    await vendor.campaigns('apply', '1')
    const exported = await vendor.campaigns('export')
    writeFileSync(join(vendor.site.root, 'campaigns.yaml'), exported.stdout)
    const planned = await vendor.campaigns('plan')
    const history = await vendor.campaigns('history', '--json')
    const status = await vendor.campaigns('status')

    expect(shown).toMatchObject({ code: 2 })
    expect(shown.stdout).toMatch(/^to do this: feedsyncd campaigns apply 1$/m)
    expect(planned).toMatchObject({ code: 0 })
    expect(planned.stdout).toContain('0 held, 0 unknown, 1 unchanged')
    expect(json(history.stdout).entries).toMatchObject([
      {
        key: 'A',
        event: 'created',
        cause: expect.stringMatching(/: campaigns apply 1$/),
        body: { budget: 100 },
      },
    ])
    expect(status.stdout).toMatch(
      /^A +48001 +Campaign A .*running +100\.00 +once +0\.00 +- +certain/m,
    )
  })

  it('direct calls obey the guards of the file, and stand in the history', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    await vendor.campaigns('apply', '--yes')

    const everything = await vendor.campaigns('create', '--name', 'X', '--budget', '10')
    const large = await vendor.campaigns(
      'create',
      '--name',
      'X',
      '--budget',
      '9000',
      '--all-postings',
    )
    const made = await vendor.campaigns('create', '--name', 'X', '--budget', '10', '--all-postings')
    const raised = await vendor.campaigns('update', '48001', '--budget', '900')
    const retargeted = await vendor.campaigns(
      'update',
      '48001',
      '--targeting',
      '{"externalCampaignId":"Z"}',
    )
    const status = json((await vendor.campaigns('status', '--json')).stdout)
    const history = json((await vendor.campaigns('history', '--json')).stdout)

    expect([everything.code, large.code, made.code, raised.code, retargeted.code]).toEqual([
      64, 1, 0, 1, 0,
    ])
    expect(large.stderr).toContain('guards.maxBudget is 5000.00')
    expect(raised.stderr).toContain('guards.raisePercent is 50')
    expect(status.campaigns).toMatchObject([{ targeting: 'uncertain' }])
    expect(history.entries).toMatchObject([
      { event: 'updated', cause: expect.stringContaining('update 48001') },
      { event: 'created', cause: expect.stringContaining('campaigns create') },
      { event: 'created' },
    ])
  })

  it('with a file that cannot be used nothing is raised, created or adopted by hand; less still goes', async () => {
    const file = fileOf(entry('A'), entry('B'))
    await using vendor = await CampaignsSite.open(`${file}guards: { maxBudget: "120.00" }\n`)
    await vendor.campaigns('apply', '--yes')
    await vendor.campaigns('forget', 'B')
    vendor.write(`${file}guards: { maxBudget: many }\n`)
    const create = ['create', '--name', 'X', '--budget', '10', '--all-postings']
    const codes = []

    const raised = await vendor.campaigns('update', '48001', '--budget', '140')
    for (const command of [
      create,
      ['adopt', 'A', '48002'],
      ['adopt', '--marked'],
      ['create', 'A', '--new'],
      ['resolve', 'A', '--revert'],
      ['update', '48001', '--budget', '40'],
      ['forget', 'A'],
    ])
      codes.push((await vendor.campaigns(...command)).code)

    expect(raised.code).toBe(78)
    expect(raised.stderr).toContain('maxBudget')
    expect(codes).toEqual([78, 78, 78, 78, 78, 0, 0])
    expect(vendor.all.map(({ budget }) => budget)).toEqual([40, 100])
  })

  it('says a warning of the configuration once, however often a command asks for it', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    vendor.site.configure({ feeds: [{ match: 'a/*.xml', partnerAccount: 'x' }] })

    const planned = await vendor.campaigns('plan')

    expect(planned.code).toBe(2)
    expect(planned.stderr.match(/^warning: /gm)).toHaveLength(1)
  })

  it('passes refused credentials on as 4', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    vendor.site.sandbox.faults.add({ at: 'service', kind: 'signature-mismatch' })

    expect(await vendor.campaigns('plan')).toMatchObject({ code: 4, stdout: '' })
  })
})

async function renamed(site: Site): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  return (await readFile(site.configFile, 'utf8')).replace('campaigns.yaml', 'other.yaml')
}
