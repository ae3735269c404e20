// Makes the picture of the README from the feeds of the demo: `node docs/pictures/make.ts`. It needs Chromium.

import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import { demoFeeds } from '../../src/cli/demo-feeds.ts'

const HERE = import.meta.dirname
const MAIN = join(HERE, '..', '..', 'src', 'main.ts')
const COLUMNS = '80'
const FLAGS = ['--no-sandbox', '--disable-gpu']

const directory = mkdtempSync(join(tmpdir(), 'feedsyncd-'))
const daemon = spawn(process.execPath, [MAIN, 'demo', '--stay', '--dir', directory])
try {
  let page = ''
  for await (const line of createInterface(daemon.stdout)) {
    if (line.startsWith('page')) page = line.slice(4).trim()
    if (line.startsWith('drop XML')) break
  }
  for (const { name, bytes } of demoFeeds()) {
    const path = join(directory, 'inbox', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, bytes)
  }
  const config = ['--config', join(directory, 'feedsyncd.yaml')]
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [MAIN, ...args, ...config], {
      env: { ...process.env, COLUMNS, NO_COLOR: '1' },
      encoding: 'utf8',
    })
  const isMoving = () => /settling|checking|queued|uploading/.test(run('status'))
  do await sleep(1000)
  while (isMoving())
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: FLAGS,
  })
  const tab = await browser.newPage({ viewport: { width: 1100, height: 720 } })
  await tab.goto(page)
  await tab.screenshot({ path: join(HERE, 'page.png') })
  await browser.close()
} finally {
  daemon.kill()
  rmSync(directory, { recursive: true, force: true })
}
