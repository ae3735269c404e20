// A campaign manager's month, with the commands of the guide: three campaigns are taken over, three are added, one
// city is misspelled, one campaign ends. FEEDSYNCD_TELL=1 prints what was typed and read.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CampaignsSite } from '../../helpers/campaigns/campaigns-site.ts'

const KEYS = ['NUR', 'COOK', 'DRV', 'WELD', 'LAW', 'ART']

function feed(): string {
  const jobs = KEYS.flatMap((key, i) =>
    Array.from({ length: 4 }, (_, n) => {
      const city = n === 3 ? 'Austin' : 'Boston'
      const fields = {
        ...{ referencenumber: `J-${i}${n}`, requisitionid: `R-${1000 + 4 * i + n}` },
        ...{ title: key, city, state: n === 3 ? 'TX' : 'MA', campaignid: key },
      }
      const tags = Object.entries(fields).map(([name, text]) => `<${name}>${text}</${name}>`)
      return `<job>${tags.join('')}</job>`
    }),
  )
  return `<source>${jobs.join('')}</source>`
}

it('a manager takes over, adds, changes, misspells and ends campaigns, and always reads what happened', async () => {
  await using vendor = await CampaignsSite.open(null)
  const { site } = vendor
  for (const key of KEYS.slice(0, 3))
    site.sandbox.campaigns.create('123', {
      ...{ name: `Old ${key}`, budget: 300, period: 1 },
      targeting: { externalCampaignId: key, requisitionIds: [], jobTitles: [], cities: [] },
    } as never)
  site.drop('jobs.xml', feed())
  await site.run('run', '--once')
  const typed = async (...words: string[]) => {
    const ran =
      words[0] === 'apply' && words.length === 1
        ? await vendor.asking(() => true, 'apply')
        : await vendor.campaigns(...words)
    const read = `${ran.stderr}${ran.stdout}`
    if (process.env.FEEDSYNCD_TELL) console.log(`$ feedsyncd campaigns ${words.join(' ')}\n${read}`)
    return { code: ran.code, read }
  }
  let file = ''
  const save = (text: string) => {
    file = text
    writeFileSync(join(site.root, 'campaigns.yaml'), file)
  }

  // Take over three: the sandbox does not show targeting, so the keys are written by hand.
  const { read: exported } = await typed('export')
  save(
    KEYS.slice(0, 3).reduce((text, key, n) => text.replace(`campaign-${48001 + n}`, key), exported),
  )
  expect((await typed('plan')).read).toContain('3 campaigns to bind')
  expect((await typed('apply')).read).toContain('bound NUR (campaign 48001)')

  // Add three, one of them with a misspelled city, and targeting for those that were taken over.
  const added = KEYS.slice(3).map(
    (key) =>
      `  - externalCampaignId: ${key}\n    name: New ${key}\n    budget: "100.00"\n    targeting: { cities: [{ name: ${key === 'LAW' ? 'Bostn' : 'Boston'}, stateProvCode: MA }] }\n`,
  )
  save(
    `${file.replace(/(externalCampaignId: (NUR|COOK|DRV)\n)/g, '$1    targeting: all\n')}${added.join('')}`,
  )
  expect((await typed('plan')).read).toContain('postings: 0 -> 0')
  expect((await typed('apply')).read).toContain('created ART (campaign 48006)')
  const status = await typed('status')
  expect(status.read).toMatch(/^LAW +in line +0 +0 /m)
  expect(status.read).toContain('campaign LAW covers-none: campaign 48005 covers no posting')
  expect((await typed('covers', 'LAW')).read).toContain('Bostn MA (did you mean Boston MA?)')
  save(file.replace('Bostn', 'Boston'))
  await site.run('run', '--once')
  expect((await typed('status')).read).toMatch(/^LAW +in line +3 +3 /m)

  // What is left this month? Why is R-1003 not sponsored?
  site.sandbox.campaigns.setOutcome(vendor.campaign('48001'), { spend: 290 })
  await site.run('run', '--once')
  const month = await typed('status', 'NUR')
  expect(month.read).toMatch(/^left +10\.00$/m)
  expect(month.read).toMatch(/^budget +300\.00 a month$/m)
  expect((await typed('why', 'R-1003')).read).toContain('+ NUR (campaign 48001) covers it')
  expect((await typed('why', 'R-1015')).read).toContain(
    '- WELD (campaign 48004) leaves it out: cities wants Boston MA, and the posting has Austin TX',
  )

  // Lower and end.
  save(
    file.replace(
      'name: New ART\n    budget: "100.00"',
      'name: New ART\n    budget: "60.00"\n    endDate: 2036-12-31',
    ),
  )
  expect((await typed('apply', '--lower')).read).toContain('updated ART (campaign 48006)')
  expect((await typed('plan')).read).toContain('nothing to send')
  expect(vendor.campaign('48006')).toMatchObject({ budget: 60, endDate: '2036-12-31T23:59:59Z' })
})
