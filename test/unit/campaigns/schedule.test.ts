import { describe, expect, it } from 'vitest'
import { CampaignSchedule } from '../../../src/campaigns/schedule.ts'
import { HOUR, MINUTE, SECOND, systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'
import type { CampaignRun } from '../../../src/ops/campaigns/run.ts'

const AT = '2026-11-22T06:00:00.000Z'
const RUN: CampaignRun = {
  ...{ at: AT, cause: 'start', mode: 'targeting', state: 'done', since: AT },
  ...{ problem: null, hint: null, entries: [], findings: [], failures: [] },
}
const waiting = (key: string) => ({
  ...{ key, campaignId: null, state: 'new' as const, since: AT, reason: null, next: null },
  ...{ changes: [], name: null, status: null, coverage: null },
})
const never = new AbortController().signal

/** Hours runs the daemon's loop each second. `pass` returns the causes and times of the looks in between. */
class Hours {
  #now = 0
  readonly #causes: string[] = []
  readonly told: [string, string | null][] = []
  stamp: string | null = 'file 1'
  polls = 0
  run: Partial<CampaignRun> | Error = {}
  /** The duration of each look, in ms. */
  takes = 0
  /** `within` is called during each look. */
  within: (stop: AbortSignal) => void = () => {}
  readonly schedule = new CampaignSchedule({
    ...{ clock: { ...systemClock, monotonic: () => this.#now }, log: silentLog },
    notifyOperator: (message, hint) => this.told.push([message, hint]),
    looks: {
      stamp: () => {
        this.polls += 1
        return this.stamp
      },
      lastRun: () => null,
      isPaused: () => false,
      look: async (cause, { stop }) => {
        this.#causes.push(`${cause} ${this.#now / SECOND}`)
        this.within(stop)
        this.#now += this.takes
        if (this.run instanceof Error) throw this.run
        return { ...RUN, cause, ...this.run }
      },
    },
  })

  async pass(ms: number, step = SECOND): Promise<string[]> {
    const before = this.#causes.length
    const end = this.#now + ms
    while (this.#now < end) {
      this.schedule.start({ stop: never, abort: never }, () => {})
      await Promise.all(this.schedule.running)
      this.#now += step
    }
    return this.#causes.slice(before)
  }
}

describe('the daemon looks at the campaigns', () => {
  it('at its start and each hour afterwards', async () => {
    const hours = new Hours()

    expect(await hours.pass(2 * HOUR + MINUTE)).toEqual([
      ...['start 0', 'interval 3600', 'interval 7200'],
    ])
  })

  it('two seconds after the last change of the file', async () => {
    const hours = new Hours()
    await hours.pass(MINUTE)
    hours.stamp = 'file 2'
    await hours.pass(2 * SECOND)
    hours.stamp = 'file 3'

    expect(await hours.pass(MINUTE)).toEqual(['file 64'])
  })

  it('after uploads for at most a twentieth of the time, without delaying the hourly look', async () => {
    const hours = new Hours()
    hours.takes = 10 * SECOND
    await hours.pass(30 * MINUTE)
    const looks: string[] = []
    for (let n = 0; n < 80; n++) {
      hours.schedule.uploaded()
      looks.push(...(await hours.pass(30 * SECOND)))
    }

    expect(looks.filter((look) => look.startsWith('upload')).length).toBeGreaterThanOrEqual(10)
    expect(looks.length).toBeLessThanOrEqual(14)
    expect(looks.filter((look) => look.startsWith('interval'))).toEqual(['interval 3610'])
  })

  it('two seconds after a save, even if a feed is uploaded in between', async () => {
    const hours = new Hours()
    await hours.pass(MINUTE)
    hours.stamp = 'file 2'
    await hours.pass(SECOND)
    hours.schedule.uploaded()

    expect(await hours.pass(MINUTE)).toEqual(['upload 61', 'file 62'])
  })

  it('again after 5 minutes if the look failed or threw, and after 15 if the service refused the credentials', async () => {
    const hours = new Hours()
    hours.run = { state: 'failed' }
    const failing = await hours.pass(5 * MINUTE + SECOND)
    hours.run = new Error('a fault')
    const faulty = await hours.pass(5 * MINUTE)
    hours.run = { state: 'credentials' }
    const refused = await hours.pass(25 * MINUTE)

    expect([failing, faulty, refused]).toEqual([
      ['start 0', 'interval 300'],
      ['interval 600'],
      ['interval 900', 'interval 1800'],
    ])
  })

  it('again after ten seconds, for the same cause, if another process writes campaigns', async () => {
    const hours = new Hours()
    hours.run = { state: 'busy' }
    const busy = await hours.pass(11 * SECOND)
    hours.run = {}
    const free = await hours.pass(HOUR)

    expect([busy, free]).toEqual([['start 0', 'start 10'], ['start 20']])
  })

  it('and polls the file every two seconds, even if its loop runs more often', async () => {
    const hours = new Hours()
    await hours.pass(SECOND)
    const before = hours.polls
    await hours.pass(MINUTE, 5)

    expect(hours.polls - before).toBe(30)
  })

  it('and notifies a person once about the same waiting entries, and again about others', async () => {
    const hours = new Hours()
    hours.run = { entries: [waiting('A')] }
    await hours.pass(2 * HOUR + MINUTE)
    hours.run = { entries: [waiting('A'), waiting('B')] }
    await hours.pass(HOUR)

    expect(hours.told).toEqual([
      ['campaigns: 1 entry waits for you: A', 'feedsyncd campaigns plan'],
      ['campaigns: 2 entries wait for you: A, B', 'feedsyncd campaigns plan'],
    ])
  })
})
