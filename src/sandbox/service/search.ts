// GET /v1/campaigns (specification section 4): its parameters, and the envelope of section 2.

import { badRequest } from '../http/answer.ts'
import type { Knobs } from '../knobs.ts'
import type { CampaignBook } from './book.ts'
import type { ArrivedCall } from './call.ts'

const LARGEST_INT32 = 2 ** 31 - 1

export interface SearchCall {
  account: string
  parameters: ReadonlyMap<string, string>
  call: ArrivedCall
}

export async function search(
  book: CampaignBook,
  knobs: Knobs,
  { account, parameters, call }: SearchCall,
): Promise<object> {
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
