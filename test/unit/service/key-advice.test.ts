import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { keyAdvice, readKeyFile } from '../../../src/service/key-file.ts'
import { unprivileged } from '../../helpers/inbox/harness.ts'

const CREDENTIALS = { CREDENTIALS_DIRECTORY: '/run/credentials/feedsyncd.service' }

it('advice names the file that systemd copies and the restart that reads it; for other keys, the key file', () => {
  const key = '/run/credentials/feedsyncd.service/service-key'

  expect(keyAdvice(key, CREDENTIALS)).toBe(
    'write the right key to /etc/feedsyncd/service.key, then: systemctl restart feedsyncd',
  )
  expect(keyAdvice('/etc/other.key', CREDENTIALS)).toBe('check the key in /etc/other.key')
  expect(keyAdvice(key, {})).toBe(`check the key in ${key}`)
})

it('advice names the key of the instance, never the key of another account', () => {
  const folder = '/run/credentials/feedsyncd@a.service'

  expect(keyAdvice(`${folder}/service-key`, { CREDENTIALS_DIRECTORY: folder })).toBe(
    'write the right key to /etc/feedsyncd/a/service.key, then: systemctl restart feedsyncd@a',
  )
})

it('advice about a missing key is to put it there, about an unreadable key to change its owner, never its mode', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'key-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const key = join(folder, 'service.key')
  const read = async () => readKeyFile(key, { dropNewline: true })

  await expect(read()).rejects.toMatchObject({
    message: expect.stringContaining('ENOENT'),
    hint: expect.stringMatching(/^put the key that (?!.*chmod)/),
  })
  writeFileSync(key, 'secret', { mode: 0o000 })
  await expect(unprivileged(read)).rejects.toMatchObject({
    message: expect.stringContaining('EACCES'),
    hint: expect.stringMatching(/^make the user that runs feedsyncd its owner(?!.*chmod)/),
  })
})
