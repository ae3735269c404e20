// Postings holds the postings of each account. The first request that needs the postings of an account reads its
// objects into the scratch file of the database. A count tests some postings at a time, so that other requests can run
// meanwhile.

import { setImmediate } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import { messageOf } from '../../lib/errors.ts'
import { isDiskFull } from '../disk-full.ts'
import type { Knobs } from '../knobs.ts'
import type { StoredObject } from '../records.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import type { SandboxTargeting } from './body.ts'
import { type FieldMapping, readPostings } from './posting-reader.ts'
import { type SandboxPosting, targetingTest } from './targeting.ts'

/** The column `hidden` is 1 if a newer object of the account has a posting with the same id. */
const SCHEMA = `
CREATE TABLE scratch.postings (
  feed INTEGER NOT NULL, id TEXT NOT NULL, externalCampaignId TEXT NOT NULL,
  requisitionId TEXT NOT NULL, title TEXT NOT NULL, description TEXT NOT NULL, city TEXT NOT NULL,
  state TEXT NOT NULL, postalCode TEXT NOT NULL, hidden INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX scratch.postings_feed ON postings (feed);
CREATE INDEX scratch.postings_id ON postings (id, feed);
CREATE INDEX scratch.postings_campaign ON postings (feed, externalCampaignId);
CREATE INDEX scratch.postings_requisition ON postings (feed, requisitionId);
`

/** SLICE is the number of postings that are tested at a time, in a few ms. */
const SLICE = 500

/** Feed is what was read from one object. */
interface Feed {
  /** object names one write of a key (see `nameOf`), because a key can be written again. */
  object: string
  id: number
  /** problem says why the object could not be read, or is null. An object that could not be read has no postings. */
  problem: string | null
}

/** Kept is what was read for one account. Its feeds are in the order in which their objects were written. */
interface Kept {
  feeds: readonly Feed[]
  /** total is the number of postings that are not hidden. */
  total: number
  /** counts has the number of selected postings for each targeting that was asked for, by its JSON text. */
  counts: Map<string, Promise<number>>
}

export class Postings {
  readonly #db: Database.Database
  readonly #store: ObjectStore
  readonly #mapping: FieldMapping
  readonly #knobs: Knobs
  readonly #kept = new Map<string, Kept>()
  /** #reading has the running read of each account, so that several callers share one read. */
  readonly #reading = new Map<string, Promise<void>>()
  #lastFeed = 0

  /** The scratch file of `db` is attached as `scratch`. */
  constructor({
    db,
    store,
    mapping,
    knobs,
  }: { db: Database.Database; store: ObjectStore; mapping: FieldMapping; knobs: Knobs }) {
    this.#db = db
    this.#store = store
    this.#mapping = mapping
    this.#knobs = knobs
    db.exec(SCHEMA)
  }

  /** prepare reads what a count needs, so that a full disk fails a request before the request changes anything. */
  async prepare(account: string): Promise<void> {
    await this.#ready(account)
  }

  /** problem returns why an object of the account could not be read, or null. */
  async problem(account: string): Promise<string | null> {
    const { feeds } = await this.#ready(account)
    return feeds.find(({ problem }) => problem !== null)?.problem ?? null
  }

  /** count returns how many postings of the account the targeting selects. */
  async count(account: string, targeting: SandboxTargeting | null): Promise<number> {
    const kept = await this.#ready(account)
    if (targeting === null || kept.total === 0) return kept.total
    const text = JSON.stringify(targeting)
    const counting = kept.counts.get(text) ?? this.#countIn(kept, targeting)
    kept.counts.set(text, counting)
    const count = await counting.catch((error: unknown) => {
      kept.counts.delete(text)
      throw error
    })
    // If a newer object came meanwhile, old and new postings were counted together. Then count again.
    return this.#kept.get(account) === kept ? count : this.count(account, targeting)
  }

  /** selected yields the selected postings in feed order, with descriptions only if the targeting has keywords. */
  async *selected(
    account: string,
    targeting: SandboxTargeting | null,
  ): AsyncGenerator<SandboxPosting, void> {
    yield* this.#selectedIn(await this.#ready(account), targeting)
  }

  clear(): void {
    this.#kept.clear()
    this.#db.exec('DELETE FROM scratch.postings')
  }

  async #countIn(kept: Kept, targeting: SandboxTargeting): Promise<number> {
    let count = 0
    for await (const _ of this.#selectedIn(kept, targeting)) count++
    return count
  }

