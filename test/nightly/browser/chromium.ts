// A real browser for tests of what people see, where one is installed. Everything that a page must not
// do is noted: errors, violations of its policy, dialogs, and requests to elsewhere.

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

/** null: there is none, and the tests that need one are skipped. */
export const CHROMIUM = PLACES.find(isProgram) ?? null

if (CHROMIUM === null) {
  console.warn('skipped: there is no Chromium here; apt-get install chromium, or set CHROMIUM')
}

/** Only a bound for what hangs: a browser on a host that is busy. */
export const SLOW = { timeout: 1_800_000 }

/** With a new, empty profile. */
export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM ?? '', args: FLAGS, ...SLOW })
}

export interface Look {
  colours?: 'light' | 'dark'
  /** CSS pixels. */
  width?: number
  script?: boolean
  /** Run in the page before its own. */
  first?: string
}

export interface Watched {
  page: Page
  /** What it did that no page of ours may do, as sentences. */
  faults: string[]
}

export async function open(browser: Browser, url: string, look: Look = {}): Promise<Watched> {
  const { colours = 'light', width = 1280, script = true, first = '' } = look
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

/** Elements that reach beyond the right edge of the main part, and the page if it can be scrolled sideways. */
export function overflows(page: Page): Promise<string[]> {
  return page.evaluate(OVERFLOWS)
}

/** Text, since the types of a browser are none of ours. */
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
