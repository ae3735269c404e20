// What a file held for another feed, which a rule gave it for a while.

import { expect, it } from 'vitest'
import { Ledger } from '../../../src/history/ledger.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/silent-log.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

it('does not wait any more once the file has bytes again that had failed for its own feed', () => {
  const { history } = temporaryHistory()
  const identity = { dev: '1', ino: '2', size: 3, mtimeNs: '4', ctimeNs: '5' }
  const failed = versionIn(history, 'failed', { feed: 'one', path: 'stays.xml' })
  const other = versionIn(history, 'queued', { feed: 'two', path: 'moved.xml' })
  history.know({ path: 'stays.xml', identity, versionId: failed.id })
  history.know({ path: 'moved.xml', identity, versionId: other.id })
  const ledger = new Ledger({ history, clock: systemClock, log: silentLog, onMove: () => {} })
  const rule = { feed: 'one', account: null }

  ledger.seen({ path: 'moved.xml', identity: { ...identity, mtimeNs: '6' }, rule }, failed)

  const states = [failed, other].map(({ id }) => history.version(id)?.state)
  expect(states).toEqual(['queued', 'superseded'])
})
