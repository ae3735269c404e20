import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { feedOf } from '../../helpers/feed.ts'
import { openWithEndpoint } from '../../helpers/ops/endpoint-site.ts'
import { CHROMIUM, launch, open, SLOW } from './chromium.ts'
import { scene } from './scenes.ts'

const heading = (page: Page, text: string) => page.locator('h1', { hasText: text }).waitFor()

describe.skipIf(CHROMIUM === null)('the page of a daemon that works', SLOW, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  }, SLOW.timeout)
  afterAll(() => browser.close(), SLOW.timeout)

  it('follows feeds without a reload, keeps the focus, and says when the daemon is gone', async () => {
    const { site, url, child } = await openWithEndpoint()
    const { page, faults } = await open(browser, url)
    await heading(page, 'Waiting for the first feed')
    await page.evaluate('window.isStillHere = true')
    await page.locator('.brand').focus()

    site.drop('a.xml', feedOf(3))
    await page
      .locator('tr', { hasText: 'a.xml' })
      .locator('.state', { hasText: 'uploaded' })
      .waitFor()
    await heading(page, 'Nothing needs attention')
    site.drop('b.xml', '<source><job></source>')
    await heading(page, '1 feed needs attention')

    expect(await page.title()).toMatch(/^\(1\) 1 feed needs attention/)
    expect(await page.locator('.card').textContent()).toMatch(
      /b\.xml\s*rejected[\s\S]*Line 1, column 14/,
    )
    expect(await page.evaluate('window.isStillHere && document.activeElement.className')).toBe(
      'brand',
    )
    expect(faults).toEqual([])

    child.kill('SIGKILL')
    await page.locator('#stale').waitFor({ state: 'visible' })
    expect(await page.locator('tr', { hasText: 'a.xml' }).count()).toBe(1)
  })

  it('leads by keyboard from what is owed to its feed, its version, and back', async () => {
    const { page, faults } = await open(browser, await scene('broken'))

    const way = { 'globex.xml': '/feed', 'version 30': '/version', 'All feeds': '/' }
    for (const [name, pathname] of Object.entries(way)) {
      await page.getByRole('link', { name, exact: true }).first().focus()
      await page.keyboard.press('Enter')
      await page.waitForURL((url) => url.pathname === pathname)
    }

    expect(faults).toEqual([])
  })

  it('shows the same without a script', async () => {
    const { page } = await open(browser, await scene('busy'), { script: false })

    expect(await page.locator('h1').textContent()).toBe('1 feed needs attention')
    expect(await page.locator('.feeds tbody tr').count()).toBe(14)
  })

  it.each(['light', 'dark'] as const)(
    'can be read by weak eyes in %s: contrast 4.5 and more',
    async (colours) => {
      const url = await scene('broken')
      for (const path of ['/', '/feed?name=globex.xml', '/version?id=31']) {
        const { page } = await open(browser, url + path, { colours })
        onTestFinished(() => page.close())

        expect(await page.evaluate(FAINT)).toEqual([])
      }
    },
  )
})

/** Texts whose contrast is below WCAG's AA, by its formula for relative luminance. */
const FAINT = `(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number)
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
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
