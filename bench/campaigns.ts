// Measures the whole command `feedsyncd campaigns plan` when nothing has to change: with ten thousand campaigns,
// compared with ten. The service answers pages of a thousand. A command that writes to the service ends the benchmark.

import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { bindingOf } from '../src/campaigns/bind.ts'
import { NOTHING_KNOWN } from '../src/campaigns/field-changes.ts'
import { markOf, withMark } from '../src/campaigns/mark.ts'
import { sentOf } from '../src/campaigns/sent.ts'
import { openCampaignStore } from '../src/campaigns/store.ts'
import { type Bench, type Benchmark, elapsed, repeat } from './bench.ts'
import { type Figure, figure } from './figures.ts'
import { Site } from './site.ts'

const FEW = 10
const MANY = 10_000
const PAGE = 1_000

export const campaigns: Benchmark = {
  name: 'campaigns',
  title: 'Campaigns with nothing to do',
  run: async (bench) => {
    await using few = await Vendor.open(bench, FEW)
    const figures: Figure[] = []
    for (const count of bench.quick ? [MANY] : [1_000, MANY]) {
      await using many = await Vendor.open(bench, count)
      const ours: number[] = []
      const peer: number[] = []
      // The first plan warms the caches and is not counted.
      await many.plan()
      await repeat(bench, `campaigns, ${count}`, async () => {
        peer.push(await few.plan())
        ours.push(await many.plan())
      })
      figures.push(
        figure({ what: `plan, ${count.toLocaleString('en')} campaigns`, unit: 'ms' }, ours, {
          peer: { name: `${FEW} campaigns`, runs: peer },
          ...(count === MANY && { target: { of: 'value', atMost: 2_000 } }),
          note: `the whole command; ${many.readsOfAPlan} reads, no write`,
        }),
      )
    }
    return figures
  },
}

/** Vendor has a campaigns file, a history in which the file was applied, and a service with exactly these campaigns. */
class Vendor implements AsyncDisposable {
  readonly #site: Site
  readonly #server: ReturnType<typeof createServer>
  #reads = 0
  #plans = 0

  private constructor(site: Site, server: ReturnType<typeof createServer>) {
    this.#site = site
    this.#server = server
    server.on('request', () => this.#reads++)
  }

  static async open(bench: Bench, count: number): Promise<Vendor> {
    const rows: object[] = []
    const server = listingServer(rows)
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const site = new Site(bench, { url })
    // The program creates the database itself, so that it holds the name of the account.
    await site.start(['status']).end()
    const keys = Array.from({ length: count }, (_, n) => `K-${n}`)
    const entries = keys.map(
      (key) =>
        `  - { externalCampaignId: ${key}, name: Campaign ${key}, budget: "100.00", targeting: all }\n`,
    )
    writeFileSync(join(site.root, 'campaigns.yaml'), `version: 1\ncampaigns:\n${entries.join('')}`)
    using store = openCampaignStore({ file: site.database, account: `${url} 123` })
    store.atomically(() => {
      for (const [n, key] of keys.entries()) {
        const name = withMark(`Campaign ${key}`, markOf('123', key))
        const body = { name, budget: 100, targeting: { externalCampaignId: key } }
        const row = { id: String(48_000 + n), name, budget: 100, status: 1, period: null }
        store.save(
          bindingOf(
            key,
            { ...row, other: {} },
            {
              ...NOTHING_KNOWN,
              sent: sentOf(body),
            },
          ),
        )
        rows.push({ ...row, spend: 12.5, sponsoredPostings: 40, leads: 3 })
      }
    })
    return new Vendor(site, server)
  }

  /** readsOfAPlan is the mean number of service calls of one plan so far. */
  get readsOfAPlan(): number {
    return this.#reads / this.#plans
  }

  /** plan runs the command and returns its ms. It rejects if there is anything to do. */
  plan(): Promise<number> {
    this.#plans++
    return elapsed(() => this.#site.start(['campaigns', 'plan']).end())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#site[Symbol.asyncDispose]()
    this.#server.close()
  }
}

/** listingServer answers listings with pages of these campaigns, which all run (status 1). Throws at a write. */
function listingServer(rows: readonly object[]): ReturnType<typeof createServer> {
  return createServer(({ method, url }, response) => {
    if (method !== 'GET') throw new Error(`a write: ${method} ${url}`)
    const query = new URL(url ?? '', 'http://localhost').searchParams
    const status = query.get('Status')
    const matching = status === null || status === '1' ? rows : []
    const from = Number(query.get('Start') ?? 1)
    const page = matching.slice(from - 1, from - 1 + PAGE)
    const total = matching.length
    const endNum = page.length === 0 ? null : from + page.length - 1
    const envelope = { total, startNum: from, endNum, numRequested: PAGE, fromCache: false }
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ ...envelope, campaigns: page }))
  }).listen(0, '127.0.0.1')
}
