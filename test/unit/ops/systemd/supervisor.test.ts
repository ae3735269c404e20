import { describe, expect, it } from 'vitest'
import { type Clock, SECOND, systemClock } from '../../../../src/lib/clock.ts'
import type { Pulse } from '../../../../src/ops/port.ts'
import { Supervisor } from '../../../../src/ops/systemd/supervisor.ts'

/** A supervisor whose clock the test moves. */
function bench(env: Record<string, string> = {}) {
  let now = 0
  let timers: { at: number; run: () => void }[] = []
  const clock: Clock = {
    ...systemClock,
    after: (ms, run) => {
      const timer = { at: now + ms, run }
      timers.push(timer)
      const cancel = () => {
        timers = timers.filter((other) => other !== timer)
      }
      return { [Symbol.dispose]: cancel }
    },
  }
  const sent: string[] = []
  const world = { status: 'idle', makesProgress: true, stage: 'running' as Pulse['stage'] }
  let roundAt = 0
  const pulse = () => ({ stage: world.stage, sinceRoundMs: now - roundAt, conditions: [] })
  const supervisor = new Supervisor({
    ...{ clock, env, pid: 42 },
    notify: async (...fields) => void sent.push(fields.join(' ')),
    status: () => world.status,
  })
  const pass = (ms: number): string[] => {
    const before = sent.length
    const until = now + ms
    for (;;) {
      const next = timers.toSorted((a, b) => a.at - b.at)[0]
      if (next === undefined || next.at > until) break
      timers = timers.filter((other) => other !== next)
      now = next.at
      if (world.makesProgress) roundAt = now
      next.run()
    }
    now = until
    return sent.slice(before)
  }
  return { supervisor, sent, world, pass, ready: () => supervisor.ready(pulse) }
}

describe('the supervisor', () => {
  it('reports that the daemon is ready, with its status', () => {
    const { ready, sent } = bench()

    ready()

    expect(sent).toEqual(['READY=1 STATUS=idle'])
  })

  it('sends a changed status at once and only once, and nothing before the daemon is ready', () => {
    const { ready, supervisor, sent, world } = bench()
    supervisor.changed()
    ready()

    world.status = 'the disk is full; idle'
    supervisor.changed()
    supervisor.changed()

    expect(sent).toEqual(['READY=1 STATUS=idle', 'STATUS=the disk is full; idle'])
  })

  it('sends a new status at most every 10 s, and an unchanged one never', () => {
    const { ready, world, pass } = bench()
    ready()

    const idle = pass(60 * SECOND)
    world.status = '3 waiting'
    const soon = pass(9 * SECOND)
    const later = pass(SECOND)

    expect([idle, soon, later]).toEqual([[], [], ['STATUS=3 waiting']])
  })

  it('sends four signs of life in the time of the watchdog, and none while the loop hangs', () => {
    const { ready, world, pass } = bench({ WATCHDOG_USEC: '120000000' })
    ready()

    const turning = pass(120 * SECOND)
    world.makesProgress = false
    pass(60 * SECOND)
    const hanging = pass(600 * SECOND)

    expect(turning).toEqual(Array(4).fill('WATCHDOG=1'))
    expect(hanging).toEqual([])
  })

  it('sends signs of life while the daemon stops, although the loop has ended', () => {
    const { ready, world, pass } = bench({ WATCHDOG_USEC: '40000000' })
    ready()
    Object.assign(world, { makesProgress: false, stage: 'stopping' })

    expect(pass(120 * SECOND)).toHaveLength(12)
  })

  it('sends no sign of life if systemd watches another process or none', () => {
    for (const env of [{ WATCHDOG_USEC: '1000000', WATCHDOG_PID: '41' }, {}]) {
      const { ready, pass } = bench(env)
      ready()

      expect(pass(60 * SECOND)).toEqual([])
    }
  })

  it('reports that the daemon stops, and asks systemd for the time that a stop can take', async () => {
    const { supervisor, sent } = bench()

    await supervisor.stopping()

    expect(sent[0]).toMatch(/^STOPPING=1 EXTEND_TIMEOUT_USEC=40000000 STATUS=stopping/)
  })
})
