import { expect, it } from 'vitest'
import { KnownPaths } from '../../../src/history/known-paths.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { temporaryHistory, versionIn } from '../../helpers/history/temporary.ts'

const path = 'acme.xml'
const identity = { dev: '1', ino: '2', size: 3, mtimeNs: '4', ctimeNs: '5' }

function oneFile() {
  const { history } = temporaryHistory()
  history.rememberPath({ path, identity, versionId: versionIn(history, 'uploaded').id })
  return { history, known: new KnownPaths(history, systemClock) }
}

it('a file that is put back and found by a listing in one commit keeps its new identity, and is no longer missing', async () => {
  const { history, known } = oneFile()
  const returned = { ...identity, ctimeNs: '6' }
  for (const step of known.stepsAfter(() => false)) step()

  const back = known.stepsAfter(() => true)
  await history.commit(() => {
    known.returned(path, identity, returned)
    for (const step of back) step()
  })

  expect(known.at(path)).toMatchObject({ identity: returned, missingSince: null })
  expect(history.knownFiles()).toMatchObject([{ identity: returned, missingSince: null }])
})

it('a file that is moved away and missed by a listing in one commit is forgotten', async () => {
  const { history, known } = oneFile()

  const left = known.stepsAfter(() => false)
  await history.commit(() => {
    known.moved(path, identity, 'archive')
    for (const step of left) step()
  })

  expect(known.at(path)).toBeNull()
  expect(history.knownFiles()).toEqual([])
})
