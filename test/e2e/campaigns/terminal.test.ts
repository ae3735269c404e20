import { describe, expect, it } from 'vitest'
import { CampaignsSite, DROPPED_CREATE } from '../../helpers/campaigns/campaigns-site.ts'
import { entry, fileOf } from '../../helpers/campaigns/file.ts'
import { Terminal } from '../../helpers/terminal.ts'

/** opened starts a command on a terminal and waits for its question. */
async function opened(vendor: CampaignsSite, ...words: string[]): Promise<Terminal> {
  const { site } = vendor
  const all = [process.execPath, site.program, 'campaigns', ...words, '--config', site.configFile]
  const terminal = new Terminal(all, { ...process.env, ...site.runtime, NO_COLOR: '1' })
  await terminal.until('[y/N] ')
  return terminal
}

const COMMANDS = [
  ['apply', ['apply']],
  ['create', ['create', '--name', 'By hand', '--budget', '9']],
  ['update', ['update', '48001', '--budget', '12']],
  ['forget of an unknown create', ['forget', 'A']],
] as const

describe.each(COMMANDS)('on a terminal that stays open, campaigns %s', (_, words) => {
  it.each([
    ['y', 'y\n', 0],
    ['n', 'n\n', 3],
    ['Enter', '\n', 3],
    ['Ctrl-C', '\u0003', 130],
  ] as const)(
    'after %s, ends with its exit code and sends only a confirmed write',
    async (_key, keys, code) => {
      await using vendor = await CampaignsSite.open(fileOf(entry('A')))
      vendor.site.sandbox.campaigns.create('123', { name: 'Nurses', budget: 9 })
      const isForget = words[0] === 'forget'
      if (isForget) {
        vendor.site.sandbox.faults.add(DROPPED_CREATE)
        await vendor.apply()
      }
      const before = vendor.writes()

      const terminal = await opened(vendor, ...words)
      terminal.type(keys)

      expect(await terminal.ended()).toBe(code)
      expect(vendor.writes() - before).toBe(code === 0 && !isForget ? 1 : 0)
    },
  )
})
