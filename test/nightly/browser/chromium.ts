// A real browser, if one is installed, for tests of the pages. It records everything that a page must not do: errors,
// violations of its policy, dialogs, and requests to other hosts.

import { accessSync, constants } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'

const PLACES = [
  process.env.CHROMIUM ?? '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

/** CHROMIUM is the path of the browser; null if this host has none, and then the tests are skipped. */
export const CHROMIUM = PLACES.find(isProgram) ?? null

if (CHROMIUM === null) {
  console.warn('skipped: there is no Chromium here; apt-get install chromium, or set CHROMIUM')
}

/** SLOW is a long limit, in ms, because a browser is slow on a busy host. It only ends a test that hangs. */
export const SLOW = { timeout: 1_800_000 }

/** launch starts the browser with a new, empty profile. */
export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM ?? '', args: FLAGS, ...SLOW })
}

export interface PageOptions {
  colours?: 'light' | 'dark'
  /** CSS pixels. */
  width?: number
  script?: boolean
  /** A script that runs in the page before its own. */
  first?: string
}

export interface Watched {
  page: Page
  /** What the page did although it must not, as sentences. */
  faults: string[]
}

/** open opens a page, and records its faults until the test ends. */
export async function open(
  browser: Browser,
  url: string,
  options: PageOptions = {},
): Promise<Watched> {
  const { colours = 'light', width = 1280, script = true, first = '' } = options
  const context = await browser.newContext({
    ...{ colorScheme: colours, javaScriptEnabled: script, reducedMotion: 'reduce' },
    viewport: { width, height: width < 500 ? 844 : 900 },
  })
  onTestFinished(() => context.close())
  context.setDefaultTimeout(SLOW.timeout)
  await context.addInitScript(first)
  const page = await context.newPage()
  const faults: string[] = []
  const origin = new URL(url).origin
  page.on('console', (message) => faults.push(`console ${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const asked = request.url()
    if (!asked.startsWith(`${origin}/`) && !asked.startsWith('data:image/svg+xml,'))
      faults.push(`request: ${asked}`)
  })
  await page.goto(url)
  return { page, faults }
}

/** overflows returns the elements beyond the right edge of the main part, and the page if it scrolls sideways. */
export function overflows(page: Page): Promise<string[]> {
  return page.evaluate(OVERFLOWS)
}

/** OVERFLOWS is a string, because this project has no types of a browser's globals. */
const OVERFLOWS = `(() => {
  const width = document.documentElement.clientWidth
  const edge = document.querySelector('main').getBoundingClientRect().right
  const wide = [...document.body.querySelectorAll('*')].filter((element) => {
    const { right, width: own } = element.getBoundingClientRect()
    return own > 0 && right > edge + 0.5
  })
  const found = wide.map(({ tagName, className }) => tagName + '.' + className)
  return document.documentElement.scrollWidth > width ? ['the page', ...found] : found
})()`

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
