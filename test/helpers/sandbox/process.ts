// Starts `feedsyncd sandbox`, in this process or in another one that a test can kill, and calls it as a vendor would.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { Command } from '../command.ts'
import { eventually } from '../eventually.ts'
import { MAIN } from '../site.ts'
import { answerOf, call } from './vendor.ts'

/** sandboxFolder returns an empty directory, which is removed after the test. */
export function sandboxFolder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'feedsyncd-sandbox-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

/** sandboxCommand starts `feedsyncd sandbox` in this process, and returns it and the facts that it printed. */
export async function sandboxCommand(directory: string, ...args: string[]) {
  const command = new Command(['sandbox', '--json', '--dir', directory, ...args])
  onTestFinished(async () => void (await command.stop()))
  const facts = await eventually(() => JSON.parse(command.output))
  return { command, facts }
}

/** sandboxProcess starts a sandbox, and returns functions that call its service and its control routes. */
export async function sandboxProcess(directory: string) {
  const child = spawn(process.execPath, [MAIN, 'sandbox', '--json', '--dir', directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(createInterface(child.stdout), 'line')
  const printed = JSON.parse(line)
  const who = { 'X-SVC-Account': printed.account }
  const secret = readFileSync(printed.keyFile, 'utf8').trimEnd()
  const ask = (method: string, path: string, json?: object) =>
    call(printed.url, method, path, json, { who, secret })
  const control = async <Json>(what: string) =>
    answerOf<Json>(await fetch(`${new URL(printed.url).origin}/_sandbox/${what}`))
  return { child, printed, ask, control }
}

/** killed kills a process and resolves when it has ended. */
export async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}
