// Records the writes in the history: a row before each request, and how the request ended. After a crash at any point,
// the row shows that a request was sent.

import type { Clock } from '../lib/clock.ts'
import type { Actor, CampaignStore, NewWrite, WriteEnding } from './port.ts'
import type { CampaignCreate } from './service/port.ts'

/** Recorder records the writes of one person, or of the daemon. */
export class Recorder {
  readonly #store: CampaignStore
  readonly #clock: Clock
  readonly #actor: Actor
  readonly #by: string

  /** `by` says who writes, for the history: `daemon: file`, or `maria: campaigns apply`. */
  constructor({
    store,
    clock,
    actor,
    by,
  }: { store: CampaignStore; clock: Clock; actor: Actor; by: string }) {
    this.#store = store
    this.#clock = clock
    this.#actor = actor
    this.#by = by
  }

  /**
   * prepare prepares the database for writes: it finds out whether the database is a restored copy, and ends the rows
   * of a process that died as `unknown`. The caller holds the writer lock.
   */
  prepare(): void {
    this.#store.renewMark()
    const reason = 'the process ended while it sent the request'
    for (const { id } of this.#store.sending()) this.end(id, { outcome: 'unknown', reason })
  }

  /** begin writes the row that precedes a request, and returns the row's id. */
  begin(write: Omit<NewWrite, 'at' | 'actor' | 'by'>): number {
    return this.#store.begin({
      ...write,
      at: this.#clock.now(),
      actor: this.#actor,
      by: this.#by,
    })
  }

  beginCreate(key: string, body: CampaignCreate): number {
    return this.begin({ key, campaignId: null, action: 'create', body, before: {} })
  }

  end(id: number, ending: Omit<WriteEnding, 'at'>): void {
    this.#store.end(id, { ...ending, at: this.#clock.now() })
  }

  /** recordBind records that a campaign was bound to a key, for which nothing is sent. */
  recordBind(key: string, campaignId: string): void {
    const id = this.begin({ key, campaignId, action: 'bind', body: null, before: {} })
    this.end(id, { outcome: 'done', reason: null })
  }
}
