// The four campaign routes of specification section 4 over the book of campaigns.

import { readBody } from './campaign-body.ts'
import type { CampaignBook } from './campaign-book.ts'
import type { SandboxCampaign } from './campaign-types.ts'
import type { Route, RouteAnswer, RouteCall } from './service-routes.ts'

const PATH = '/v1/campaigns'

export function campaignRoutes(book: CampaignBook): Route[] {
  const accountOf = ({ caller }: RouteCall) => caller.account ?? caller.owner
  const answerFor = (campaign: SandboxCampaign): RouteAnswer => ({
    json: book.shown(campaign),
    key: campaign.id,
  })
  const find = (call: RouteCall) =>
    book.find(accountOf(call), decodeURIComponent(call.params.id ?? ''))
  return [
    {
      ...{ name: 'campaign-create', method: 'POST', path: PATH, audience: 'account' },
      answer: (call) => {
        const body = readBody(call.request.body, 'create')
        if ('wrong' in body) return refusal(400, body.wrong)
        return answerFor(book.create(accountOf(call), body.fields))
      },
    },
    {
      ...{ name: 'campaign-search', method: 'GET', path: PATH, audience: 'account' },
      answer: (call) => search(book, accountOf(call), call.request.query),
    },
    {
      ...{ name: 'campaign-get', method: 'GET', path: `${PATH}/{id}`, audience: 'account' },
      answer: (call) => {
        const campaign = find(call)
        return campaign === null ? refusal(404, 'there is no such campaign') : answerFor(campaign)
      },
    },
    {
      ...{ name: 'campaign-update', method: 'PUT', path: `${PATH}/{id}`, audience: 'account' },
      answer: (call) => {
        const campaign = find(call)
        if (campaign === null) return refusal(404, 'there is no such campaign')
        const body = readBody(call.request.body, 'update')
        if ('wrong' in body) return refusal(400, body.wrong)
        book.update(campaign, body.fields)
        return answerFor(campaign)
      },
    },
  ]
}

function search(book: CampaignBook, account: string, query: string): RouteAnswer {
  const asked = new URLSearchParams(query)
  const unknown = [...asked.keys()].find((key) => !/^(Status|Name|Start|Num)$/.test(key))
  if (unknown !== undefined) return refusal(400, `"${unknown}" is not a parameter of this call`)
  const numbers = ['Status', 'Start', 'Num'].map((key) => {
    const value = asked.get(key)
    return value === null ? null : /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
  })
  if (numbers.some(Number.isNaN)) return refusal(400, 'Status, Start and Num are whole numbers')
  const [status = null, start = null, num = null] = numbers
  const { listField, secondList, fromCache, largestNum } = book.knobs
  if (num !== null && largestNum !== null && num > largestNum)
    return refusal(400, `Num is at most ${largestNum}`)
  const { rows, ...envelope } = book.search(account, {
    ...{ status, start, num },
    name: asked.get('Name'),
  })
  const list = rows.map((campaign) => book.shown(campaign))
  book.afterPage()
  return {
    json: {
      ...envelope,
      ...{ fromCache, self: PATH, elapsed: 1 },
      [listField]: list,
      ...(secondList ? { recent: list.slice(0, 1) } : {}),
    },
  }
}

function refusal(status: number, message: string): RouteAnswer {
  return { status, json: { code: status === 404 ? 'not-found' : 'bad-request', message } }
}
