// The four campaign routes of specification section 4 over the book of campaigns.

import { badRequest, readCreate, readUpdate } from './campaign-body.ts'
import type { CampaignBook, SandboxCampaign } from './campaign-book.ts'
import { type Route, type RouteAnswer, type RouteCall, refuse } from './service-routes.ts'

const COLLECTION = /^\/v1\/campaigns$/
const CAMPAIGN = /^\/v1\/campaigns\/([^/]+)$/

export function campaignRoutes(book: CampaignBook): Route[] {
  const accountOf = ({ caller }: RouteCall) => caller.account ?? caller.owner
  const answerFor = (campaign: SandboxCampaign): RouteAnswer => ({
    json: book.shown(campaign),
    key: campaign.id,
  })
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
  const search = (call: RouteCall) => searched(book, accountOf(call), call.request.query)
  const audience = 'account'
  return [
    { name: 'campaign-create', method: 'POST', path: COLLECTION, audience, answer: create },
    { name: 'campaign-search', method: 'GET', path: COLLECTION, audience, answer: search },
    { name: 'campaign-get', method: 'GET', path: CAMPAIGN, audience, answer: get },
    { name: 'campaign-update', method: 'PUT', path: CAMPAIGN, audience, answer: update },
  ]
}

function searched(book: CampaignBook, account: string, query: string): RouteAnswer {
  const asked = new URLSearchParams(query)
  const unknown = [...asked.keys()].find((key) => !/^(Status|Name|Start|Num)$/.test(key))
  if (unknown !== undefined) badRequest(`"${unknown}" is not a parameter of this call`)
  const numbers = ['Status', 'Start', 'Num'].map((key) => {
    const value = asked.get(key)
    return value === null ? null : /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
  })
  if (numbers.some(Number.isNaN)) badRequest('Status, Start and Num are whole numbers')
  const [status = null, start = null, num = null] = numbers
  const { listField, secondList, fromCache, largestNum } = book.knobs
  if (num !== null && largestNum !== null && num > largestNum) {
    badRequest(`Num is at most ${largestNum}`)
  }
  const { rows, ...envelope } = book.search(account, { status, start, num }, asked.get('Name'))
  const list = rows.map((campaign) => book.shown(campaign))
  book.afterPage()
  return {
    json: {
      ...envelope,
      fromCache,
      self: '/v1/campaigns',
      elapsed: 1,
      [listField]: list,
      ...(secondList && { recent: list.slice(0, 1) }),
    },
  }
}
