import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { acquireLock } from '../../../src/history/instance-lock.ts'
import { HOUR } from '../../../src/lib/clock.ts'
import { CampaignsSite, DROPPED_CREATE } from '../../helpers/campaigns/campaigns-site.ts'
import { entry, fileOf } from '../../helpers/campaigns/file.ts'
import { feedOf } from '../../helpers/site.ts'

const json = (text: string) => JSON.parse(text)
const LOST = { at: 'service', kind: 'commit-drop', how: 'rst', route: 'campaign-create' } as const

/** applied returns a site whose file was applied. */
async function applied(...entries: string[]): Promise<CampaignsSite> {
  const vendor = await CampaignsSite.open(fileOf(...entries))
  expect(await vendor.apply()).toMatchObject({ code: 0 })
  return vendor
}

describe('feedsyncd campaigns plan', () => {
  it('writes nothing on this host or on the service, and prints the same while another process holds the lock', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    const state = join(vendor.site.root, 'state')

    const first = await vendor.campaigns('plan')
    const isMade = existsSync(state)
    using _writer = acquireLock(join(state, 'campaigns'))
    const second = await vendor.campaigns('plan')

    expect([first.code, second.code, isMade, vendor.writes()]).toEqual([2, 2, false, 0])
    expect(second.stdout).toBe(first.stdout)
  })

  it('says for each line how it changes spending, and which postings the entry selects', async () => {
    await using vendor = await applied(entry('A'), entry('B'))
    vendor.site.drop('jobs.xml', feedOf(4))
    await vendor.site.run('run', '--once')
    vendor.write(
      fileOf(
        entry('A', 'targeting: { jobTitles: [nurse 1] }\nbudget: "90.00"'),
        entry('B', 'budget: "150.00"\nendDate: 2037-03-31'),
      ),
    )

    const planned = await vendor.campaigns('plan')

    expect(planned.code).toBe(2)
    expect(planned.stdout).toContain(`
~ A: update campaign 48001
    budget: 100.00 -> 90.00  [spends less]
    targeting.jobTitles: any -> nurse 1  [spends less]
    the service does not show its targeting; feedsyncd last sent externalCampaignId: A
    postings: 2 -> 1
    now: 2 postings covered (2 by our count), 0.00 of 100.00 spent, 100.00 left

~ B: update campaign 48002
    budget: 100.00 -> 150.00  [can spend more]
    endDate: none -> 2037-03-31  [spends less]
    now: 2 postings covered (2 by our count), 0.00 of 100.00 spent, 100.00 left
`)
  })

  it('names blocked entries and findings, each with one next step, as text and as JSON, and ends with 3', async () => {
    await using vendor = await CampaignsSite.open(
      fileOf(entry('A', 'campaignId: "999"'), entry('B')),
    )
    vendor.site.sandbox.campaigns.create('123', { name: 'By hand', budget: 7 })

    const planned = await vendor.campaigns('plan')
    const asJson = json((await vendor.campaigns('plan', '--json')).stdout)

    expect(planned.code).toBe(3)
    expect(planned.stdout).toContain(`
! A: blocked: campaign 999 is gone
    next: correct campaignId in the entry A

findings:
  campaign 48001 "By hand" runs without an entry, and can spend up to 7.00
    next: write campaignId: "48001" into an entry, or pause the campaign: feedsyncd campaigns update 48001 --status paused --config ${vendor.site.configFile}
`)
    expect(asJson).toMatchObject({
      items: [{ key: 'B', campaignId: null, action: 'create', postings: null }],
      entries: [
        { key: 'A', state: 'blocked' },
        { key: 'B', state: 'new' },
      ],
      findings: [{ code: 'outside', campaignId: '48001' }],
      listing: { complete: true, campaigns: 1 },
    })
  })

  it('ends with 64 for an unknown key, without a call, and names the nearest, as apply, status and preview do', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('NUR-Q1')))

    for (const command of [['plan'], ['apply', '--lower'], ['status'], ['preview']]) {
      const ran = await vendor.campaigns(...command, 'NURQ2')
      expect(ran).toMatchObject({ code: 64, stdout: '' })
      expect(ran.stderr).toContain('no entry is named "NURQ2"; the nearest is "NUR-Q1"')
    }
    expect(vendor.site.sandbox.requests()).toEqual([])
  })

  it('ends with 4 if the credentials are refused, and apply with 75 if the service is down', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    const { faults } = vendor.site.sandbox
    faults.add({ at: 'service', kind: 'signature-mismatch', times: 1 })
    const refused = await vendor.campaigns('plan')
    faults.add({ at: 'service', kind: 'answer', status: 503, retryAfter: '3600' })
    const down = await vendor.campaigns('apply', '--lower')

    expect([refused, down]).toMatchObject([
      { code: 4, stdout: '' },
      { code: 75, stdout: '' },
    ])
  })

  it('shows a warning of the configuration only once', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    vendor.site.configure({ feeds: [{ match: 'a/*.xml', partnerAccount: 'x' }] })

    const planned = await vendor.campaigns('plan')

    expect(planned.stderr.match(/^warning: .*/gm)).toEqual([
      expect.stringMatching(/partnerAccount.* has no effect/),
    ])
  })
})

