// Texts of campaigns files.

/** entry returns an entry that can be created. The lines of `fields` are added, or replace lines of the same name. */
export function entry(key: string, fields = '', budget = '100.00'): string {
  const usual = { name: `Campaign ${key}`, budget: `"${budget}"`, targeting: 'all' }
  const given = fields.split('\n').filter((line) => line !== '')
  const isGiven = (name: string) => given.some((line) => line.startsWith(`${name}:`))
  const kept = Object.entries(usual).filter(([name]) => !isGiven(name))
  const lines = [...kept.map(([name, value]) => `${name}: ${value}`), ...given]
  return `  - externalCampaignId: ${key}\n${lines.map((line) => `    ${line}\n`).join('')}`
}

export const fileOf = (...entries: string[]) => `version: 1\ncampaigns:\n${entries.join('')}`

/** states returns the targeting line for these states. */
export const states = (...codes: string[]) => `targeting: { stateProvCodes: [${codes.join(', ')}] }`
