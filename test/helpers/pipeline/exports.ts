// The folder of a vendor in which anything happens to exports with and without dates in their names, over the real
// history and decisions. It finds a story in which an older export goes over a later one.

import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import fc from 'fast-check'
import { carryOut } from '../../../src/app/decisions.ts'
import type { Config, FeedConfig } from '../../../src/config/config.ts'
import { feedFor } from '../../../src/config/feeds.ts'
import type { History, Version } from '../../../src/history/port.ts'
import { openHistory } from '../../../src/history/sqlite-history.ts'
import { DAY, SECOND, systemClock } from '../../../src/lib/clock.ts'
import type { FileIdentity } from '../../../src/lib/files.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { decideSending } from '../../../src/pipeline/decide/sending.ts'
import { sendFacts } from '../../../src/pipeline/facts.ts'
import { Ledger } from '../../../src/pipeline/ledger.ts'
import { feedRule } from '../feed-rule.ts'
import { putEmptyHistory } from '../history/empty.ts'
import { temporaryFolder } from '../history/temporary.ts'

const START = Date.UTC(2026, 10, 25)
/** Days from START that names have; the last one lies too far ahead to count. */
const DAYS = [-3, -2, -1, 0, 1, 40, 500]
const CONTENTS = 6
const MARIA = { by: 'maria', config: { inbox: { receipts: false } } as Config }

/** The rules that a restart can bring: no rule, a rule with a name, and a rule without a name. */
const RULES = [[], [feedRule('**/*.xml', { name: 'jobs' })], [feedRule('**/*.xml')]]

const name = fc.record({
  day: fc.option(fc.nat(DAYS.length - 1), { freq: 3 }),
  gz: fc.boolean(),
  /** True writes the date as 25.11.2026, false as 2026-11-25. */
  isDotted: fc.boolean(),
})
type Name = { day: number | null; gz: boolean; isDotted: boolean }

const happenings = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('export'), name, content: fc.nat(CONTENTS - 1) }),
    fc.record({ kind: fc.constantFrom('touch', 'remove', 'archive'), which: fc.nat() }),
    fc.record({ kind: fc.constant('rename'), which: fc.nat(), name }),
    fc.record({ kind: fc.constant('upload'), name, content: fc.nat(CONTENTS - 1) }),
    fc.record({ kind: fc.constant('look'), order: fc.nat(5) }),
    fc.record({ kind: fc.constant('send'), isStored: fc.boolean() }),
    fc.record({ kind: fc.constant('restore'), which: fc.nat() }),
    fc.record({ kind: fc.constant('restart'), rules: fc.nat(RULES.length - 1) }),
  ),
  { minLength: 10, maxLength: 60, size: 'max' },
)

type Happening = (typeof happenings extends fc.Arbitrary<infer T> ? T : never)[number]

interface OnDisk {
  content: number
  identity: FileIdentity
  day: number | null
}

/** pathOf returns a path such as `jobs-2026-11-25.xml.gz`. */
function pathOf({ day, gz, isDotted }: Name): string {
  const date =
    day === null ? '' : new Date(START + (DAYS[day] ?? 0) * DAY).toISOString().slice(0, 10)
  const shown = isDotted ? date.split('-').reverse().join('.') : date
  return `jobs${day === null ? '' : `-${shown}`}.xml${gz ? '.gz' : ''}`
}

/** Sent is the version of a feed that the service has. No file of a day before `day` may replace it. */
interface Sent {
  id: number
  day: number
}

class VendorsFolder implements Disposable {
  readonly #history: History
  readonly #files = new Map<string, OnDisk>()
  readonly #onService = new Map<string, Sent>()
  /** The latest day under which each version was seen. */
  readonly #days = new Map<number, number>()
  #rules = RULES[0] as FeedConfig[]
  #ledger: Ledger
  #now = START
  #inode = 1
  /** How many versions were stored over others; a test asserts that this happens at all. */
  replaced = 0