describe('feedsyncd campaigns apply', () => {
  it('shows the plan on a terminal, sends it only after a yes, and asks nothing if there is nothing to send', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    const plan = '+ A: create\n    name: Campaign A\n    budget: 100.00\n'

    const refused = await vendor.asking(() => false, 'apply')
    const before = vendor.writes()
    const sent = await vendor.asking(() => true, 'apply')
    const again = await vendor.asking(() => expect.fail('asked'), 'apply')

    expect(refused).toMatchObject({ code: 3, stdout: '' })
    expect(refused.stderr).toContain(plan)
    expect(before).toBe(0)
    expect(sent).toMatchObject({ code: 0, stdout: 'created A (campaign 48001)\n' })
    expect(again).toMatchObject({ code: 0, stdout: 'nothing to send\n' })
  })

  it('sends nothing if the plan changed after the confirmation, and shows the new plan and the command that sends it', async () => {
    await using vendor = await applied(entry('A'))
    vendor.write(fileOf(entry('A', 'budget: "150.00"')))
    const meanwhile = () => {
      vendor.campaign('48001').budget = 120
      return true
    }
    const before = vendor.writes()

    const ran = await vendor.asking(meanwhile, 'apply')

    expect(ran.code).toBe(3)
    expect(ran.stderr).toContain('the plan has changed, so nothing was sent')
    expect(ran.stdout).toContain('budget: 120.00 -> 150.00  [can spend more]')
    expect(vendor.writes()).toBe(before)
    const [, command = ''] = /feedsyncd campaigns (apply --plan \w{8}) /.exec(ran.stdout) ?? []
    expect((await vendor.campaigns(...command.split(' '))).code).toBe(0)
    expect(vendor.campaign('48001').budget).toBe(150)
  })

  it('sends with --lower only changes that spend less, says how many are left, and refuses --plan beside it', async () => {
    await using vendor = await applied(entry('A'), entry('B'))
    vendor.write(fileOf(entry('A', 'budget: "90.00"'), entry('B', 'budget: "150.00"'), entry('C')))

    const lowered = await vendor.campaigns('apply', '--lower')
    const both = await vendor.campaigns('apply', '--lower', '--plan', '12345678')

    expect(lowered).toMatchObject({ code: 0, stdout: 'updated A (campaign 48001)\n' })
    expect(lowered.stderr).toMatch(/^2 campaigns still to send: feedsyncd campaigns plan/)
    expect(both.code).toBe(64)
    expect(vendor.all.map(({ budget }) => budget)).toEqual([90, 100])
  })

  it('sends the changes of the named entries only, by the command that their plan names', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A'), entry("it's"), entry('C')))

    const planned = await vendor.campaigns('plan', 'A', "it's")
    const sent = await vendor.apply('A', "it's")

    expect(planned.stdout).toContain(`feedsyncd campaigns apply A 'it'\\''s' --plan `)
    expect(sent.stdout).toBe("created A (campaign 48001)\ncreated it's (campaign 48002)\n")
    expect(vendor.all).toHaveLength(2)
  })

  it('binds a campaign that the file names, and sends no value that the campaign already has', async () => {
    await using vendor = await CampaignsSite.open(
      fileOf(entry('A', 'campaignId: "48001"\nname: By hand\nbudget: "7.00"')).replace(
        '    targeting: all\n',
        '',
      ),
    )
    vendor.site.sandbox.campaigns.create('123', { name: 'By hand', budget: 7 })

    const planned = await vendor.campaigns('plan')
    const bound = await vendor.apply()
    const status = json((await vendor.campaigns('status', '--json')).stdout)

    expect(planned.stdout).toContain(
      '= A: bind campaign 48001\n    nothing is sent: the campaign is as the file says\n',
    )
    expect(bound).toMatchObject({ code: 0, stdout: 'bound A (campaign 48001)\n' })
    expect(vendor.writes()).toBe(0)
    expect(status.entries).toMatchObject([{ key: 'A', state: 'in line', campaignId: '48001' }])
  })

  it('ends with 3 if a create had no answer; the next apply finds its campaign and creates no second one', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    vendor.site.sandbox.faults.add({ ...LOST, times: 1 })

    const created = await vendor.apply()
    const bound = await vendor.apply()
    const planned = await vendor.campaigns('plan')

    expect(created.code).toBe(3)
    expect(created.stdout).toMatch(/^unknown A: /)
    expect(bound).toMatchObject({ code: 0, stdout: 'bound A (campaign 48001)\n' })
    expect(planned.code).toBe(0)
    expect(vendor.calls('campaign-create')).toBe(1)
  })

  it('creates a campaign again whose create never arrived, after an hour and not after forget, which needs --yes, and says so meanwhile', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    vendor.site.sandbox.faults.add(DROPPED_CREATE)
    await vendor.apply()

    const planned = await vendor.campaigns('plan')
    const status = await vendor.campaigns('status', 'A')
    const unasked = await vendor.campaigns('forget', 'A')
    const forgotten = await vendor.campaigns('forget', 'A', '--yes')
    const within = await vendor.apply()
    vendor.clock.skip(HOUR)
    const again = await vendor.apply()

    expect([planned.code, status.code, unasked.code, forgotten.code]).toEqual([3, 3, 64, 0])
    expect([within.code, again.code]).toEqual([3, 0])
    expect(planned.stdout).toMatch(/^\? A: unknown: feedsyncd sent this campaign at /m)
    expect(status.stdout).toMatch(/^next +wait; if you find the campaign on the service, /m)
    expect(forgotten.stdout).toMatch(
      /^feedsyncd sent a campaign for A at .*\. Even after forget, it creates no other campaign for A before \S+$/m,
    )
    expect(vendor.all).toHaveLength(1)
  })

  it('ends with 75 if another process does not stop writing campaigns', async () => {
    await using vendor = await CampaignsSite.open(fileOf(entry('A')))
    using _writer = acquireLock(join(vendor.site.root, 'state', 'campaigns'))

    const ran = await vendor.apply()

    expect(ran).toMatchObject({ code: 75, stdout: '' })
    expect(ran.stderr).toContain('another feedsyncd is writing campaigns')
  })

  it('sends nothing if the file is broken, empty, cut short or missing, ends with 78 and names the place of the mistake', async () => {
    const file = fileOf(entry('A'))
    await using vendor = await CampaignsSite.open(file, { campaigns: { file: 'campaigns.yaml' } })
    for (const text of ['', file.slice(0, 55), fileOf(entry('A', 'budgte: 3'))]) {
      vendor.write(text)
      const ran = await vendor.campaigns('apply', '--lower')
      expect(ran.code).toBe(78)
      expect(ran.stderr).toMatch(/^.*campaigns\.yaml:\d+:\d+ /)
    }
    const broken = await vendor.campaigns('status')
    vendor.site.configure({ campaigns: { file: 'other.yaml' } })
    const missing = await vendor.campaigns('apply', '--lower')

    expect([broken.code, missing.code, vendor.writes()]).toEqual([3, 78, 0])
    expect(broken.stdout).toContain('budgte')
    expect(missing.stderr).toContain('other.yaml does not exist')
  })
})

