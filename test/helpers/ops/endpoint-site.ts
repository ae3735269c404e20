// A host whose daemon has an endpoint. The system chooses its port, and the log names it.

import type { ChildProcess } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { Site } from '../site.ts'

export async function openWithEndpoint(): Promise<{
  site: Site
  url: string
  child: ChildProcess
}> {
  const site = await Site.open({ http: { listen: '127.0.0.1:0' } })
  onTestFinished(() => site[Symbol.asyncDispose]())
  const child = site.spawn('run')
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stdout?.on('data', (text) => {
      said += text
      const [, address] = /"address":"(http:[^"]+)"/.exec(said) ?? []
      if (address !== undefined) resolve(address)
    })
    child.stderr?.on('data', (text) => {
      said += text
    })
    child.once('close', () => reject(new Error(said)))
  })
  return { site, url, child }
}