  async *#selectedIn(
    { feeds }: Kept,
    targeting: SandboxTargeting | null,
  ): AsyncGenerator<SandboxPosting, void> {
    const isTargeted = targetingTest(targeting)
    const description = targeting?.jobDescKeywords.length ? 'description' : `'' AS description`
    for (const { id } of feeds) {
      for (const rows of this.#slices(id, targeting, description)) {
        for (const posting of rows) if (isTargeted(posting)) yield posting
        await setImmediate()
      }
    }
  }

  /** #slices yields postings that the ids in the targeting allow, at most SLICE at once. The caller tests the rest. */
  *#slices(feed: number, targeting: SandboxTargeting | null, description: string) {
    const columns = `id, externalCampaignId, requisitionId, title, ${description}, city, state, postalCode`
    const campaign = targeting?.externalCampaignId?.trim() ?? ''
    if (campaign !== '') {
      const rowids = this.#db
        .prepare(
          `SELECT rowid FROM postings WHERE feed = @feed AND externalCampaignId = @campaign
           UNION SELECT postings.rowid FROM json_each(@requisitionIds) CROSS JOIN postings
           WHERE feed = @feed AND requisitionId = trim(value) ORDER BY 1`,
        )
        .pluck()
        .all({ feed, campaign, requisitionIds: JSON.stringify(targeting?.requisitionIds) })
      const read = this.#db.prepare(
        `SELECT ${columns} FROM postings
         WHERE rowid IN (SELECT value FROM json_each(?)) AND hidden = 0 ORDER BY rowid`,
      )
      for (let at = 0; at < rowids.length; at += SLICE) {
        yield read.all(JSON.stringify(rowids.slice(at, at + SLICE))) as SandboxPosting[]
      }
      return
    }
    const read = this.#db.prepare(
      `SELECT rowid AS n, hidden, ${columns} FROM postings INDEXED BY postings_feed
       WHERE feed = ? AND rowid > ? ORDER BY rowid LIMIT ${SLICE}`,
    )
    type ReadRow = SandboxPosting & { n: number; hidden: number }
    for (let after = 0; ; ) {
      const rows = read.all(feed, after) as ReadRow[]
      if (rows.length === 0) return
      after = rows.at(-1)?.n ?? after
      yield rows.filter(({ hidden }) => hidden === 0).map(({ n, hidden, ...posting }) => posting)
    }
  }

  /** #ready resolves with what the account has, once the objects that it keeps now have been read. */
  async #ready(account: string): Promise<Kept> {
    for (;;) {
      const objects = this.#objectsOf(account)
      const kept = this.#kept.get(account) ?? NOTHING_KEPT
      const names = kept.feeds.map(({ object }) => object)
      if (names.join('\n') === objects.map(nameOf).join('\n')) return kept
      const reading = this.#reading.get(account) ?? this.#read(account, objects)
      this.#reading.set(account, reading)
      await reading.finally(() => this.#reading.delete(account))
    }
  }

  /** #objectsOf returns the objects that the account keeps, in the order in which they were written. */
  #objectsOf(account: string): StoredObject[] {
    const all = this.#store
      .list()
      .filter((object) => object.account === account)
      .sort((a, b) => a.written - b.written)
    return this.#knobs.accountKeeps === 'all' ? all : all.slice(-1)
  }

  /** #read reads new objects, hides postings whose id a newer object has, and forgets objects that are gone. */
  async #read(account: string, objects: readonly StoredObject[]): Promise<void> {
    const old = this.#kept.get(account)?.feeds ?? []
    const feeds: Feed[] = []
    for (const object of objects) {
      const known = old.find((feed) => feed.object === nameOf(object))
      feeds.push(known ?? (await this.#readObject(object)))
    }
    const feedIds = JSON.stringify(feeds.map(({ id }) => id))
    if (feeds.length > 1 || old.length > 1) this.#hideOlder(feedIds)
    const total = this.#db
      .prepare(
        'SELECT count(*) FROM postings WHERE feed IN (SELECT value FROM json_each(?)) AND hidden = 0',
      )
      .pluck()
      .get(feedIds) as number
    this.#kept.set(account, { feeds, total, counts: new Map() })
    for (const feed of old) if (!feeds.includes(feed)) this.#forget(feed.id)
  }

  /** #hideOlder hides each posting whose id a newer feed has, and shows all others. `feedIds` is JSON, oldest first. */
  #hideOlder(feedIds: string): void {
    this.#db
      .prepare(
        `WITH kept (feed, place) AS (SELECT value, key FROM json_each(@feedIds))
         UPDATE postings SET hidden = id <> '' AND EXISTS (
           SELECT 1 FROM postings AS newer JOIN kept ON kept.feed = newer.feed
           WHERE newer.id = postings.id
             AND place > (SELECT place FROM kept WHERE feed = postings.feed))
         WHERE feed IN (SELECT feed FROM kept)`,
      )
      .run({ feedIds })
  }

  /** #readObject reads the postings of an object into the scratch file. Throws if the disk is full. */
  async #readObject(object: StoredObject): Promise<Feed> {
    const id = ++this.#lastFeed
    const insert = this.#db.prepare(
      `INSERT INTO postings VALUES (${id}, @id, @externalCampaignId, @requisitionId, @title,
       @description, @city, @state, @postalCode, 0)`,
    )
    const insertAll = this.#db.transaction((postings: SandboxPosting[]) => {
      for (const posting of postings) insert.run(posting)
    })
    try {
      for await (const postings of readPostings(object.path, this.#mapping)) insertAll(postings)
      return { object: nameOf(object), id, problem: null }
    } catch (error) {
      this.#forget(id)
      // The next request reads again, and there might be room then.
      if (isDiskFull(error)) throw error
      // A broken feed sponsors nothing.
      return { object: nameOf(object), id, problem: messageOf(error) }
    }
  }

  #forget(feed: number): void {
    this.#db.prepare('DELETE FROM postings WHERE feed = ?').run(feed)
  }
}

const NOTHING_KEPT: Kept = { feeds: [], total: 0, counts: new Map() }
/** nameOf names one write of a key. */
const nameOf = ({ key, sha256, written }: StoredObject) => `${written} ${key} ${sha256}`
