// Switches off each rule without which a prototype made twins or spent more, and shows that the random
// histories find it out: a model that misses a broken rule proves nothing. The switches are in this file alone.

import { expect, it } from 'vitest'
import { canonical } from '../../../src/campaigns/targeting.ts'
import { HOUR } from '../../../src/lib/clock.ts'
import { explore, type Mutation } from '../../helpers/campaigns/model.ts'

const SEED = Number(process.env.FEEDSYNCD_SEED ?? 20_261_122)
const HISTORIES = 4000

it.each<[string, RegExp, Mutation]>([
  [
    'nothing is created within an hour of a create whose end is unknown',
    /is made again beside/,
    {
      store: (store) => ({
        ...store,
        openCreates: () => store.openCreates().map((one) => ({ ...one, at: one.at - 2 * HOUR })),
      }),
    },
  ],
  [
    'a restored database creates nothing for an hour',
    /is made again beside/,
    { store: (store) => ({ ...store, restoredAt: () => null }) },
  ],
  [
    'the first targeting of a binding is a person’s',
    /the daemon sends the first targeting/,
    {
      sync: (parts) => ({
        ...parts,
        store: {
          ...parts.store,
          binding: (key) => {
            const found = parts.store.binding(key)
            const targeting = found?.sent.targeting ?? canonical({})
            return found && { ...found, sent: { ...found.sent, targeting } }
          },
        },
      }),
    },
  ],
  [
    'a campaign of which more than targeting differs is left whole to apply',
    /differs from the file/,
    { entries: (entries) => entries.map((entry) => ({ ...entry, values: {} })) },
  ],
  [
    'a targeting without a clear end is sent once more after an hour',
    /is in line, and its targeting is/,
    {
      store: (store) => ({
        ...store,
        save: (binding) => store.save({ ...binding, repeatAt: null }),
      }),
    },
  ],
])('the random histories miss the rule that %s', async (_, promise, mutation) => {
  const broken = await explore(HISTORIES, SEED, mutation).then(
    () => null,
    (error: Error) => error,
  )

  expect(String(broken?.cause)).toMatch(promise)
})
