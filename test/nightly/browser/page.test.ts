import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, launch, open, overflows, SLOW } from './chromium.ts'
import { type SceneName, scene } from './scenes.ts'

const SCENES: SceneName[] = ['empty', 'busy', 'broken']
const WIDTHS = { desktop: 1280, phone: 390 }

describe.skipIf(CHROMIUM === null)('the status page in a browser', SLOW, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  }, SLOW.timeout)
  afterAll(() => browser.close(), SLOW.timeout)

  const looks = SCENES.flatMap((name) =>
    (['desktop', 'phone'] as const).flatMap((device) =>
      (['light', 'dark'] as const).map((colours) => ({ name, device, colours })),
    ),
  )

  it.each(looks)('$name fits a $device in $colours, and does nothing wrong', async (look) => {
    const { name, device, colours } = look
    const url = await scene(name)

    for (const path of [
      '',
      ...(name === 'empty' ? [] : ['feed?name=globex.xml', 'version?id=31']),
    ]) {
      const { page, faults } = await open(browser, `${url}/${path}`, {
        colours,
        width: WIDTHS[device],
      })

      expect(await overflows(page)).toEqual([])
      expect(faults).toEqual([])
    }
  })
})
