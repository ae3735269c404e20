// Conditions of the daemon, for the tests of the parts that show them.

import type { Condition } from '../../src/domain/conditions.ts'

export function conditionOf(message: string, over: Partial<Condition> = {}): Condition {
  return { ...{ code: 'state-full', hint: null, since: 0, mark: null }, message, ...over }
}
