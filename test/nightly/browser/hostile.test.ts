import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { State } from '../../../src/history/port.ts'
import { printable } from '../../../src/lib/printable.ts'
import { temporaryHistory } from '../../helpers/history/temporary.ts'
import { hostileNames } from '../../helpers/hostile-names.ts'
import { reportOf } from '../../helpers/ops/samples.ts'
import { statusWith } from '../../helpers/ops/status-report.ts'
import { CHROMIUM, launch, open, overflows, SLOW } from './chromium.ts'
import { addVersion, serve } from './scenes.ts'

/** NAMES has room for each of the 44 attacks alone and for each pair of attacks. */
const NAMES = 44 + 44 * 44
/** BATCH is how many names are on one page. */
const BATCH = 12
const STATES: State[] = ['held', 'rejected', 'failed', 'incomplete']
/**
 * stateOf returns another state each time an attack comes again, after 44 names, so that it meets each of the states.
 */
const stateOf = (n: number) => STATES[(n + Math.floor(n / 44)) % STATES.length] ?? 'held'

describe.skipIf(CHROMIUM === null)('hostile names and reasons in a browser', SLOW, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  }, SLOW.timeout)
  afterAll(() => browser.close(), SLOW.timeout)

  it(`are shown as text (${NAMES} of them): nothing runs, nothing is fetched, nothing overflows`, async () => {
    const names = hostileNames(NAMES)
    let from = 0
    const batch = () =>
      names.slice(from, from + BATCH).map((name, n) => {
        const over = { feed: name, path: name, reason: name, hint: name, warnings: [name] }
        return reportOf({ ...over, id: from + n, state: stateOf(from + n) })
      })
    const { history } = temporaryHistory()
    const report = () =>
      statusWith({ daemon: { mode: 'poll', modeReason: names[from] ?? null }, uploads: batch() })
    const url = await serve(history, {
      status: report,
      problems: () => report().problems,
      versions: () => [],
    })
    const { page, faults } = await open(browser, url, { width: 390 })

    for (; from < NAMES; from += BATCH) {
      // Test both the loaded page and the page that the script refreshes.
      if ((from / BATCH) % 10 === 0) await page.goto(url)
      else await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
      // Most cards are closed, so the link need not be visible.
      await page.locator(`a[href="/version?id=${from}"]`).first().waitFor({ state: 'attached' })

      const shown = await page.locator('table .name').allTextContents()
      expect(shown).toEqual(names.slice(from, from + BATCH).map(printable))
      expect(await overflows(page)).toEqual([])
      expect(await page.evaluate('window.hit')).toBeUndefined()
    }
    expect(faults).toEqual([])
  })

  it('have pages of their own for feed and version, which show the name, and the search finds each name', async () => {
    const { history } = temporaryHistory()
    const names = hostileNames(44).filter((name) => name.isWellFormed())
    for (const [n, feed] of names.entries()) {
      const id = addVersion(history, {
        feed,
        at: 1000 * n,
        steps: [
          ['checking', null],
          ['held', feed, feed],
        ],
      })
      const own = { account: feed, records: feed, encoding: feed, fileUrl: feed, warnings: [feed] }
      history.update(id, {
        ...own,
        externalCampaignIds: Object.fromEntries([[feed, 1]]),
      })
    }
    const url = await serve(history)
    /**
     * walk visits the pages of every second name, so that two browser pages are open while one waits for the server.
     */
    const walk = async (part: number) => {
      const { page, faults } = await open(browser, url, { width: 390 })
      for (const [n, name] of names.entries()) {
        if (n % 2 !== part) continue
        await page.goto(`${url}/feed?name=${encodeURIComponent(name)}`)
        expect(await textOf(page, 'h1')).toBe(printable(name))
        expect(await overflows(page)).toEqual([])
        await page.goto(`${url}/version?id=${n + 1}`)
        expect(await textOf(page, '.crumb bdi')).toBe(printable(name))
        expect(await overflows(page)).toEqual([])
        await page.goto(`${url}/?find=${encodeURIComponent(name)}`)
        expect(await textOf(page, '.feeds tbody tr')).toBeTruthy()
        expect(await page.evaluate('window.hit')).toBeUndefined()
      }
      expect(faults).toEqual([])
    }

    await Promise.all([walk(0), walk(1)])
  })
})

/** textOf is faster than a locator, which first loads its own script into each page. */
function textOf(page: Page, selector: string): Promise<string> {
  return page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent`)
}