  constructor(file: string) {
    this.#history = openHistory({ file })
    this.#ledger = this.#started()
  }

  [Symbol.dispose](): void {
    this.#history[Symbol.dispose]()
  }

  /** run plays a story. Returns what went wrong, or null. */
  run(story: readonly Happening[]): string | null {
    for (const each of story) {
      this.#now += SECOND
      const wrong = this.#play(each)
      if (wrong !== null) return wrong
    }
    return null
  }

  /** #started returns the ledger of a process that has just started on the history. */
  #started(): Ledger {
    const clock = { ...systemClock, now: () => this.#now }
    return new Ledger({ history: this.#history, clock, log: silentLog, onMove: () => {} })
  }

  #play(each: Happening): string | null {
    switch (each.kind) {
      case 'export':
        this.#write(pathOf(each.name), each.content, each.name.day)
        return null
      case 'touch': {
        const [path, file] = this.#pick(each.which) ?? []
        if (path !== undefined && file !== undefined) this.#write(path, file.content, file.day)
        return null
      }
      case 'remove':
      case 'archive': {
        const [path, file] = this.#pick(each.which) ?? []
        if (path === undefined || file === undefined) return null
        this.#files.delete(path)
        if (each.kind === 'archive') this.#ledger.known.moved(path, file.identity, 'archive')
        return null
      }
      case 'rename': {
        const [path, file] = this.#pick(each.which) ?? []
        if (path === undefined || file === undefined) return null
        this.#files.delete(path)
        this.#files.set(pathOf(each.name), { ...file, day: each.name.day })
        return null
      }
      case 'upload':
        // A person names the feed of a file from elsewhere; the name of that file has no date.
        this.#read(`/elsewhere/${each.content}.xml`, {
          ...{ content: each.content, day: null },
          ...{ identity: null, feed: pathOf(each.name) },
        })
        return null
      case 'look':
        this.#look(each.order)
        return null
      case 'send':
        return this.#send(each.isStored)
      case 'restore':
        this.#restore(each.which)
        return null
      case 'restart':
        this.#rules = RULES[each.rules] ?? []
        this.#ledger = this.#started()
        this.#ledger.followRules((path) => feedFor(path, this.#rules))
        return null
      default:
        return each satisfies never
    }
  }

  #pick(which: number): [string, OnDisk] | undefined {
    return [...this.#files][which % Math.max(1, this.#files.size)]
  }

  #write(path: string, content: number, day: number | null): void {
    const ino = String(this.#inode++)
    const ns = String(this.#now * 1_000_000)
    const identity = { dev: '1', ino, size: content, mtimeNs: ns, ctimeNs: ns }
    this.#files.set(path, { content, day, identity })
  }

  /** #look reads the files that are new, in any order. */
  #look(order: number): void {
    const news = [...this.#files].filter(([path, { identity }]) =>
      this.#ledger.known.isNews(path, identity),
    )
    const turned = [...news.slice(order % Math.max(1, news.length)), ...news]
    for (const [path, file] of new Map(turned)) this.#read(path, file)
    const presence = this.#ledger.known.stepsAfter((path) => this.#files.has(path))
    this.#history.atomically(() => {
      for (const step of presence) step()
    })
  }

  #read(
    path: string,
    {
      content,
      day,
      feed = null,
      identity,
    }: {
      content: number
      day: number | null
      feed?: string | null
      identity: FileIdentity | null
    },
  ): void {
    const rules = feedFor(path, this.#rules, feed)
    const sha256 = `content ${content}`
    const patch = { sha256, postings: 3, spool: `${content}.xml` }
    const file = { verdict: 'ok', reason: null, sha256, patch, final: true } as const
    const before = this.#history.newestRead(rules.feed)
    const origin = { path, identity, rule: rules }
    this.#ledger.writeFile(origin, { kind: 'read', file, held: () => null })
    const counts = day !== null && (DAYS[day] ?? 0) < 366 ? (DAYS[day] ?? 0) : null
    const version = this.#history.newestRead(rules.feed)
    if (version === null || version.sha256 !== sha256) return
    // A file without a date has the latest day that its feed had when it came.
    const known = [this.#days.get(before?.id ?? 0), this.#onService.get(rules.feed)?.day]
    const had = known.filter((one) => one !== undefined)
    const inherited = had.length === 0 ? null : Math.max(...had)
    const own =
      version.id === before?.id
        ? [this.#days.get(version.id) ?? null, counts]
        : [counts ?? inherited]
    const days = own.filter((one) => one !== null)
    if (days.length > 0) this.#days.set(version.id, Math.max(...days))
    const sent = this.#onService.get(rules.feed)
    if (sent?.id === version.id && counts !== null) sent.day = Math.max(sent.day, counts)
  }

  #send(isStored: boolean): string | null {
    for (const { id } of this.#history.due(this.#now)) {
      const wrong = this.#sendOne(id, isStored)
      if (wrong !== null) return wrong
    }
    return null
  }

  #sendOne(id: number, isStored: boolean): string | null {
    const history = this.#history
    const step = (event: Parameters<typeof decideSending>[1]) =>
      history.atomically(() => {
        const facts = sendFacts({ history, now: this.#now }, { id, event }, () => null)
        this.#ledger.write(decideSending(facts, event))
      })
    step({ kind: 'prepared', startedAt: this.#now, key: `key ${id}` })
    const version = history.version(id)
    if (version?.state !== 'uploading') return null
    const attempt = {
      ...{ startedAt: this.#now, endedAt: this.#now, status: 204, bytesSent: 3, key: `key ${id}` },
    }
    if (!isStored) {
      step({ kind: 'aborted', attempt })
      return null
    }
    step({ kind: 'stored', attempt, fileUrl: null, etagVerified: true, warning: null })
    return this.#recordStored(version)
  }

  /** #recordStored records what the service has now. Returns what is wrong beside what it had before, or null. */
  #recordStored({ approved, feed, id }: Version): string | null {
    const before = this.#onService.get(feed)
    const day = this.#days.get(id) ?? null
    if (before !== undefined) this.replaced++
    if (before !== undefined && !approved && day !== null && day < before.day)
      return `version ${id} of day ${day} went over version ${before.id} of day ${before.day} of ${feed}`
    // A person who restores a version that came before any date begins the order anew.
    const since = (approved ? null : before?.day) ?? Number.NEGATIVE_INFINITY
    this.#onService.set(feed, { id, day: day ?? since })
    return null
  }

  #restore(which: number): void {
    const kept = this.#history.list({ all: true }).filter(({ spool, state }) => {
      return spool !== null && (state === 'uploaded' || state === 'superseded')
    })
    const version = kept[which % Math.max(1, kept.length)]
    if (version === undefined) return
    const now = this.#now
    const { id } = carryOut(this.#history, { deed: 'restore', id: version.id }, { ...MARIA, now })
    const day = this.#days.get(version.id)
    if (day !== undefined) this.#days.set(id, day)
  }
}

/**
 * playStories plays `runs` random stories and returns how often a version was stored over another. Throws with the
 * shortest story in which an export went over a later one.
 */
export function playStories(runs: number, seed: number): number {
  const folder = temporaryFolder()
  let stories = 0
  let replaced = 0
  fc.assert(
    fc.property(happenings, (story) => {
      const file = `${folder}/${stories++}/history.db`
      putEmptyHistory(file)
      using vendor = new VendorsFolder(file)
      const wrong = vendor.run(story)
      replaced += vendor.replaced
      rmSync(dirname(file), { recursive: true })
      if (wrong !== null) throw new Error(wrong)
    }),
    { numRuns: runs, seed },
  )
  return replaced
}
