import { describe, expect, it } from 'vitest'
import { changeLines } from '../../../src/campaigns/change-text.ts'
import { DAY } from '../../../src/lib/clock.ts'
import { entry, fileOf, states } from '../../helpers/campaigns/file.ts'
import { feedsOf, type Host, installed, opened, START } from '../../helpers/campaigns/world.ts'

const posting = (externalCampaignId: string, more = {}) => ({ externalCampaignId, ...more })
const times = <T>(count: number, one: T) => Array.from({ length: count }, () => one)
const told = async (host: Host) =>
  (await host.plan()).findings.map(({ code, key, text, next }) => [code, key, text, next])

describe('the plan reports each running campaign without an entry, and what it can spend', () => {
  it('if a person created the campaign on the service, unless it is paused or over', async () => {
    const { world, host } = opened(fileOf(entry('A')))
    world.make('Fair', { period: 1 })
    world.make('Asleep', { status: 3 })
    world.make('Over', { endDate: '2026-01-01T00:00:00Z' })

    expect(await told(host)).toEqual([
      [
        ...[
          'outside',
          null,
          'campaign 48001 "Fair" runs without an entry, and can spend up to 50.00 a month',
        ],
        'write campaignId: "48001" into an entry, or pause the campaign: feedsyncd campaigns update 48001 --status paused',
      ],
    ])
  })

  it('if its entry left the file, beside the doubt about the file', async () => {
    const { host } = await installed(fileOf(entry('A')))
    host.file = fileOf(entry('B'))

    expect((await told(host)).map(([code]) => code)).toEqual(['file', 'outside'])
    expect((await told(host))[1]?.[2]).toContain('A is no longer in the file')
  })

  it('if it is a second campaign of an entry, also after the entry names that second campaign', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    const [first] = world.all
    world.make(String(first?.name))
    const second = await told(host)
    host.file = fileOf(entry('A', 'campaignId: "48002"'))

    expect(second).toMatchObject([
      [
        'twin',
        'A',
        expect.stringMatching(/^the entry A has a second campaign, 48002/),
        expect.anything(),
      ],
    ])
    expect(await told(host)).toMatchObject([
      [
        'twin',
        'A',
        expect.stringMatching(/^the entry A has a second campaign, 48001/),
        expect.anything(),
      ],
    ])
  })
})

it('the plan says what was sent and when, if somebody changed it on the service', async () => {
  const { world, host } = await installed(fileOf(entry('A', 'period: monthly')))
  world.campaign('48001').budget = 4000
  const { items } = await host.plan()

  expect(changeLines(items[0]?.changes ?? [])).toEqual([
    'budget: 4000.00 -> 100.00 a month  [spends less]; you sent 100.00 on 2026-12-01, and somebody changed it to 4000.00',
  ])
})

it('the plan reports each field that we sent and the file no longer names, and how to change or remove its value', async () => {
  const { host } = await installed(fileOf(entry('A', 'endDate: 2027-03-31\nmaxCpc: "1.20"')))
  host.file = fileOf(entry('A').replace(/ *budget.*\n/, ''))

  expect(await told(host)).toEqual([
    [
      ...['left', 'A', 'budget 100.00 stays: the file no longer names it'],
      'write budget: into the entry A to change it',
    ],
    [
      ...['left', 'A', 'endDate 2027-03-31 stays: the file no longer names it'],
      'write endDate: none into the entry A to remove it',
    ],
    [
      ...['left', 'A', 'maxCpc 1.20 stays: the file no longer names it'],
      'write maxCpc: none into the entry A to remove it',
    ],
  ])
})