describe('feedsyncd campaigns status, history, export and forget', () => {
  it('status says that campaigns are off without a campaigns file, and plan ends with 78', async () => {
    await using vendor = await CampaignsSite.open(null)

    const status = await vendor.campaigns('status')
    const planned = await vendor.campaigns('plan')

    expect(status).toMatchObject({ code: 0 })
    expect(status.stdout).toMatch(/^off: there is no campaigns file at .*campaigns\.yaml/)
    expect(planned.code).toBe(78)
  })

  it('status shows the entries in the order of the file, and all details of one entry', async () => {
    await using vendor = await applied(
      entry('B'),
      entry('A', 'targeting: { stateProvCodes: [MA] }'),
    )
    vendor.campaign('48001').budget = 300
    vendor.write(fileOf(entry('B'), entry('A', 'targeting: { stateProvCodes: [MA] }'), entry('C')))
    await vendor.asking(() => false, 'apply')

    const all = await vendor.campaigns('status')
    const [b, a, c] = json((await vendor.campaigns('status', '--json')).stdout).entries
    const one = await vendor.campaigns('status', 'A')

    expect([all.code, one.code]).toEqual([3, 0])
    expect([b.key, a.key, c.key]).toEqual(['B', 'A', 'C'])
    expect(c).toMatchObject({ state: 'new', campaignId: null, sentTargeting: null })
    expect(a.sentTargeting).toEqual({ externalCampaignId: 'A', stateProvCodes: ['MA'] })
    expect(all.stdout).toMatch(/^A +in line +0 +- +0\.00 +100\.00 +100\.00 +no end$/m)
    expect(one.stdout).toMatch(/^state +in line$/m)
    expect(one.stdout).toContain(
      'the service does not show its targeting; feedsyncd last sent externalCampaignId: A; stateProvCodes: MA\n',
    )
  })

  it('status shows after an apply the changes that are left, without a daemon', async () => {
    await using vendor = await applied(entry('A'))
    vendor.write(fileOf(entry('A', 'budget: "150.00"')))
    await vendor.campaigns('apply', '--lower')

    const status = await vendor.campaigns('status', 'A')

    expect(status.code).toBe(3)
    expect(status.stdout).toMatch(/^differs +budget: 100\.00 -> 150\.00 {2}\[can spend more\]$/m)
    expect(status.stdout).toMatch(/^next +feedsyncd campaigns apply A --config /m)
  })

  it('history shows each write and decision, newest first, with the person, and ends with 64 for an unknown key', async () => {
    await using vendor = await applied(entry('A'))
    vendor.write(fileOf(entry('A', 'budget: "90.00"')))
    await vendor.campaigns('apply', '--lower')
    await vendor.campaigns('forget', 'A')

    const { stdout } = await vendor.campaigns('history', 'A')
    const other = await vendor.campaigns('history', 'B', '--json')

    const [, forgotten, updated, created] = stdout.split('\n')
    expect(forgotten).toMatch(/ A +48001 +forgotten +\S+: campaigns forget A$/)
    expect(updated).toMatch(/ updated +\S+: campaigns apply --lower +budget: 100\.00 -> 90\.00 /)
    expect(created).toMatch(/ created +\S+: campaigns apply --plan \w{8} +name: Campaign A; budget/)
    expect([other.code, other.stdout]).toEqual([64, ''])
  })

  it('export writes a file whose plan is empty', async () => {
    const targeting = 'targeting: { cities: [{ name: Boston, stateProvCode: MA }] }'
    await using vendor = await applied(entry('A', targeting), entry('B', 'endDate: 2037-03-31'))

    const exported = await vendor.campaigns('export')
    vendor.write(exported.stdout)
    const planned = await vendor.campaigns('plan')

    expect([exported.code, planned.code]).toEqual([0, 0])
    expect(planned.stdout).toMatch(/^nothing to send$/m)
  })

  it('forget leaves the campaign unchanged, the key gets no other campaign while it is live, and a second forget ends with 64', async () => {
    await using vendor = await applied(entry('A'))
    const before = vendor.writes()

    const forgotten = await vendor.campaigns('forget', 'A')
    const unknown = await vendor.campaigns('forget', 'A')
    const status = await vendor.campaigns('status', 'A')
    const blocked = await vendor.campaigns('plan')
    const untouched = vendor.writes() === before
    vendor.campaign('48001').status = 2
    const made = await vendor.apply()

    expect([forgotten.code, unknown.code, status.code, blocked.code]).toEqual([0, 64, 3, 3])
    expect(forgotten.stdout).toContain('next: feedsyncd campaigns plan --config ')
    expect(blocked.stdout).toMatch(/next: .*write campaignId: "48001" into the entry A$/m)
    expect(untouched).toBe(true)
    expect(made).toMatchObject({ code: 0, stdout: 'created A (campaign 48002)\n' })
  })

  it('preview counts what each entry selects before and after, and lists what one entry gains and loses, and why', async () => {
    await using vendor = await applied(entry('A', 'targeting: { jobTitles: [nurse 1] }'))
    vendor.site.drop('jobs.xml', feedOf(4))
    await vendor.site.run('run', '--once')
    writeFileSync(
      join(vendor.site.root, 'campaigns.yaml'),
      fileOf(entry('A', 'targeting: { jobTitles: [nurse 3] }'), entry('B')),
    )

    const all = await vendor.campaigns('preview')
    const one = await vendor.campaigns('preview', 'A')
    const unsent = await vendor.campaigns('preview', 'B')

    expect(all.stdout).toMatch(/^A +1 +1\nB +0 +2$/m)
    expect(one.stdout).toMatch(
      /^- +J-1 +Nurse 1 .*\n\+ +J-3 +Nurse 3 .* now: jobTitles wants nurse 1/m,
    )
    expect(unsent.stdout).toMatch(/^\+ +J-\d .* {2}externalCampaignId B$/m)
    expect(one.stderr).toBe('postings: 1 -> 1 (+1, -1), of 4 postings\n')
  })
})
