import { describe, expect, it } from 'vitest'
import { CampaignSchedule } from '../../../src/campaigns/schedule.ts'
import { HOUR, MINUTE, SECOND, systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/silent-log.ts'
import type { CampaignRun } from '../../../src/ops/port.ts'

const RUN: CampaignRun = {
  ...{ at: '2026-11-22T06:00:00.000Z', cause: 'start', mode: 'apply', state: 'done', pending: 0 },
  ...{ problem: null, hint: null, planId: 1, done: [], waiting: [] },
}
const never = new AbortController().signal

/** The daemon's loop turns each second; `pass` answers the causes of the looks meanwhile, with their times. */
class Hours {
  #now = 0
  readonly #causes: string[] = []
  stamp: string | null = 'file 1'
  decision: string | null = null
  polls = 0
  run: Partial<CampaignRun> | Error = {}
  /** How long each look takes, in ms. */
  takes = 0
  readonly schedule = new CampaignSchedule({
    ...{
      clock: { ...systemClock, monotonic: () => this.#now },
      log: silentLog,
      notifyOperator: () => {},
    },
    stamp: () => {
      this.polls += 1
      return this.stamp
    },
    memory: () => ({ decision: this.decision, run: null }),
    look: async (cause) => {
      this.#causes.push(`${cause} ${this.#now / SECOND}`)
      this.#now += this.takes
      if (this.run instanceof Error) throw this.run
      return { ...RUN, cause, ...this.run }
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
  it('at its start and each hour after', async () => {
    const hours = new Hours()

    expect(await hours.pass(2 * HOUR + MINUTE)).toEqual([
      'start 0',
      'interval 3600',
      'interval 7200',
    ])
  })

  it('at once when a person asks for it with SIGHUP, and an hour after that', async () => {
    const hours = new Hours()
    await hours.pass(10 * MINUTE)

    hours.schedule.again()

    expect(await hours.pass(HOUR + MINUTE)).toEqual(['reload 600', 'interval 4200'])
  })

  it('within seconds after a person decided in another process, once for each decision', async () => {
    const hours = new Hours()
    await hours.pass(MINUTE)

    hours.decision = 'resolve NUR-Q1'
    const decided = await hours.pass(MINUTE)
    hours.decision = null
    const own = await hours.pass(MINUTE)
    hours.decision = 'resolve DRV'
    const again = await hours.pass(MINUTE)

    expect([decided, own, again]).toEqual([['decision 60'], [], ['decision 180']])
  })

  it('not more than a twentieth of the time, however often a person decides', async () => {
    const hours = new Hours()
    hours.takes = 10 * SECOND
    await hours.pass(MINUTE)
    let looks = 0
    for (let n = 0; n < 40; n++) {
      hours.decision = `apply ${n}`
      looks += (await hours.pass(30 * SECOND)).length
    }

    expect(looks).toBeLessThanOrEqual(6)
  })

  it('when the file changed and then rests for two seconds', async () => {
    const hours = new Hours()
    await hours.pass(MINUTE)
    hours.stamp = 'file 2'
    await hours.pass(2 * SECOND)

    hours.stamp = 'file 3'

    expect(await hours.pass(MINUTE)).toEqual(['file 64'])
  })

  it('again in five minutes when the service could not be asked, and in two while an outcome stays unknown', async () => {
    const hours = new Hours()
    hours.run = { state: 'failed' }
    const failing = await hours.pass(5 * MINUTE + SECOND)
    hours.run = new Error('a fault')
    const faulty = await hours.pass(5 * MINUTE)
    const since = '2026-11-22T05:57:00.000Z'
    const waiting = {
      key: 'A',
      action: 'unknown',
      code: 'unknown',
      reason: null,
      needs: null,
      since,
    }
    hours.run = { waiting: [waiting] }
    const unknown = await hours.pass(7 * MINUTE)

    expect([failing, faulty, unknown]).toEqual([
      ['start 0', 'interval 300'],
      ['interval 600'],
      ['interval 900', 'interval 1020'],
    ])
  })

  it('in ten seconds for a write without an answer, unless more creates would go with the look', async () => {
    const waiting = [{ key: 'A', action: 'unknown', code: 'unknown', reason: null, needs: null }]
    const hours = new Hours()
    hours.run = { waiting }
    const alone = await hours.pass(11 * SECOND)
    hours.run = { waiting, pending: 3 }
    const limited = await hours.pass(2 * MINUTE + 20 * SECOND)

    expect([alone, limited]).toEqual([
      ['start 0', 'interval 10'],
      ['interval 20', 'interval 140'],
    ])
  })

  it.each(['done', 'failed'] as const)(
    'in ten seconds after a reduction that failed, and in two minutes when it goes on failing: %s',
    async (state) => {
      const hours = new Hours()
      hours.run = { state, owesReduction: true }
      const looks = await hours.pass(4 * MINUTE + 10 * SECOND)

      expect(looks.slice(0, 4)).toEqual(['start 0', 'interval 10', 'interval 20', 'interval 30'])
      expect(looks.slice(-2)).toEqual(['interval 120', 'interval 240'])
    },
  )

  it('each hour again for an outcome that stays unknown, and each quarter while it is refused', async () => {
    const hours = new Hours()
    const since = '2026-11-22T05:40:00.000Z'
    hours.run = {
      waiting: [{ key: 'A', action: 'unknown', code: 'unknown', reason: null, needs: null, since }],
    }
    const held = await hours.pass(HOUR + SECOND)
    hours.run = { state: 'refused' }
    await hours.pass(HOUR)
    const refused = await hours.pass(30 * MINUTE)

    expect([held, refused]).toEqual([
      ['start 0', 'interval 3600'],
      ['interval 8100', 'interval 9000'],
    ])
  })

  it('in ten seconds for the same reason while another process writes campaigns', async () => {
    const hours = new Hours()
    hours.run = { state: 'busy' }
    const busy = await hours.pass(11 * SECOND)
    hours.run = {}
    const free = await hours.pass(HOUR)

    expect([busy, free]).toEqual([['start 0', 'start 10'], ['start 20']])
  })

  it('in ten seconds, too, for a decision or an upload, however long the other process was waited for', async () => {
    const hours = new Hours()
    await hours.pass(MINUTE)
    hours.run = { state: 'busy' }
    hours.takes = SECOND
    hours.decision = 'apply 12'
    const decided = await hours.pass(15 * SECOND)
    hours.run = {}
    await hours.pass(HOUR)
    hours.run = { state: 'busy' }
    hours.schedule.uploaded()
    const uploaded = await hours.pass(15 * SECOND)

    expect(decided).toEqual(['decision 60', 'decision 71'])
    expect(uploaded).toEqual(['upload 3675', 'upload 3686'])
  })

  it('with a poll of the file each two seconds at most, however often its loop turns', async () => {
    const hours = new Hours()
    await hours.pass(SECOND)
    const before = hours.polls

    await hours.pass(MINUTE, 5)

    expect(hours.polls - before).toBeLessThanOrEqual(30)
  })
})
