// A condition of the daemon as tests of what shows it need one.

import type { Condition } from '../../src/lib/conditions.ts'

export function conditionOf(message: string, over: Partial<Condition> = {}): Condition {
  return { ...{ code: 'state-full', severity: 'critical', hint: null, since: 0 }, message, ...over }
}
