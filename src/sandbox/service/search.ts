// This file answers GET /v1/campaigns: it reads the parameters (specification section 4), and makes the answer with the
// numbers and the list of campaigns that section 2 describes.

import { badRequest } from '../http/answer.ts'
import type { Knobs } from '../knobs.ts'
import type { CampaignBook } from './book.ts'
import type { ArrivedCall } from './call.ts'

const LARGEST_INT32 = 2 ** 31 - 1

interface SearchCall {
  account: string
  parameters: ReadonlyMap<string, string>
  call: ArrivedCall
}

/** search returns the answer of a search as JSON. It refuses a wrong parameter with 400. */
export async function search(
  book: CampaignBook,
  knobs: Knobs,
  { account, parameters, call }: SearchCall,
): Promise<object> {
  const { listField, fromCache, largestNum, start: startOfFirstRow } = knobs
  const { rows, ...envelope } = book.search(
    account,
    {
      status: wholeNumber(parameters, 'Status', { least: 1, most: 3 }),
      start: wholeNumber(parameters, 'Start', { least: startOfFirstRow === 0 ? 0 : 1 }),
      num: wholeNumber(parameters, 'Num', { least: 1, most: largestNum ?? LARGEST_INT32 }),
    },
    parameters.get('Name') ?? null,
  )
  const list: object[] = []
  for (const campaign of rows) list.push(await book.shown(campaign))
  return { ...envelope, fromCache, self: call.url, elapsed: call.elapsed(), [listField]: list }
}

/** wholeNumber returns a parameter from `least` to `most`, or null if it is absent. It refuses other texts with 400. */
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
