// Starts a sandbox in a directory of its own, and removes both after the test.

import { rm } from 'node:fs/promises'
import { onTestFinished } from 'vitest'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/sandbox.ts'
import { memoryFolder } from '../memory-folder.ts'
import { SECRET } from './client.ts'

export async function sandbox(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const directory = memoryFolder('feedsyncd-sandbox-')
  const started = await startSandbox({
    directory,
    basePath: '/api',
    callers: [
      {
        ...{ account: '123', partner: 'acme', partnerAccounts: ['42', '43'] },
        ...{ secret: SECRET, apiKey: 'key-of-the-tests' },
      },
    ],
    ...options,
  })
  onTestFinished(async () => {
    await started.close()
    await rm(directory, { recursive: true })
  })
  return started
}
