// Starts sandboxes in a directory of their own and takes both away after the test.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/sandbox.ts'
import { SECRET } from './client.ts'

export async function sandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const directory = await mkdtemp(join(tmpdir(), 'feedsyncd-sandbox-'))
  const started = await startSandbox({
    directory,
    basePath: '/api',
    identity: {
      account: '123',
      partner: 'acme',
      partnerAccounts: ['42', '43'],
      secret: SECRET,
      apiKey: 'key-of-the-tests',
    },
    ...options,
  })
  onTestFinished(async () => {
    await started.close()
    await rm(directory, { recursive: true })
  })
  return started
}
