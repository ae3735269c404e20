import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { feedOf, Site } from '../../helpers/site.ts'

describe('a sparse file of 1 TB', () => {
  it('is incomplete because of its NUL bytes, and is not read to its end', async () => {
    await using site = await Site.open()
    const file = join(site.root, 'sparse.xml')
    writeFileSync(file, feedOf(2))
    truncateSync(file, 2 ** 40)

    const { code, stdout } = await site.run('check', '--json', file)

    expect(code).toBe(3)
    expect(JSON.parse(stdout).files).toMatchObject([
      {
        ...{ verdict: 'incomplete', sha256: null, bytes: 2 ** 40 },
        reason: expect.stringContaining('NUL bytes'),
      },
    ])
  })
})
