// This file has the four campaign routes of specification section 4.

import { type RouteAnswer, refuse } from './answer.ts'
import type { SandboxCampaign } from './campaign.ts'
import { badRequest, readCreate, readUpdate } from './campaign-body.ts'
import type { CampaignBook } from './campaign-book.ts'
import type { Knobs } from './knobs.ts'
import type { Postings } from './postings.ts'
import type { Route, RouteCall } from './service-routes.ts'

const COLLECTION = /^\/v1\/campaigns$/
const CAMPAIGN = /^\/v1\/campaigns\/([^/]+)$/

export function campaignRoutes(book: CampaignBook, knobs: Knobs, postings: Postings): Route[] {
  const accountOf = ({ caller }: RouteCall) => caller.account ?? caller.owner
  const answerFor = async (campaign: SandboxCampaign): Promise<RouteAnswer> => {
    await postings.ready(campaign.accountId)
    return { json: book.publicFields(campaign), key: campaign.id }
  }
  const find = (call: RouteCall) =>
    book.find(accountOf(call), call.id) ?? refuse(404, 'not-found', 'there is no such campaign')
  const create = (call: RouteCall) =>
    answerFor(book.create(accountOf(call), readCreate(call.request.body)))
  const get = (call: RouteCall) => answerFor(find(call))
  const update = (call: RouteCall) => {
    const campaign = find(call)
    book.update(campaign, readUpdate(call.request.body))
    return answerFor(campaign)
  }
  const search = async (call: RouteCall) => {
    await postings.ready(accountOf(call))
    return searched(book, knobs, accountOf(call), call)
  }
  const audience = 'account'
  return [
    { name: 'campaign-create', method: 'POST', path: COLLECTION, audience, answer: create },
    { name: 'campaign-search', method: 'GET', path: COLLECTION, audience, answer: search },
    { name: 'campaign-get', method: 'GET', path: CAMPAIGN, audience, answer: get },
    { name: 'campaign-update', method: 'PUT', path: CAMPAIGN, audience, answer: update },
  ]
}

function searched(
  book: CampaignBook,
  knobs: Knobs,
  account: string,
  { request, url, elapsed }: RouteCall,
): RouteAnswer {
  const parameters = new URLSearchParams(request.query)
  const names = [...parameters.keys()]
  const unknown = names.find((key) => !/^(Status|Name|Start|Num)$/.test(key))
  if (unknown !== undefined) badRequest(`"${unknown}" is not a parameter of this call`)
  const twice = names.find((key, i) => names.indexOf(key) !== i)
  if (twice !== undefined) badRequest(`${twice} is given twice`)
  const { listField, fromCache, largestNum, start: firstStart } = knobs
  const { rows, ...envelope } = book.search(
    account,
    {
      status: wholeNumber(parameters, 'Status', 1, 3),
      start: wholeNumber(parameters, 'Start', firstStart === 0 ? 0 : 1),
      num: wholeNumber(parameters, 'Num', 1, largestNum ?? LARGEST_INT32),
    },
    parameters.get('Name'),
  )
  const list = rows.map((campaign) => book.publicFields(campaign))
  book.afterPage()
  return {
    json: {
      ...envelope,
      fromCache,
      self: url,
      elapsed: elapsed(),
      [listField]: list,
    },
  }
}

const LARGEST_INT32 = 2 ** 31 - 1

/** wholeNumber returns a parameter as a number, or null if it is absent. It refuses any other text. */
function wholeNumber(
  parameters: URLSearchParams,
  name: string,
  least: number,
  most = LARGEST_INT32,
) {
  const text = parameters.get(name)
  if (text === null) return null
  const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  return badRequest(`${name} is a whole number from ${least} to ${most}`)
}
