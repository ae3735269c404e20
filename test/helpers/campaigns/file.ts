// Texts of campaigns files.

/** An entry that can be created, with these lines instead of or beside the usual ones. */
export function entry(key: string, fields = '', budget = '100.00'): string {
  const usual = { name: `Campaign ${key}`, budget: `"${budget}"`, targeting: 'all' }
  const said = fields.split('\n').filter((line) => line !== '')
  const isSaid = (name: string) => said.some((line) => line.startsWith(`${name}:`))
  const kept = Object.entries(usual).filter(([name]) => !isSaid(name))
  const lines = [...kept.map(([name, value]) => `${name}: ${value}`), ...said]
  return `  - externalCampaignId: ${key}\n${lines.map((line) => `    ${line}\n`).join('')}`
}

export const fileOf = (...entries: string[]) => `version: 1\ncampaigns:\n${entries.join('')}`

/** A targeting of these states. */
export const states = (...codes: string[]) => `targeting: { stateProvCodes: [${codes.join(', ')}] }`
