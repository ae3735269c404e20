import { describe, expect, it } from 'vitest'
import { entry, fileOf } from '../reconciling.ts'
import { opened } from '../world.ts'

const FILE = fileOf(entry('A'))
const DEAR = fileOf(entry('A').replace('100.00', '5000.00'), entry('B'))

describe('the first plan of a database', () => {
  it('an approved plan of an older file is over, and lets the daemon create nothing', async () => {
    const { world, host } = opened(FILE)
    const approved = await host.plan()
    host.file = DEAR

    const results = await host.apply({ approved })
    await host.daemon()

    expect(results).toMatchObject([{ key: 'A', outcome: 'stale' }])
    expect(host.store.account()?.approvedAt ?? null).toBeNull()
    expect(world.all).toEqual([])
  })

  it('an approved plan of this file lets the daemon go on', async () => {
    const { world, host } = opened(FILE)
    await host.apply({ approved: await host.plan() })
    host.file = fileOf(entry('A'), entry('B'))

    await host.daemon()

    expect(world.all).toHaveLength(2)
  })
})
