import { chmod, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { createFormSource } from '../../../src/service/form-source.ts'
import { PATH, sendForm, service, signed } from '../../helpers/service/form-service.ts'

describe('the key file', () => {
  const problem = async (change: (keyFile: string) => Promise<unknown>) => {
    const { options, keyFile } = await service(sendForm)
    await change(keyFile)
    try {
      createFormSource(options)
    } catch (error) {
      return error
    }
    return null
  }

  it.each([
    ['is missing', (file: string) => rm(file), 'does not exist (ENOENT)'],
    ['is empty', (file: string) => writeFile(file, ''), 'is empty'],
    ['holds a newline alone', (file: string) => writeFile(file, '\n'), 'is empty'],
    ['is too long', (file: string) => writeFile(file, 'x'.repeat(70_000)), 'is larger than 64 KiB'],
  ])('that %s is a configuration error with a way out', async (_, change, message) => {
    expect(await problem(change)).toMatchObject({
      ...{ name: 'FeedsyncError', exitCode: 78, hint: expect.stringContaining('keyFile') },
      message: expect.stringContaining(message),
    })
  })

  it('is reported as a folder if it is one', async () => {
    const { options } = await service(sendForm)
    const auth = { ...options.auth, keyFile: tmpdir() }

    expect(() => createFormSource({ ...options, auth })).toThrow('is a directory (EISDIR)')
  })

  it('loses one newline at its end and no other byte', async () => {
    const { ask, seen, keyFile, forms } = await service(sendForm)
    await writeFile(keyFile, ' key \n\r\n')
    await chmod(keyFile, 0o600)

    forms.reloadKey()
    await ask()

    const date = seen[0]?.headers['x-svc-date']
    expect(seen[0]?.headers['x-svc-signature']).toBe(signed(`POST${PATH}?;;${date}`, ' key \n'))
  })

  it('stays in use unchanged if it is missing at a reload, which fails', async () => {
    const { ask, seen, keyFile, forms } = await service(sendForm)
    await rm(keyFile)

    expect(() => forms.reloadKey()).toThrow('does not exist')
    await ask()

    const date = seen[0]?.headers['x-svc-date']
    expect(seen[0]?.headers['x-svc-signature']).toBe(signed(`POST${PATH}?;;${date}`))
  })
})
