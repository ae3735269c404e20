import { describe, expect, it } from 'vitest'
import { type ConditionChange, Conditions } from '../../../src/domain/conditions.ts'

function conditionsAt() {
  const time = { now: 1000, monotonic: 0 }
  const conditions = new Conditions({ now: () => time.now, monotonic: () => time.monotonic })
  const changes: ConditionChange[] = []
  conditions.onChange((change) => changes.push(change))
  const pass = (ms: number) => {
    time.now += ms
    time.monotonic += ms
  }
  return { conditions, changes, pass }
}

describe('conditions of the daemon', () => {
  it('announces a condition once, however often it is set, and keeps its first time', () => {
    const { conditions, changes, pass } = conditionsAt()
    conditions.set('state-full', { message: 'the disk is full', hint: 'make room' })
    pass(10)
    conditions.set('state-full', { message: 'the disk is full', hint: 'make room' })
    expect(changes.map(({ kind }) => kind)).toEqual(['set'])
    expect(conditions.current()).toEqual([
      {
        ...{ code: 'state-full', message: 'the disk is full' },
        ...{ hint: 'make room', since: 1000, mark: null },
      },
    ])
  })

  it('announces a condition again when its words change, and keeps its first time', () => {
    const { conditions, changes, pass } = conditionsAt()
    conditions.set('alerts-failing', { message: 'line 3' })
    pass(10)
    conditions.set('alerts-failing', { message: 'line 4' })
    expect(changes.map(({ kind }) => kind)).toEqual(['set', 'set'])
    expect(conditions.current()).toMatchObject([{ message: 'line 4', since: 1000 }])
  })

  it('announces a condition again when its mark changes, and shows the new mark', () => {
    const { conditions, changes } = conditionsAt()
    conditions.set('account-refused', { message: 'rejected', mark: '["a"]' })
    conditions.set('account-refused', { message: 'rejected', mark: '["a","b"]' })
    expect(changes.map(({ kind }) => kind)).toEqual(['set', 'set'])
    expect(conditions.current()).toMatchObject([{ mark: '["a","b"]' }])
  })

  it('announces the end of a condition once, and lists the condition no longer', () => {
    const { conditions, changes } = conditionsAt()
    conditions.set('credentials', { message: 'the service rejected the key' })
    conditions.clear('credentials')
    conditions.clear('credentials')
    expect(changes.map(({ kind }) => kind)).toEqual(['set', 'cleared'])
    expect(conditions.current()).toEqual([])
  })

  it('ends a condition whose time has passed since it was last set, and none without a time', () => {
    const { conditions, pass } = conditionsAt()
    const message = 'the disk is full'
    conditions.set('state-full', { message }, 15)
    conditions.set('inbox-missing', { message: 'no folder' })
    pass(10)
    conditions.set('state-full', { message }, 15)
    pass(10)
    conditions.expire()
    expect(conditions.has('state-full')).toBe(true)
    pass(5)
    conditions.expire()
    expect(conditions.current().map(({ code }) => code)).toEqual(['inbox-missing'])
  })

  it('lists the oldest condition first', () => {
    const { conditions, pass } = conditionsAt()
    conditions.set('alerts-failing', { message: 'a' })
    pass(1)
    conditions.set('state-full', { message: 'b' })
    pass(1)
    conditions.set('inbox-missing', { message: 'c' })
    expect(conditions.current().map(({ code }) => code)).toEqual([
      'alerts-failing',
      'state-full',
      'inbox-missing',
    ])
  })
})
