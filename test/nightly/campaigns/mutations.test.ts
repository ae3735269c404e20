// Switches off one rule after another, and shows that the random histories notice it. Without each of these rules, a
// prototype created a second campaign or spent more. A model that misses a broken rule proves nothing.

import { expect, it } from 'vitest'
import { nameWithoutAnyMark } from '../../../src/campaigns/mark.ts'
import type { Campaign, CampaignApi } from '../../../src/campaigns/service/port.ts'
import { canonical, isEmpty } from '../../../src/campaigns/targeting.ts'
import { HOUR } from '../../../src/lib/clock.ts'
import { explore, type Mutation } from '../../helpers/campaigns/model.ts'
import type { Host } from '../../helpers/campaigns/world.ts'

const SEED = Number(process.env.FEEDSYNCD_SEED ?? 20_261_122)
/** OTHERS are requisition ids of postings that belong to other entries. */
const OTHERS = ['R-K2-1', 'R-K3-5']
const widened = ({ body }: { body: object | null }) => {
  const { targeting } = Object(body)
  return { ...body, targeting: { ...targeting, requisitionIds: OTHERS } }
}

const HISTORIES = 6000
/** sent has the budget that was sent with each new campaign, by the id of the campaign. */
const sent = new Map<string, number | null | undefined>()

/** answering changes the campaigns in the answers to reads. */
const answering =
  (change: (one: Campaign, host: Host) => Campaign): NonNullable<Mutation['process']> =>
  (process, host) => {
    const { api, service } = process
    const get: CampaignApi['get'] = async (id, signal) => {
      const answer = await api.get(id, signal)
      return answer.kind === 'ok' ? { ...answer, value: change(answer.value, host) } : answer
    }
    const list: typeof service.list = async (signal) => {
      const listing = await service.list(signal)
      if (listing.kind === 'failure') return listing
      const rows = [...listing.campaigns].map(([id, one]) => [id, change(one, host)] as const)
      return { ...listing, campaigns: new Map(rows) }
    }
    return { ...process, service: { get, list }, api: { ...api, get } }
  }

