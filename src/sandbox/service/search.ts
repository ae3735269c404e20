// GET /v1/campaigns (specification section 4): its parameters, and the envelope of section 2.

import { badRequest } from '../http/answer.ts'
import type { Knobs } from '../knobs.ts'
import type { CampaignBook } from './book.ts'
import type { ServiceCall } from './call.ts'

const PARAMETERS = ['Status', 'Name', 'Start', 'Num']
const LARGEST_INT32 = 2 ** 31 - 1

export async function search(
  book: CampaignBook,
  knobs: Knobs,
  account: string,
  call: ServiceCall,
): Promise<object> {
  const parameters = parametersIn(call.query)
  const { listField, fromCache, largestNum, start: firstStart } = knobs
  const { rows, ...envelope } = book.search(
    account,
    {
      status: wholeNumber(parameters, 'Status', { least: 1, most: 3 }),
      start: wholeNumber(parameters, 'Start', { least: firstStart === 0 ? 0 : 1 }),
      num: wholeNumber(parameters, 'Num', { least: 1, most: largestNum ?? LARGEST_INT32 }),
    },
    parameters.get('Name') ?? null,
  )
  const list: object[] = []
  for (const campaign of rows) list.push(await book.shown(campaign))
  return { ...envelope, fromCache, self: call.url, elapsed: call.elapsed(), [listField]: list }
}

/** parametersIn reads a query. A plus sign is a space. It refuses a parameter that is unknown or comes twice. */
function parametersIn(query: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (!PARAMETERS.includes(name)) {
      badRequest(`"${name}" is not a parameter of this call; expected ${PARAMETERS.join(', ')}`)
    }
    if (found.has(name)) badRequest(`${name} is given twice`)
    found.set(name, value)
  }
  return found
}

/** wholeNumber returns a parameter as a number, or null if it is absent. It refuses any other text. */
function wholeNumber(
  parameters: ReadonlyMap<string, string>,
  name: string,
  { least, most = LARGEST_INT32 }: { least: number; most?: number },
): number | null {
  const text = parameters.get(name)
  if (text === undefined) return null
  const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  return badRequest(
    `${name}: expected a whole number from ${least} to ${most}, got ${JSON.stringify(text)}`,
  )
}
