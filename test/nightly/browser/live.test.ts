import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { quickClock } from '../../helpers/quick-clock.ts'
import { feedOf, Site } from '../../helpers/site.ts'
import { CHROMIUM, launch, open, SLOW } from './chromium.ts'
import { scene } from './scenes.ts'

const heading = (page: Page, text: string) => page.locator('h1', { hasText: text }).waitFor()

describe.skipIf(CHROMIUM === null)('the page of a running daemon', SLOW, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  }, SLOW.timeout)
  afterAll(() => browser.close(), SLOW.timeout)

  it('shows new feeds and what needs attention without a reload, keeps the focus, and says when the daemon is gone', async () => {
    const http = { listen: '127.0.0.1:0' }
    await using site = await Site.open({ http }, { clock: quickClock() })
    const daemon = await site.daemon()
    const [, url = ''] = /"address":"(http:[^"]+)"/.exec(daemon.output) ?? []
    const { page, faults } = await open(browser, url, { first: TEN_TIMES_AS_OFTEN })
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
      /b\.xml\s*warning[\s\S]*Rejected: line 1, column 14/,
    )
    expect(await page.evaluate('window.isStillHere && document.activeElement.className')).toBe(
      'brand',
    )
    expect(faults).toEqual([])

    await daemon.stop()
    await page.locator('#stale').waitFor({ state: 'visible' })
    expect(await page.locator('tr', { hasText: 'a.xml' }).count()).toBe(1)
  })

  it('keeps its title and icon current while its tab is hidden, and turns stale when no answer comes', async () => {
    await using site = await Site.open({ http: { listen: '127.0.0.1:0' } }, { clock: quickClock() })
    const daemon = await site.daemon()
    const [, url = ''] = /"address":"(http:[^"]+)"/.exec(daemon.output) ?? []
    const { page } = await open(browser, url, { first: HIDDEN_AND_QUICK })
    await heading(page, 'Waiting for the first feed')

    site.drop('b.xml', '<source><job></source>')
    await heading(page, '1 feed needs attention')
    const icon = () => page.locator('link[rel=icon]').getAttribute('href')
    const amber = await icon()
    await daemon.stop()
    await eventually(async () => expect(await page.title()).toMatch(/^Stale: /))

    expect(amber).toContain('c77800')
    expect(await icon()).toContain('7a838c')
  })

  it('leads by keyboard from the status page to a feed, to its version, and back', async () => {
    const { page, faults } = await open(browser, await scene('broken'))

    const way = { 'globex.xml': '/feed', 'version 30': '/version', 'All feeds': '/' }
    for (const [name, pathname] of Object.entries(way)) {
      await page.getByRole('link', { name, exact: true }).first().focus()
      await page.keyboard.press('Enter')
      await page.waitForURL((url) => url.pathname === pathname)
    }

    expect(faults).toEqual([])
  })

  it('shows its heading and its feeds without a script', async () => {
    const { page } = await open(browser, await scene('busy'), { script: false })

    expect(await page.locator('h1').textContent()).toBe('1 feed and 1 campaign need attention')
    expect(await page.locator('.feeds tbody tr').count()).toBe(12)
  })
})

/** HIDDEN_AND_QUICK hides the page, and lets its clock run a hundred times and its timers ten times as fast. */
const HIDDEN_AND_QUICK = `
  Object.defineProperty(Document.prototype, 'hidden', { get: () => true })
  const after = AbortSignal.timeout.bind(AbortSignal)
  AbortSignal.timeout = (ms) => after(ms / 10)
  const now = performance.now.bind(performance)
  performance.now = () => 100 * now()
`

/** TEN_TIMES_AS_OFTEN makes the page refresh ten times as often: its only timer is 3 s. */
const TEN_TIMES_AS_OFTEN = `
  const after = AbortSignal.timeout.bind(AbortSignal)
  AbortSignal.timeout = (ms) => after(ms / 10)
`
