import { describe, expect, it } from 'vitest'
import type { SandboxTargeting } from '../../../src/sandbox/service/body.ts'
import { type SandboxPosting, targetingTest } from '../../../src/sandbox/service/targeting.ts'
import { NO_PLURALS, PLURALS } from '../../helpers/plurals.ts'
import { READABLE_TEXTS } from '../../helpers/readable-texts.ts'

const NOTHING: SandboxTargeting = {
  ...{ cities: [], externalCampaignId: null, requisitionIds: [], jobDescKeywords: [] },
  ...{ jobTitles: [], postalCodes: [], stateProvCodes: [] },
}
const EMPTY: SandboxPosting = {
  ...{ id: '', externalCampaignId: '', requisitionId: '', title: '', description: '' },
  ...{ city: '', state: '', postalCode: '' },
}

const selects = (targeting: Partial<SandboxTargeting>, posting: Partial<SandboxPosting>) =>
  targetingTest({ ...NOTHING, ...targeting })({ ...EMPTY, ...posting })

describe('the targeting of the sandbox', () => {
  it('selects with each singular its plural, and with a plural not its singular', () => {
    const wrong = PLURALS.filter(
      ([one, many]) =>
        !selects({ jobTitles: [one] }, { title: `Senior ${many}` }) ||
        selects({ jobTitles: [many] }, { title: `Senior ${one}` }),
    )

    expect(PLURALS.length).toBeGreaterThanOrEqual(200)
    expect(wrong).toEqual([])
  })

  it.each(NO_PLURALS)('does not select with %s a title with %s', (wanted, title) => {
    expect(selects({ jobTitles: [wanted] }, { title })).toBe(false)
  })

  it.each(READABLE_TEXTS)(
    'finds in the description %j the keyword %j, and not %j',
    (description, found, missing) => {
      expect(selects({ jobDescKeywords: [found] }, { description })).toBe(true)
      expect(selects({ jobDescKeywords: [missing] }, { description })).toBe(false)
    },
  )

  it('reads a megabyte of unclosed markup, which would take minutes if each tag scanned the rest', () => {
    for (const piece of ['<a', '<!--', '<script>', '&lt', '<']) {
      const description = piece.repeat(2 ** 20 / piece.length)
      expect(selects({ jobDescKeywords: ['nurse'] }, { description })).toBe(false)
    }
  })
})
