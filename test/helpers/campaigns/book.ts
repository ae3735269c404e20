// The campaigns of a service in memory, for the tests of the reconciler: apart from the sandbox, whose
// own tests hold it to the specification.

export interface Targeted {
  externalCampaignId?: string | null
  [list: string]: unknown
}

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
  /** null: one-time, 1: monthly. */
  period: number | null
  /** 1 running, 2 archived, 3 paused. */
  status: number
  spend: number
  /** null: all postings. */
  targeting: Targeted | null
  /** Wall ms from which listings, and reads by id, show it. */
  listedFrom: number
  foundFrom: number
}

export interface BookKnobs {
  echoTargeting: boolean
  pageSize: number
  fromCache: boolean
  /** Names are cut to this many characters. */
  nameLength: number | null
  /** Fields that any PUT changes beside those it was sent. */
  sideEffect: Partial<BookCampaign> | null
  /** ms until a create is done, until listings show it then, and until a read by id finds it. */
  commitAfterMs: number
  listedAfterMs: number
  foundAfterMs: number
}

type Fields = Record<string, unknown>

export class Book {
  readonly all: BookCampaign[] = []
  readonly knobs: BookKnobs = {
    ...{
      echoTargeting: false,
      pageSize: 100,
      fromCache: false,
      nameLength: null,
      sideEffect: null,
    },
    ...{ commitAfterMs: 0, listedAfterMs: 0, foundAfterMs: 0 },
  }
  readonly #now: () => number
  #lastId = 48_000

  constructor(now: () => number) {
    this.#now = now
  }

  create(accountId: string, fields: Fields): BookCampaign {
    const { commitAfterMs, listedAfterMs, foundAfterMs } = this.knobs
    const committed = this.#now() + commitAfterMs
    const one: BookCampaign = {
      ...{
        id: String(++this.#lastId),
        accountId,
        name: '',
        endDate: null,
        budget: null,
        cpc: null,
      },
      ...{ autoBidLevel: null, maxCpc: null, paidCpaGoal: null, period: null, status: 1, spend: 0 },
      ...{ targeting: null, startDate: new Date(this.#now()).toISOString().replace(/\.\d+Z/, 'Z') },
      ...(structuredClone(fields) as Partial<BookCampaign>),
      ...{ listedFrom: committed + listedAfterMs, foundFrom: committed + foundAfterMs },
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
    Object.assign(one, structuredClone(fields), this.knobs.sideEffect)
    if (typeof fields.name === 'string') one.name = this.#fitted(fields.name)
  }

  shown(one: BookCampaign): Fields {
    const { listedFrom, foundFrom, targeting, ...fields } = one
    return this.knobs.echoTargeting ? { ...fields, targeting } : fields
  }

  /** One page: rows in the order of their making, and the numbers of the envelope. */
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
    const { nameLength } = this.knobs
    return nameLength === null ? name : name.slice(0, nameLength)
  }
}
