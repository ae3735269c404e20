// Makes the two pictures of the README from the feeds of the demo: `node docs/pictures/make.ts`. It needs Chromium, and
// script(1) for the terminal, so that the picture has the colours that the program prints.

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
const SHELL = `<style>
  body { margin: 0; background: #10151c }
  pre { display: inline-block; margin: 0; padding: 20px 24px; color: #d6dde6; font: 14px/1.45 monospace }
  b { color: #fff } .s31 { color: #ff8b7e } .s32 { color: #6cc08b } .s33 { color: #f0b35a } .s90 { color: #8b95a1 }
</style>`

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
  const terminal = ['status', 'show bare-ampersand.xml']
    .map((command) => `$ feedsyncd ${command}\n${typed(`${command} ${config.join(' ')}`)}`)
    .join('\n')
    .replaceAll(` ${config.join(' ')}`, '')

  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: FLAGS,
  })
  const tab = await browser.newPage({ viewport: { width: 1100, height: 720 } })
  await tab.setContent(`${SHELL}<pre>${coloured(terminal)}</pre>`)
  await tab.locator('pre').screenshot({ path: join(HERE, 'terminal.png') })
  await tab.goto(page)
  await tab.screenshot({ path: join(HERE, 'page.png') })
  await browser.close()
} finally {
  daemon.kill()
  rmSync(directory, { recursive: true, force: true })
}

/** typed runs a command on a terminal and returns what it prints, with its colours. */
function typed(command: string): string {
  const line = `${process.execPath} ${MAIN} ${command}`
  const { NO_COLOR: _, ...env } = process.env
  const options = { env: { ...env, COLUMNS, TERM: 'xterm-256color' }, encoding: 'utf8' } as const
  return execFileSync('script', ['-qec', line, '/dev/null'], options).replaceAll('\r', '')
}

/** coloured turns the escape sequences of a terminal into markup. */
function coloured(text: string): string {
  return text
    .replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
    .replace(/^\$ .*$/gm, '<b>$&</b>')
    .replace(/\u001b\[(3[123]|90)m/g, '<span class="s$1">')
    .replace(/\u001b\[39m/g, '</span>')
}
