// Texts of campaigns files.

/** An entry that can be created: for all postings, unless `fields` has a targeting of its own. */
export const entry = (key: string, fields = '', budget = '100.00') => {
  const all = /^targeting:/m.test(fields) ? '' : 'targeting: all\n'
  const lines = `name: Campaign ${key}\nbudget: "${budget}"\n${all}${fields}`.split('\n')
  const block = lines.filter((line) => line !== '').map((line) => `    ${line}\n`)
  return `  - externalCampaignId: ${key}\n${block.join('')}`
}

export const fileOf = (...entries: string[]) => `version: 1\ncampaigns:\n${entries.join('')}`

/** A targeting of these states. */
export const states = (...codes: string[]) => `targeting: { stateProvCodes: [${codes.join(', ')}] }`
