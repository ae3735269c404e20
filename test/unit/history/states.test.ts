import { describe, expect, it } from 'vitest'
import {
  assertAllowed,
  CLOSED,
  FIRST_STATES,
  NEXT_STATES,
  OPEN,
  STATES,
  type State,
} from '../../../src/domain/states.ts'

/** reachable returns all states that can be reached from `start`, including `start`. */
function reachable(start: readonly State[], without: readonly State[] = []): Set<State> {
  const found = new Set(start.filter((state) => !without.includes(state)))
  for (const state of found) {
    for (const next of NEXT_STATES[state]) if (!without.includes(next)) found.add(next)
  }
  return found
}

describe('the steps between states', () => {
  it('are these and no others', () => {
    const table = STATES.map((from) => `${from} -> ${NEXT_STATES[from].join(', ') || '(final)'}`)

    expect([`(new) -> ${FIRST_STATES.join(', ')}`, ...table]).toEqual([
      '(new) -> settling, queued',
      'settling -> checking, gone',
      'incomplete -> settling, checking, gone',
      'checking -> settling, incomplete, rejected, held, queued, failed, superseded, gone',
      'rejected -> gone, discarded',
      'held -> queued, superseded, discarded, failed',
      'queued -> uploading, held, superseded, discarded, failed',
      'uploading -> uploaded, queued, failed',
      'uploaded -> (final)',
      'superseded -> (final)',
      'failed -> settling, queued, superseded, discarded',
      'discarded -> (final)',
      'gone -> settling',
    ])
  })

  it('reach every state from the first ones', () => {
    expect([...reachable(FIRST_STATES)].sort()).toEqual([...STATES].sort())
  })

  it('lead from every open state to a closed one, so that no version is stuck', () => {
    for (const state of OPEN) {
      const ends = [...reachable([state])].filter((end) => CLOSED.includes(end))

      expect(ends, state).not.toEqual([])
    }
  })

  it('reach uploaded only through uploading, and uploading only through queued', () => {
    expect(reachable(STATES, ['uploading', 'uploaded'])).not.toContain('uploaded')
    expect(STATES.filter((from) => NEXT_STATES[from].includes('uploaded'))).toEqual(['uploading'])
    expect(STATES.filter((from) => NEXT_STATES[from].includes('uploading'))).toEqual(['queued'])
  })

  it('never queue a version that was not checked, except a restored one', () => {
    const unchecked = reachable(['settling'], ['checking'])

    expect(unchecked).not.toContain('queued')
  })

  it('let a failed or gone version settle again only while its content is unknown', () => {
    for (const from of ['failed', 'gone'] as const) {
      expect(() => assertAllowed({ id: 1, from, to: 'settling', hashed: false })).not.toThrow()
      expect(() => assertAllowed({ id: 1, from, to: 'settling', hashed: true })).toThrow(
        'new bytes are a new version',
      )
    }
  })

  it('never lead from a state to itself', () => {
    expect(STATES.filter((state) => NEXT_STATES[state].includes(state))).toEqual([])
  })

  const impossible = STATES.flatMap((from) =>
    STATES.filter((to) => !NEXT_STATES[from].includes(to)).map((to) => [from, to] as const),
  )
  it.each(impossible)('refuse %s -> %s and name both states', (from, to) => {
    expect(() => assertAllowed({ id: 7, from, to, hashed: false })).toThrow(
      `version 7: a version that is ${from} cannot become ${to}`,
    )
  })
})
