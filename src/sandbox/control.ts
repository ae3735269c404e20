// The control routes are on the service's listener, outside its base address. They add, list and remove faults, release
// gates, list objects, requests and sponsored postings, set knobs, and set the spend and leads of a campaign.

import { z } from 'zod'
import { messageOf } from '../lib/errors.ts'
import { type RouteAnswer, refuse } from './answer.ts'
import type { SandboxCampaign } from './campaign.ts'
import type { CampaignBook } from './campaign-book.ts'
import { parseFaults } from './fault-types.ts'
import type { FaultBook } from './faults.ts'
import type { Journal } from './journal.ts'
import { readJson } from './json-file.ts'
import { type Knobs, readKnobs } from './knobs.ts'
import type { ObjectStore } from './object-store.ts'
import type { Postings } from './postings.ts'

interface ControlParts {
  faults: FaultBook
  journal: Journal
  store: ObjectStore
  campaigns: CampaignBook
  postings: Postings
  knobs: Knobs
}

/** Control answers a control request. `path` is relative to `/_sandbox/`. */
export type Control = (
  method: string,
  path: string,
  query: URLSearchParams,
  body: Buffer,
) => RouteAnswer | Promise<RouteAnswer>

const MOST_POSTINGS = 1000
const SPEND_AND_LEADS = z.array(
  z.strictObject({
    spend: z.number().nonnegative().optional(),
    leads: z.int().nonnegative().optional(),
  }),
)

export function createControl(parts: ControlParts): Control {
  const { faults, journal, store, campaigns, postings, knobs } = parts
  const campaign = (id: string) =>
    campaigns.all.find((one) => one.id === id) ??
    refuse(404, 'not-found', 'there is no such campaign')

  /** sponsored returns at most 1,000 of the postings that a campaign sponsors. `start` is the number of the first. */
  async function sponsored(one: SandboxCampaign, start: number): Promise<object> {
    const { accountId, targeting } = one
    await postings.ready(accountId)
    const all = campaigns.isActive(one) ? postings.selected(accountId, targeting) : []
    const shown: object[] = []
    let total = 0
    for (const { description: _, ...posting } of all) {
      if (++total >= start && shown.length < MOST_POSTINGS) shown.push(posting)
    }
    return { total, problem: postings.problem(accountId), postings: shown }
  }

  return async (method, path, query, body) => {
    const [, what = path, id = '', action = ''] = /^(\w+)\/(\d+)(\/\w+)?$/.exec(path) ?? []
    const fault = faults.list().find((one) => String(one.id) === id)
    const route = `${method} ${what}${id && '/ID'}${action}`
    if (what === 'faults' && id !== '' && fault === undefined) {
      refuse(404, 'not-found', `there is no fault ${id}`)
    }
    switch (route) {
      case 'DELETE faults/ID':
        fault?.remove()
        return { json: {} }
      case 'POST faults/ID/release':
        fault?.release()
        return { json: {} }
      case 'GET objects':
        return { json: store.list() }
      case 'GET requests':
        return { json: journal.list() }
      case 'GET postings': {
        const start = Number(query.get('start') ?? 1)
        return { json: await sponsored(campaign(query.get('campaign') ?? ''), start) }
      }
      case 'PUT campaigns/ID': {
        const one = campaign(id)
        const [fields = {}] = orBadRequest(() =>
          readJson(body.toString('utf8'), SPEND_AND_LEADS, { what: 'numbers', hint: '' }),
        )
        campaigns.setSpendAndLeads(one, JSON.parse(JSON.stringify(fields)))
        await postings.ready(one.accountId)
        return { json: campaigns.publicFields(one) }
      }
      case 'GET knobs':
        return { json: knobs }
      case 'PUT knobs': {
        const given = orBadRequest(() => readKnobs(body.toString('utf8')))
        return { json: Object.assign(knobs, given) }
      }
      case 'GET faults':
        return { json: faults.list() }
      case 'DELETE faults':
        faults.clear()
        return { json: [] }
      case 'POST faults': {
        const added = orBadRequest(() =>
          parseFaults(body.toString('utf8')).map((rule) => faults.add(rule)),
        )
        return { status: 201, json: added.map((one) => ({ id: one.id })) }
      }
      default:
        return refuse(404, 'not-found', `there is no ${method} ${path}`)
    }
  }
}

function orBadRequest<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    return refuse(400, 'bad-request', messageOf(error))
  }
}
