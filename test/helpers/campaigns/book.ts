// A service's campaigns in memory. They are independent of the sandbox, which has tests of its own.

export interface BookCampaign {
  id: string
  accountId: string
  name: string
  startDate: string
  endDate: string | null
  budget: number | null
  autoBidLevel: string | null
  cpc: number | null
  maxCpc: number | null
  paidCpaGoal: number | null
  /** null means one-time, 1 means monthly. */
  period: number | null
  /** 1 running, 2 archived, 3 paused. */
  status: number
  spend: number
  /** null means all postings. */
  targeting: Record<string, unknown> | null
  /** Wall ms from which a listing shows the campaign. */
  listedFrom: number
  /** Wall ms from which a read by id finds the campaign. */
  foundFrom: number
}

export interface BookKnobs {
  /** echo returns the targeting that answers show; if it is null, answers show no targeting. */
  echo: ((targeting: Record<string, unknown> | null) => unknown) | null
  pageSize: number
  fromCache: boolean
  /** The service cuts names to this many characters; null if it does not. */
  nameLength: number | null
  /** keptName returns how the service keeps a name. */
  keptName: (name: string) => string
  /** The fields of an update that the service accepts but does not change. */
  ignored: readonly string[]
  /** The ms until a listing shows a new campaign. */
  listedAfterMs: number
  /** The ms until a read by id finds a new campaign. */
  foundAfterMs: number
}

export type Fields = Record<string, unknown>

export class Book {
  readonly all: BookCampaign[] = []
  readonly knobs: BookKnobs = {
    ...{ echo: null, pageSize: 100, fromCache: false, nameLength: null, ignored: [] },
    ...{ keptName: (name: string) => name, listedAfterMs: 0, foundAfterMs: 0 },
  }
  readonly #now: () => number
  #lastId = 48_000

  constructor(now: () => number) {
    this.#now = now
  }

  create(accountId: string, fields: Fields): BookCampaign {
    const { listedAfterMs, foundAfterMs } = this.knobs
    const now = this.#now()
    const one: BookCampaign = {
      ...{ id: String(++this.#lastId), accountId, name: '', endDate: null, budget: null },
      ...{ cpc: null, autoBidLevel: null, maxCpc: null, paidCpaGoal: null, period: null },
      ...{ status: 1, spend: 0, targeting: null },
      startDate: new Date(now).toISOString().replace(/\.\d+Z/, 'Z'),
      ...(structuredClone(fields) as Partial<BookCampaign>),
      ...{ listedFrom: now + listedAfterMs, foundFrom: now + foundAfterMs },
    }
    one.name = this.#fitted(one.name)
    this.all.push(one)
    return one
  }

  find(accountId: string, id: string): BookCampaign | null {
    const found = this.all.find((one) => one.accountId === accountId && one.id === id)
    return found !== undefined && found.foundFrom <= this.#now() ? found : null
  }

  update(one: BookCampaign, fields: Fields): void {
    const { ignored } = this.knobs
    const kept = Object.entries(fields).filter(([field]) => !ignored.includes(field))
    Object.assign(one, structuredClone(Object.fromEntries(kept)))
    if (fields.name !== undefined) one.name = this.#fitted(one.name)
  }

  shown(one: BookCampaign): Fields {
    const { listedFrom, foundFrom, targeting, ...fields } = one
    const { echo } = this.knobs
    return echo === null ? fields : { ...fields, targeting: echo(targeting) }
  }

  /** search returns one page, in the order of creation, and the numbers of its envelope. */
  search(
    accountId: string,
    rows: readonly BookCampaign[],
    query: { status?: number; start?: number; num?: number },
  ) {
    const now = this.#now()
    const { pageSize, fromCache } = this.knobs
    const matching = rows.filter(
      (one) =>
        one.accountId === accountId &&
        one.listedFrom <= now &&
        (query.status === undefined ? one.status !== 2 : one.status === query.status),
    )
    const from = Math.max(0, (query.start ?? 1) - 1)
    const page = matching.slice(from, from + Math.min(query.num ?? pageSize, pageSize))
    const [first, last] = page.length === 0 ? [null, null] : [from + 1, from + page.length]
    return { page, envelope: { total: matching.length, startNum: first, endNum: last, fromCache } }
  }

  #fitted(name: string): string {
    const { keptName, nameLength } = this.knobs
    return nameLength === null ? keptName(name) : name.slice(0, nameLength)
  }
}
