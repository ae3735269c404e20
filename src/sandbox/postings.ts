// Postings holds the postings of each account's newest object. The first request that needs them reads them into a
// temporary table.

import type Database from 'better-sqlite3'
import { messageOf } from '../lib/errors.ts'
import type { SandboxTargeting } from './campaign-body.ts'
import { isTargeted, type SandboxPosting } from './campaign-targeting.ts'
import type { ObjectStore } from './object-store.ts'
import { type FieldMapping, readPostings } from './posting-reader.ts'
import type { StoredObject } from './records.ts'

const SCHEMA = `
CREATE TEMP TABLE postings (
  feed INTEGER NOT NULL, externalCampaignId TEXT NOT NULL, requisitionId TEXT NOT NULL,
  title TEXT NOT NULL, description TEXT NOT NULL, city TEXT NOT NULL, state TEXT NOT NULL,
  postalCode TEXT NOT NULL
) STRICT;
CREATE INDEX postings_campaign ON postings (feed, externalCampaignId);
CREATE INDEX postings_requisition ON postings (feed, requisitionId);
`

interface Feed {
  /** object names the key and the hash, because a key can be written again. */
  object: string
  id: number
  total: number
  /** problem says why the object could not be read; it has no postings then. */
  problem: string | null
  /** counts has the count of each targeting, by its JSON text. */
  counts: Map<string, number>
}

export class Postings {
  readonly #db: Database.Database
  readonly #store: ObjectStore
  readonly #mapping: FieldMapping
  readonly #feeds = new Map<string, Feed>()
  /** #reading has the running read of each account, so that several callers share one read. */
  readonly #reading = new Map<string, Promise<void>>()
  #lastFeed = 0

  constructor(db: Database.Database, store: ObjectStore, mapping: FieldMapping) {
    this.#db = db
    this.#store = store
    this.#mapping = mapping
    db.exec(SCHEMA)
  }

  /** ready resolves when the account's newest object has been read. */
  async ready(account: string): Promise<void> {
    for (;;) {
      const newest = this.#newest(account)
      if (newest === undefined || this.#feeds.get(account)?.object === nameOf(newest)) return
      const reading = this.#reading.get(account) ?? this.#read(account, newest)
      this.#reading.set(account, reading)
      await reading.finally(() => this.#reading.delete(account))
    }
  }

  /** problem returns why the account's newest object could not be read, or null. */
  problem(account: string): string | null {
    return this.#feeds.get(account)?.problem ?? null
  }

  /** count returns how many postings of the account the targeting selects. */
  count(account: string, targeting: SandboxTargeting | null): number {
    const feed = this.#feeds.get(account)
    if (feed === undefined) return 0
    if (targeting === null) return feed.total
    const text = JSON.stringify(targeting)
    let count = feed.counts.get(text)
    if (count !== undefined) return count
    count = 0
    for (const _ of this.selected(account, targeting)) count++
    feed.counts.set(text, count)
    return count
  }

  /** selected yields the selected postings in feed order, with descriptions only if the targeting has keywords. */
  *selected(account: string, targeting: SandboxTargeting | null): Generator<SandboxPosting, void> {
    const feed = this.#feeds.get(account)
    if (feed === undefined) return
    const { externalCampaignId = null, requisitionIds = [], jobDescKeywords = [] } = targeting ?? {}
    const description = jobDescKeywords.length > 0 ? 'description' : `'' AS description`
    // The indexes narrow the rows down by ids. isTargeted checks all criteria.
    const wanted = externalCampaignId
      ? `rowid IN (
           SELECT rowid FROM postings WHERE feed = @id AND externalCampaignId = @externalCampaignId
           UNION SELECT postings.rowid FROM json_each(@requisitionIds) CROSS JOIN postings
           WHERE feed = @id AND requisitionId = value)`
      : 'feed = @id'
    const values = {
      id: feed.id,
      externalCampaignId,
      requisitionIds: JSON.stringify(requisitionIds),
    }
    const rows = this.#db
      .prepare(
        `SELECT externalCampaignId, requisitionId, title, ${description}, city, state, postalCode
         FROM postings WHERE ${wanted} ORDER BY rowid`,
      )
      .iterate(values) as IterableIterator<SandboxPosting>
    for (const posting of rows) if (isTargeted(targeting, posting)) yield posting
  }

  #newest(account: string): StoredObject | undefined {
    return this.#store.list().findLast((object) => object.account === account)
  }

  async #read(account: string, object: StoredObject): Promise<void> {
    const id = ++this.#lastFeed
    const feed: Feed = { object: nameOf(object), id, total: 0, problem: null, counts: new Map() }
    const insert = this.#db.prepare(
      `INSERT INTO postings VALUES
       (${id}, @externalCampaignId, @requisitionId, @title, @description, @city, @state, @postalCode)`,
    )
    const insertAll = this.#db.transaction((postings: SandboxPosting[]) => {
      for (const posting of postings) insert.run(posting)
    })
    const forget = this.#db.prepare('DELETE FROM postings WHERE feed = ?')
    try {
      for await (const postings of readPostings(object.path, this.#mapping)) {
        insertAll(postings)
        feed.total += postings.length
      }
    } catch (error) {
      // A broken feed sponsors nothing.
      forget.run(id)
      Object.assign(feed, { total: 0, problem: messageOf(error) })
    }
    const before = this.#feeds.get(account)
    if (before !== undefined) forget.run(before.id)
    this.#feeds.set(account, feed)
  }
}

const nameOf = ({ key, sha256 }: StoredObject) => `${key} ${sha256}`
