import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, launch, open, overflows, SLOW } from './chromium.ts'
import { scene } from './scenes.ts'

const VERSIONS = ['feed?name=globex.xml', 'version?id=31']
/** The page of the held version of the busy day. */
const HELD = 'version?id=196'
const SIZES = [
  { width: 390, height: 844 },
  { width: 1280, height: 900 },
]

describe.skipIf(CHROMIUM === null)('the status page in a browser', SLOW, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  }, SLOW.timeout)
  afterAll(() => browser.close(), SLOW.timeout)

  it.each([
    ['nothing has come yet', 'empty', ['']],
    ['the day is busy', 'busy', ['', ...VERSIONS, HELD]],
    ['everything is broken', 'broken', ['', ...VERSIONS]],
    ['there are 3 feeds', 'few', ['']],
    ['there are 40 feeds', 'some', ['']],
    ['there are 250 feeds', 'many', ['', '?state=held', '?find=region-01']],
  ] as const)(
    'when %s fits a desktop and a phone in 3,000 pixels, has enough contrast in light and dark, and does nothing forbidden',
    async (_, name, paths) => {
      const url = await scene(name)

      for (const path of paths) {
        const { page, faults } = await open(browser, `${url}/${path}`)
        for (const size of SIZES) {
          await page.setViewportSize(size)
          expect(await overflows(page)).toEqual([])
          // The page of a version can be longer, because it has every event.
          if (!path.startsWith('version'))
            expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(3000)
        }
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          expect(await page.evaluate(FAINT)).toEqual([])
        }
        expect(faults).toEqual([])
        await page.close()
      }
    },
  )
})

/** FAINT is a script. It returns the texts with less contrast than WCAG's level AA, by its formula for luminance. */
const FAINT = `(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number)
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const ground = (element) => {
    const { backgroundColor } = getComputedStyle(element)
    const alpha = parts(backgroundColor)[3] ?? 1
    return alpha > 0.5 || element.parentElement === null ? backgroundColor : ground(element.parentElement)
  }
  const faint = []
  for (const element of document.body.querySelectorAll('*')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())
    if (!own || element.closest('script, [hidden]')) continue
    const [a, b] = [light(getComputedStyle(element).color), light(ground(element))].sort((x, y) => y - x)
    const contrast = (a + 0.05) / (b + 0.05)
    if (contrast < 4.5) faint.push((element.textContent ?? '').slice(0, 40) + ' ' + contrast.toFixed(2))
  }
  return faint
})()`
