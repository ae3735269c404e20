import { describe, expect, it } from 'vitest'
import { entry, fileOf, states } from '../../helpers/campaigns/file.ts'
import { installed } from '../../helpers/campaigns/world.ts'

const FILE = fileOf(
  entry('A', states('MA')),
  entry('B', 'targeting:\n      stateProvCodes: [MA]\n      jobTitles: [nurse]'),
)
const changed = FILE.replace('[MA]', '[MA, ON]')

describe('the daemon uses no campaigns file that might be cut:', () => {
  it.each([
    ['inside a line', changed.trimEnd(), 'it does not end in a line break'],
    [
      'before an entry',
      changed.slice(0, changed.indexOf('  - externalCampaignId: B')),
      'it no longer has the entry B',
    ],
    [
      'before the last criterion',
      changed.slice(0, changed.lastIndexOf('\n', changed.indexOf('jobTitles')) + 1),
      'its last entry, B, covers more and no longer names jobTitles',
    ],
    [
      'before the last field',
      fileOf(
        entry('A', states('MA')),
        '  - externalCampaignId: B\n    targeting: { stateProvCodes: [MA, ON], jobTitles: [nurse] }\n',
      ),
      'its last entry, B, covers more and no longer names budget',
    ],
  ])(
    'cut %s, nothing is sent or pending, and a finding says why and what to do',
    async (_, cut, why) => {
      const { world, host } = await installed(FILE)
      world.calls.splice(0)
      host.file = cut

      const results = await host.daemon()
      const { entries, findings } = await host.plan()

      expect(results).toEqual([])
      expect(world.writes()).toEqual([])
      expect(findings[0]).toMatchObject({
        ...{ code: 'file', severity: 'warning', text: expect.stringContaining(why) },
        next: 'if the file is complete: feedsyncd campaigns apply',
      })
      expect(entries.map(({ state }) => state)).not.toContain('pending')
    },
  )

  it('cut anywhere, what the daemon sends is a whole targeting of the new file', async () => {
    const next = FILE.replaceAll('[MA]', '[ON]')
    const sentAt = async (end: number) => {
      const { world, host } = await installed(FILE)
      world.calls.splice(0)
      host.file = next.slice(0, end)
      try {
        host.entries()
      } catch {
        return []
      }
      await host.daemon()
      return world.writes().map(({ body }) => body?.targeting)
    }
    const isCut = (end: number) => end % 7 === 0 || next[end - 1] === '\n'
    const sent: unknown[] = []

    for (let end = 0; end < next.length; end++) if (isCut(end)) sent.push(...(await sentAt(end)))
    const whole = await sentAt(next.length)

    expect(whole).toMatchObject([
      { stateProvCodes: ['ON'] },
      { stateProvCodes: ['ON'], jobTitles: ['nurse'] },
    ])
    expect(sent.length).toBeGreaterThan(0)
    for (const one of sent) expect(whole).toContainEqual(one)
  })
})

describe('the daemon uses a file', () => {
  it('whose bound entries are all there', async () => {
    const { host } = await installed(FILE)
    host.file = changed

    expect(await host.daemon()).toMatchObject([{ key: 'A', outcome: 'done' }])
  })

  it('that a person applied as a whole, even without a line to send', async () => {
    const { host } = await installed(FILE)
    const shorter = FILE.slice(0, FILE.indexOf('  - externalCampaignId: B'))
    host.file = shorter
    await host.apply()
    host.file = shorter.replace('[MA]', '[ON]')

    expect(await host.daemon()).toMatchObject([{ key: 'A', outcome: 'done' }])
  })

  it('that might be cut only after a whole apply: apply --lower, or apply of one key, does not count', async () => {
    const { host } = await installed(FILE)
    host.file = changed.slice(0, changed.indexOf('  - externalCampaignId: B'))
    await host.lower()
    await host.apply('A')

    expect((await host.plan()).findings[0]?.code).toBe('file')
  })
})
