// Switches off one rule after another, and shows that the random histories notice it. Without each of these rules, a
// prototype created a second campaign or spent more. A model that misses a broken rule proves nothing.

import { expect, it } from 'vitest'
import { canonical } from '../../../src/campaigns/targeting.ts'
import { HOUR } from '../../../src/lib/clock.ts'
import { explore, type Mutation } from '../../helpers/campaigns/model.ts'

const SEED = Number(process.env.FEEDSYNCD_SEED ?? 20_261_122)
const HISTORIES = 4000

it.each<[string, RegExp, Mutation]>([
  [
    'nothing is created within an hour after a create whose result is unknown',
    /is created again beside/,
    {
      store: (store) => ({
        ...store,
        openCreates: () => store.openCreates().map((one) => ({ ...one, at: one.at - 2 * HOUR })),
      }),
    },
  ],
  [
    'a restored database creates nothing for an hour',
    /is created again beside/,
    { store: (store) => ({ ...store, restoredAt: () => null }) },
  ],
  [
    'a person applies the first targeting of a binding',
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
    'the daemon sends nothing to a campaign if another field than the targeting differs',
    /differs from the file/,
    { entries: (entries) => entries.map((entry) => ({ ...entry, values: {} })) },
  ],
  [
    'a targeting without a known result is sent once more after an hour',
    /is in line, and its targeting is/,
    {
      store: (store) => ({
        ...store,
        save: (binding) => store.save({ ...binding, repeatAt: null }),
      }),
    },
  ],
])('the random histories fail without the rule that %s', async (_, promise, mutation) => {
  const broken = await explore(HISTORIES, SEED, mutation).then(
    () => null,
    (error: Error) => error,
  )

  expect(String(broken?.cause)).toMatch(promise)
})