it.each<[string, RegExp, Mutation]>([
  [
    'a shown targeting that can be wider is no other form of what was sent',
    /what is shown is wider|is in line, and its targeting is/,
    {
      store: (store, host) => ({
        ...store,
        save: (binding) => {
          const { targeting } = binding.sent
          const { echo } = host.world.book.knobs
          const one = host.world.all.find(({ id }) => id === binding.campaignId)
          const text =
            echo === null || one === undefined ? null : JSON.stringify(echo(one.targeting))
          store.save(
            targeting === null || text === null
              ? binding
              : { ...binding, shown: { targeting, text } },
          )
        },
      }),
    },
  ],
  [
    'the daemon sends no requisition ids',
    /lets K\d select R-/,
    {
      // The rule sees no requisition ids, and the request has them.
      entries: (entries) =>
        entries.map((entry) =>
          entry.targeting === null || isEmpty(entry.targeting, 'requisitionIds')
            ? entry
            : { ...entry, targeting: { ...entry.targeting, requisitionIds: [] } },
        ),
      store: (store) => ({
        ...store,
        begin: (row) => store.begin(row.actor === 'daemon' ? { ...row, body: widened(row) } : row),
      }),
      sync: (tools) => ({
        ...tools,
        api: {
          ...tools.api,
          putTargeting: (id, targeting, signal) =>
            tools.api.putTargeting(id, { ...targeting, requisitionIds: OTHERS }, signal),
        },
      }),
    },
  ],
  [
    'the daemon uses no file that might be cut',
    /from a file that was cut/,
    {
      store: (store, host) => ({
        ...store,
        usedFile: () => ({ fileSha256: host.managed().fileSha256, keys: [] }),
      }),
    },
  ],
  [
    'a created campaign is compared with what was sent',
    /a create follows one that the service made otherwise/,
    {
      process: ({ api, ...process }) => ({
        ...process,
        api: {
          ...api,
          create: async (body, signal) => {
            const answer = await api.create(body, signal)
            if (answer.kind === 'failure') return answer
            sent.set(answer.value.id, body.budget)
            return answer
          },
          get: async (id, signal) => {
            const answer = await api.get(id, signal)
            const budget = sent.get(id)
            sent.delete(id)
            if (answer.kind === 'failure' || budget === undefined) return answer
            return { ...answer, value: { ...answer.value, budget } }
          },
        },
      }),
    },
  ],
  [
    'a mark is found without its brackets',
    /is created again beside/,
    {
      process: answering((one) => ({
        ...one,
        name: /\[#\w+\]/.test(`${one.name}`)
          ? (one.name ?? null)
          : nameWithoutAnyMark(`${one.name}`),
      })),
    },
  ],
  [
    'a campaign that a listing shows without its name is read by id',
    /is created again beside/,
    {
      process: ({ service, ...process }) => ({
        ...process,
        service: {
          ...service,
          list: async (signal) => {
            const listing = await service.list(signal)
            if (listing.kind === 'failure') return listing
            const rows = [...listing.campaigns].map(([id, one]) => {
              return [id, { ...one, name: one.name ?? `${id}` }] as const
            })
            return { ...listing, campaigns: new Map(rows) }
          },
        },
      }),
    },
  ],
  [
    'a digest covers the number of the last write by a person',
    /a confirmed line is sent a second time/,
    { store: (store) => ({ ...store, lastPersonWrite: () => 0 }) },
  ],
  [
    'a create without a known result blocks a create with its name for another key',
    /is created again beside/,
    {
      store: (store, host) => ({
        ...store,
        openCreations: () => {
          const keys = new Set(host.entries().map(({ key }) => key))
          return store.openCreations().filter(({ key }) => keys.has(key))
        },
      }),
    },
  ],
  [
    'a create without a known result stays open after forget',
    /is created again beside/,
    {
      store: (store) => ({
        ...store,
        begin: (row) => {
          if (row.action === 'forget')
            for (const one of store.openCreations())
              if (one.key === row.key)
                store.end(one.id, { outcome: 'not-sent', reason: null, at: row.at })
          return store.begin(row)
        },
      }),
    },
  ],
  [
    'nothing is created within an hour after a create whose result is unknown',
    /is created again beside/,
    {
      store: (store) => ({
        ...store,
        openCreations: () =>
          store.openCreations().map((one) => ({ ...one, at: one.at - 2 * HOUR })),
      }),
    },
  ],
  [
    'a restored database creates nothing for an hour',
    /is created again beside/,
    { store: (store) => ({ ...store, restoredAt: () => null }) },
  ],
  [
    'a person applies the first targeting of a binding',
    /the daemon sends the first targeting/,
    {
      sync: (tools) => ({
        ...tools,
        store: {
          ...tools.store,
          binding: (key) => {
            const found = tools.store.binding(key)
            const targeting = found?.sent.targeting ?? canonical({})
            return found && { ...found, sent: { ...found.sent, targeting } }
          },
        },
      }),
    },
  ],
  [
    'the daemon sends nothing to a campaign if another field than the targeting differs',
    /differs from the file/,
    { entries: (entries) => entries.map((entry) => ({ ...entry, values: {} })) },
  ],
  [
    'a targeting without a known result is sent once more after an hour',
    /is in line, and its targeting is/,
    {
      store: (store) => ({
        ...store,
        save: (binding) => store.save({ ...binding, repeatAt: null }),
      }),
    },
  ],
])('the random histories fail without the rule that %s', async (_, promise, mutation) => {
  const broken = await explore(HISTORIES, SEED, mutation).then(
    () => null,
    (error: Error) => error,
  )

  expect(String(broken?.cause)).toMatch(promise)
})
