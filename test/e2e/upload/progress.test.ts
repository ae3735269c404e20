import { describe, expect, it } from 'vitest'
import { eventuallyTrue } from '../../helpers/eventually.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'

describe('a long upload', () => {
  it('shows its growing progress in status, show and on the pages', async () => {
    const config = { upload: { maxRate: '64KiB' }, http: { listen: '127.0.0.1:0' } }
    await using site = await Site.open(config, { clock: quickClock() })
    const daemon = await site.daemon()
    const page = /http:\/\/127\.0\.0\.1:\d+/.exec(await site.logged(daemon, 'endpoint.open'))?.[0]

    site.drop('long.xml', feedOf(40_000))
    const far = async () => {
      const { uploads } = JSON.parse((await site.run('status', '--json')).stdout)
      return uploads[0]?.progress?.bytesSent ?? 0
    }
    await eventuallyTrue(async () => (await far()) > 0)
    const before = await far()
    await eventuallyTrue(async () => (await far()) > before)

    const shown = /\d+ %: [\d.]+ [KM]iB of [\d.]+ [KM]iB, [\d.]+ KiB\/s, .* left/
    expect((await site.run('status')).stdout).toMatch(new RegExp(`\n    ${shown.source}\n`))
    expect((await site.run('show', '1')).stdout).toMatch(new RegExp(`^sent +${shown.source}$`, 'm'))
    expect(await (await fetch(`${page}/version?id=1`)).text()).toMatch(shown)
    expect(await (await fetch(`${page}/`)).text()).toMatch(shown)
  })

  it('shows no progress after its end', async () => {
    await using site = await Site.open()
    await site.daemon()
    site.drop('short.xml', feedOf(2))
    const upload = await site.until('short.xml', 'uploaded')

    expect(upload.progress).toBeNull()
    expect((await site.run('show', String(upload.id))).stdout).not.toMatch(/^sent /m)
  })
})