describe('the plan compares the entries with the uploaded feeds, and', () => {
  const boston = { city: 'Boston', state: 'MA' }
  const CITY = 'targeting: { cities: [{ name: Boston, stateProvCode: MA }] }'

  it('counts the postings that a targeting selects before and after, and all postings', async () => {
    const { host } = await installed(fileOf(entry('A', CITY)))
    host.feeds = feedsOf([
      ...times(3, posting('A', boston)),
      ...times(2, posting('A')),
      posting('B'),
    ])
    host.file = fileOf(entry('A'), entry('B', CITY))
    const { items, feeds } = await host.plan()

    expect(items.map(({ postings }) => postings)).toEqual([
      { before: 3, after: 5 },
      { before: 0, after: 0 },
    ])
    expect(feeds).toEqual({ count: 1, postings: 6, problems: [] })
  })

  it('leaves the counts out of its digest', async () => {
    const { host } = opened(fileOf(entry('A', CITY)))
    const { digest } = await host.plan()
    host.feeds = feedsOf([posting('A', boston)])

    expect((await host.plan()).digest).toBe(digest)
  })

  it('reports a feed that cannot be read, and then does not know the count of a targeting', async () => {
    const { host } = opened(fileOf(entry('A', CITY)))
    host.feeds = feedsOf([posting('A', boston)], { problem: 'jobs.xml: its bytes are gone' })
    const { items, feeds } = await host.plan()

    expect(items[0]?.postings).toEqual({ before: 0, after: null })
    expect(feeds.problems).toEqual(['jobs.xml: its bytes are gone'])
  })

  it('reports ids without an entry, and an entry with a similar key', async () => {
    const { host } = await installed(fileOf(entry('NUR-Q1')))
    host.feeds = feedsOf([
      ...[posting('NUR-Q1'), ...times(2, posting('NUR Q1x')), ...times(9, posting('WELD'))],
      posting('constructor'),
    ])

    expect(await told(host)).toEqual([
      [
        'no-entry',
        'WELD',
        '9 postings carry this id, but no entry has it',
        'write an entry for WELD to sponsor them',
      ],
      [
        'no-entry',
        'NUR Q1x',
        '2 postings carry this id, but no entry has it; did you mean NUR-Q1?',
        'other postings carry NUR-Q1: if the feed is wrong, write NUR-Q1 instead of NUR Q1x there',
      ],
      [
        ...['no-entry', 'constructor', '1 posting carries this id, but no entry has it'],
        'write an entry for constructor to sponsor them',
      ],
    ])
  })

  it('says that the entry is probably misspelled if no posting carries its id', async () => {
    const { host } = await installed(fileOf(entry('NURQ1')))
    host.feeds = feedsOf([posting('NUR-Q2')])

    expect((await told(host)).find(([code]) => code === 'no-entry')?.[3]).toBe(
      'no posting carries NURQ1: if the file is wrong, write externalCampaignId: NUR-Q2 into the entry NURQ1',
    )
  })

  it('names the campaign that already sponsors an id without an entry', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.feeds = feedsOf([posting('A'), posting('WELD')])
    world.book.knobs.echo = (targeting) => targeting
    world.make('Welders', { targeting: { externalCampaignId: 'WELD' } })

    expect((await told(host)).find(([code]) => code === 'no-entry')).toEqual([
      ...['no-entry', 'WELD'],
      '1 posting carries this id, but no entry has it; campaign 48002 "Welders" already sponsors it',
      'write an entry for WELD with campaignId: "48002"',
    ])
  })

  it('reports an id that the feeds no longer carry, and since when', async () => {
    const { host } = await installed(fileOf(entry('A')))
    host.feeds = feedsOf([], { missing: { A: START - DAY } })

    expect(await told(host)).toEqual([
      [
        ...[
          'missing',
          'A',
          'no uploaded posting has carried this id since 2026-11-30T12:00:00.000Z, and campaign 48001 still runs',
        ],
        'put the id back into the feed, or end the campaign',
      ],
    ])
  })

  it('reports requisition ids that no posting has, and postings that two entries select', async () => {
    const pins = 'allowWiden: true\ntargeting: { requisitionIds: [R-1, R-9] }'
    const { host } = await installed(fileOf(entry('A', pins), entry('B')))
    host.feeds = feedsOf([posting('B', { requisitionId: 'R-1' }), posting('A')])

    expect(await told(host)).toEqual([
      [
        ...['pin', 'A', 'requisitionIds has ids that no posting has: R-9'],
        'correct requisitionIds in the entry A',
      ],
      [
        ...['overlap', null, 'A and B select the same posting and bid against each other'],
        'narrow the targeting of one of them',
      ],
    ])
  })

  it('reports an entry that selects most of the postings', async () => {
    const { host } = await installed(fileOf(entry('A')))
    host.feeds = feedsOf([...times(60, posting('A')), ...times(40, posting(''))])

    expect(await told(host)).toEqual([
      [
        ...['share', 'A', 'the entry selects 60 of the 100 postings in the feeds'],
        'feedsyncd campaigns preview A',
      ],
    ])
  })

  it('warns of a campaign that sponsors far more postings than its targeting selects: 31 for 20, not 30', async () => {
    const { world, host } = await installed(fileOf(entry('A', states('MA'))))
    host.feeds = feedsOf(times(20, posting('A', boston)))
    const count = (sponsoredPostings: number) => {
      world.shape = (shown) => ({ ...shown, sponsoredPostings })
      return told(host)
    }

    expect(await count(30)).toEqual([])
    expect(await count(31)).toMatchObject([
      [
        'covers-more',
        'A',
        'the service sponsors 31 postings for campaign 48001, but its targeting selects 20',
        expect.anything(),
      ],
    ])
    expect((await host.plan()).findings[0]?.severity).toBe('warning')
  })

  it('reports a campaign that sponsors far fewer postings than its targeting selects: 26 or none for 40, not 27', async () => {
    const { world, host } = await installed(fileOf(entry('A', states('MA'))))
    host.feeds = feedsOf(times(40, posting('A', boston)))
    const count = async (sponsoredPostings: number) => {
      world.shape = (shown) => ({ ...shown, sponsoredPostings })
      return (await told(host)).map(([code]) => code)
    }

    expect([await count(27), await count(26), await count(0)]).toEqual([
      ...[[], ['covers-fewer'], ['covers-none']],
    ])
  })

  it('marks its count as an upper limit, and does not report fewer postings, if several feeds share the account', async () => {
    const { world, host } = await installed(fileOf(entry('A', states('MA'))))
    const feeds = feedsOf(times(40, posting('A', boston)))
    host.feeds = () => ({ ...feeds(), isAtMost: true })
    world.shape = (shown) => ({ ...shown, sponsoredPostings: 20 })
    const { entries, findings } = await host.plan()

    expect(entries).toMatchObject([{ coverage: { covered: 20, counted: 40, isAtMost: true } }])
    expect(findings).toEqual([])
  })

  it('reports a campaign that covers no posting, because of a misspelled city or an id of no posting', async () => {
    const { host } = await installed(fileOf(entry('A', CITY), entry('B')))
    host.feeds = feedsOf(times(2, posting('A', { city: 'Bostn', state: 'MA' })))

    expect((await told(host)).slice(0, 2)).toEqual([
      [
        ...['covers-none', 'A'],
        'campaign 48001 covers no posting: its targeting leaves out all 2 postings that carry its id',
        'to see which criterion leaves them out: feedsyncd campaigns covers A',
      ],
      [
        ...['covers-none', 'B'],
        'campaign 48002 covers no posting: no uploaded posting carries the id B',
        'put the id into the feed, or correct externalCampaignId in the file',
      ],
    ])
  })

  it.each([
    [89, null],
    [90, 'campaign 48001 spent 90.00 of 100.00 (90 %)'],
    [120, 'campaign 48001 spent 120.00 of 100.00 (120 %)'],
  ])('finds for a budget of 100, of which %i is spent: %j', async (spend, text) => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.feeds = feedsOf([posting('A')])
    world.campaign('48001').spend = spend

    expect((await told(host)).map(([, , says]) => says)).toEqual(text === null ? [] : [text])
  })

  it('tells that a campaign starts, ends or renews within a week, unless it is paused', async () => {
    const { world, host } = await installed(
      fileOf(
        entry('A', 'startDate: 2026-12-05'),
        entry('B', 'endDate: 2026-12-07'),
        entry('C', 'period: monthly'),
        entry('D', 'endDate: 2026-12-28\nstatus: paused'),
      ),
    )
    const soon = async () => {
      const { findings } = await host.plan()
      return findings.flatMap(({ code, key, text }) => (code === 'soon' ? [[key, text]] : []))
    }

    expect(await soon()).toEqual([
      ['A', 'its campaign starts on 2026-12-05'],
      ['B', 'its campaign ends on 2026-12-07'],
    ])
    world.pass(24 * DAY)
    expect(await soon()).toEqual([
      ['C', 'its campaign renews on 2027-01-01, with 100.00 for the month'],
    ])
  })

  it('reports postings whose campaign cannot spend', async () => {
    const { world, host } = await installed(fileOf(entry('A')))
    host.feeds = feedsOf(times(2, posting('A')))
    world.campaign('48001').status = 3

    expect(await told(host)).toMatchObject([
      ['idle', 'A', '2 postings carry this id, but campaign 48001 is paused', null],
    ])
  })
})
